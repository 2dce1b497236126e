// RUN: trivium-opt %s | FileCheck %s

// Shapes broadcast, from the last axis on.
// CHECK-LABEL: func.func @of_floats
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.add"(%[[A]], %[[B]]) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK:         "tri.sub"(%[[A]], %[[B]]) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK:         "tri.mul"(%[[A]], %[[B]]) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK:         "tri.div"(%[[A]], %[[B]]) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK:         "tri.mod"(%[[A]], %[[B]]) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK:         "tri.pow"(%[[A]], %[[B]]) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK:         "tri.minimum"(%[[A]], %[[B]]) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK:         "tri.maximum"(%[[A]], %[[B]]) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
func.func @of_floats(%a: tensor<2x1x4xf32>, %b: tensor<3x1xf32>) {
  %0 = "tri.add"(%a, %b) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %1 = "tri.sub"(%a, %b) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %2 = "tri.mul"(%a, %b) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %3 = "tri.div"(%a, %b) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %4 = "tri.mod"(%a, %b) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %5 = "tri.pow"(%a, %b) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %6 = "tri.minimum"(%a, %b) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %7 = "tri.maximum"(%a, %b) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @of_floats_alone
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.atan2"(%[[A]], %[[B]]) : (tensor<2x1xf16>, tensor<3xf16>) -> tensor<2x3xf16>
func.func @of_floats_alone(%a: tensor<2x1xf16>, %b: tensor<3xf16>) {
  %0 = "tri.atan2"(%a, %b) : (tensor<2x1xf16>, tensor<3xf16>) -> tensor<2x3xf16>
  return
}

// Integers of all widths, signed or not.
// CHECK-LABEL: func.func @of_integers
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.add"(%[[A]], %[[B]]) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK:         "tri.sub"(%[[A]], %[[B]]) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK:         "tri.mul"(%[[A]], %[[B]]) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK:         "tri.div"(%[[A]], %[[B]]) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK:         "tri.mod"(%[[A]], %[[B]]) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK:         "tri.pow"(%[[A]], %[[B]]) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK:         "tri.minimum"(%[[A]], %[[B]]) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK:         "tri.maximum"(%[[A]], %[[B]]) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK:         "tri.bitwise_and"(%[[A]], %[[B]]) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK:         "tri.bitwise_or"(%[[A]], %[[B]]) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK:         "tri.bitwise_xor"(%[[A]], %[[B]]) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK:         "tri.shift_left"(%[[A]], %[[B]]) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK:         "tri.shift_right"(%[[A]], %[[B]]) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
func.func @of_integers(%a: tensor<4xui8>, %b: tensor<4xui8>) {
  %0 = "tri.add"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %1 = "tri.sub"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %2 = "tri.mul"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %3 = "tri.div"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %4 = "tri.mod"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %5 = "tri.pow"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %6 = "tri.minimum"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %7 = "tri.maximum"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %8 = "tri.bitwise_and"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %9 = "tri.bitwise_or"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %10 = "tri.bitwise_xor"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %11 = "tri.shift_left"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %12 = "tri.shift_right"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return
}

// The sign of the rest is the divisor's, or the dividend's.
// CHECK-LABEL: func.func @mod
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[A:.*]]: {{.*}})
// CHECK:         "tri.mod"(%[[X]], %[[A]]) {fmod = true}
// CHECK-SAME:      : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func @mod(%x: tensor<2xf32>, %a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tri.mod"(%x, %a) {fmod = true} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// An exponent may be of another type.
// CHECK-LABEL: func.func @integer_power
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.pow"(%[[A]], %[[B]])
// CHECK-SAME:      : (tensor<2xf32>, tensor<2xi64>) -> tensor<2xf32>
func.func @integer_power(%a: tensor<2xf32>, %b: tensor<2xi64>) -> tensor<2xf32> {
  %0 = "tri.pow"(%a, %b) : (tensor<2xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
