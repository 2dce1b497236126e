// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @dft
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.dft"(%[[X]]) {axis = 1 : i64, length = 8 : i64}
// CHECK-SAME:      : (tensor<1x8x2xf32>) -> tensor<1x8x2xf32>
func.func @dft(%x: tensor<1x8x2xf32>) -> tensor<1x8x2xf32> {
  %0 = "tri.dft"(%x) {axis = 1 : i64, length = 8 : i64}
      : (tensor<1x8x2xf32>) -> tensor<1x8x2xf32>
  return %0 : tensor<1x8x2xf32>
}

// Of a real signal, 16 / 2 + 1 numbers say everything.
// CHECK-LABEL: func.func @half_a_spectrum
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.dft"(%[[X]]) {axis = 1 : i64, length = 16 : i64, onesided = true}
// CHECK-SAME:      : (tensor<1x8x1xf32>) -> tensor<1x9x2xf32>
func.func @half_a_spectrum(%x: tensor<1x8x1xf32>) -> tensor<1x9x2xf32> {
  %0 = "tri.dft"(%x) {axis = 1 : i64, length = 16 : i64, onesided = true}
      : (tensor<1x8x1xf32>) -> tensor<1x9x2xf32>
  return %0 : tensor<1x9x2xf32>
}

// CHECK-LABEL: func.func @and_back
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.dft"(%[[X]]) {axis = -2 : i64, inverse = true, length = 16 : i64, onesided = true}
// CHECK-SAME:      : (tensor<1x9x2xf32>) -> tensor<1x16x1xf32>
func.func @and_back(%x: tensor<1x9x2xf32>) -> tensor<1x16x1xf32> {
  %0 = "tri.dft"(%x) {axis = -2 : i64, inverse = true, length = 16 : i64, onesided = true}
      : (tensor<1x9x2xf32>) -> tensor<1x16x1xf32>
  return %0 : tensor<1x16x1xf32>
}
