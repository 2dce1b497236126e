// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @rows_in_use
// CHECK-SAME:    (%[[Q:.*]]: {{.*}}, %[[K:.*]]: {{.*}}, %[[V:.*]]: {{.*}}, %[[STARTS:.*]]: {{.*}}, %{{.*}}: {{.*}})
// CHECK:         "tri.cached_attention"(%[[Q]], %[[K]], %[[V]], %[[STARTS]]) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rows = "T", scale = 5.000000e-01 : f64, window = 16 : i64}
// CHECK-SAME:      -> tensor<2x4x1x3xf32>
func.func @rows_in_use(%q: tensor<2x4x1x8xf32>, %k: tensor<2x2x64x8xf16>, %v: tensor<2x2x64x3xf16>, %starts: tensor<2xi64>, %used: tensor<?xi64, ["T"]>)
    -> tensor<2x4x1x3xf32> attributes {trivium.symbols = {T = "1..64"}} {
  %0 = "tri.cached_attention"(%q, %k, %v, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rows = "T", scale = 0.5, window = 16}
      : (tensor<2x4x1x8xf32>, tensor<2x2x64x8xf16>, tensor<2x2x64x3xf16>, tensor<2xi64>) -> tensor<2x4x1x3xf32>
  return %0 : tensor<2x4x1x3xf32>
}

// Rows of bytes have scales.
// CHECK-LABEL: func.func @bytes
// CHECK-SAME:    (%[[Q:.*]]: {{.*}}, %[[K:.*]]: {{.*}}, %[[STARTS:.*]]: {{.*}}, %[[SCALES:.*]]: {{.*}})
// CHECK:         "tri.cached_attention"(%[[Q]], %[[K]], %[[K]], %[[STARTS]], %[[SCALES]], %[[SCALES]]) {
func.func @bytes(%q: tensor<1x2x1x8xf32>, %k: tensor<1x2x4x8xi8>, %starts: tensor<1xi64>, %scales: tensor<1x2x4xf32>) -> tensor<1x2x1x8xf32> {
  %0 = "tri.cached_attention"(%q, %k, %k, %starts, %scales, %scales) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>, rows = 4, scale = 1.0}
      : (tensor<1x2x1x8xf32>, tensor<1x2x4x8xi8>, tensor<1x2x4x8xi8>, tensor<1xi64>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x1x8xf32>
  return %0 : tensor<1x2x1x8xf32>
}
