// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @attention
// CHECK-SAME:    (%[[Q:.*]]: {{.*}}, %[[K:.*]]: {{.*}}, %[[V:.*]]: {{.*}})
// CHECK:         "tri.attention"(%[[Q]], %[[K]], %[[V]]) {scale = 1.250000e-01 : f64}
// CHECK-SAME:      : (tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x3xf32>) -> tensor<2x4x5x3xf32>
func.func @attention(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x3xf32>) -> tensor<2x4x5x3xf32> {
  %0 = "tri.attention"(%q, %k, %v) {scale = 1.250000e-01 : f64}
      : (tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x3xf32>) -> tensor<2x4x5x3xf32>
  return %0 : tensor<2x4x5x3xf32>
}

// Two query heads share a key head; the mask broadcasts to queries and keys.
// CHECK-LABEL: func.func @grouped_and_masked
// CHECK-SAME:    (%[[Q:.*]]: {{.*}}, %[[K:.*]]: {{.*}}, %[[V:.*]]: {{.*}}, %[[MASK:.*]]: {{.*}})
// CHECK:         "tri.attention"(%[[Q]], %[[K]], %[[V]], %[[MASK]]) {causal = true, scale = 1.250000e-01 : f64}
// CHECK-SAME:      : (tensor<2x4x5x8xf16>, tensor<2x2x6x8xf16>, tensor<2x2x6x3xf16>, tensor<5x6xi1>) -> tensor<2x4x5x3xf16>
func.func @grouped_and_masked(%q: tensor<2x4x5x8xf16>, %k: tensor<2x2x6x8xf16>, %v: tensor<2x2x6x3xf16>, %mask: tensor<5x6xi1>) -> tensor<2x4x5x3xf16> {
  %0 = "tri.attention"(%q, %k, %v, %mask) {causal = true, scale = 1.250000e-01 : f64}
      : (tensor<2x4x5x8xf16>, tensor<2x2x6x8xf16>, tensor<2x2x6x3xf16>, tensor<5x6xi1>) -> tensor<2x4x5x3xf16>
  return %0 : tensor<2x4x5x3xf16>
}

// Masks change scores one after another; the first puts a number where it is false, and f16 may
// have masks of f32.
// CHECK-LABEL: func.func @masked_twice
// CHECK-SAME:    %[[KEPT:[^ ]*]]: tensor<5x6xi1>, %[[ADDED:[^ ]*]]: tensor<5x6xf32>)
// CHECK:         "tri.attention"(%{{.*}}, %{{.*}}, %{{.*}}, %[[KEPT]], %[[ADDED]]) {fills = array<f64: -1.000000e+09>, scale
func.func @masked_twice(%q: tensor<2x4x5x8xf16>, %k: tensor<2x2x6x8xf16>, %v: tensor<2x2x6x3xf16>, %kept: tensor<5x6xi1>, %added: tensor<5x6xf32>) -> tensor<2x4x5x3xf16> {
  %0 = "tri.attention"(%q, %k, %v, %kept, %added) {fills = array<f64: -1.0e9>, scale = 1.250000e-01 : f64}
      : (tensor<2x4x5x8xf16>, tensor<2x2x6x8xf16>, tensor<2x2x6x3xf16>, tensor<5x6xi1>, tensor<5x6xf32>) -> tensor<2x4x5x3xf16>
  return %0 : tensor<2x4x5x3xf16>
}
