// RUN: trivium-opt %s | FileCheck %s

// Condition and values broadcast together.
// CHECK-LABEL: func.func @where
// CHECK-SAME:    (%[[CONDITION:.*]]: {{.*}}, %[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.where"(%[[CONDITION]], %[[A]], %[[B]])
// CHECK-SAME:      : (tensor<3x1xi1>, tensor<4xf32>, tensor<f32>) -> tensor<3x4xf32>
func.func @where(%condition: tensor<3x1xi1>, %a: tensor<4xf32>, %b: tensor<f32>) -> tensor<3x4xf32> {
  %0 = "tri.where"(%condition, %a, %b) : (tensor<3x1xi1>, tensor<4xf32>, tensor<f32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @cast
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.cast"(%[[X]]) {to = "i8"}
// CHECK-SAME:      : (tensor<2xf32>) -> tensor<2xi8>
func.func @cast(%x: tensor<2xf32>) -> tensor<2xi8> {
  %0 = "tri.cast"(%x) {to = "i8"} : (tensor<2xf32>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}

// CHECK-LABEL: func.func @cast_without_saturation
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.cast"(%[[X]]) {saturate = false, to = "bf16"}
// CHECK-SAME:      : (tensor<2xi64>) -> tensor<2xbf16>
func.func @cast_without_saturation(%x: tensor<2xi64>) -> tensor<2xbf16> {
  %0 = "tri.cast"(%x) {saturate = false, to = "bf16"} : (tensor<2xi64>) -> tensor<2xbf16>
  return %0 : tensor<2xbf16>
}

// Bits stay, whatever they mean.
// CHECK-LABEL: func.func @bit_cast
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.bit_cast"(%[[X]]) {to = "ui32"}
// CHECK-SAME:      : (tensor<2xf32>) -> tensor<2xui32>
func.func @bit_cast(%x: tensor<2xf32>) -> tensor<2xui32> {
  %0 = "tri.bit_cast"(%x) {to = "ui32"} : (tensor<2xf32>) -> tensor<2xui32>
  return %0 : tensor<2xui32>
}
