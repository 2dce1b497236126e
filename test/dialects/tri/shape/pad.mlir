// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @pad
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.pad"(%[[X]]) {pads = array<i64: 0, 2, 1, 3>}
// CHECK-SAME:      : (tensor<2x4xf32>) -> tensor<3x9xf32>
func.func @pad(%x: tensor<2x4xf32>) -> tensor<3x9xf32> {
  %0 = "tri.pad"(%x) {pads = array<i64: 0, 2, 1, 3>} : (tensor<2x4xf32>) -> tensor<3x9xf32>
  return %0 : tensor<3x9xf32>
}

// Negative pads cut off.
// CHECK-LABEL: func.func @shifts
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.pad"(%[[X]]) {pads = array<i64: -1, 1>, value = 2.000000e+00 : f64}
// CHECK-SAME:      : (tensor<4xf32>) -> tensor<4xf32>
func.func @shifts(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tri.pad"(%x) {pads = array<i64: -1, 1>, value = 2.000000e+00 : f64}
      : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @reflect
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.pad"(%[[X]]) {mode = "reflect", pads = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<4xf32>) -> tensor<6xf32>
func.func @reflect(%x: tensor<4xf32>) -> tensor<6xf32> {
  %0 = "tri.pad"(%x) {mode = "reflect", pads = array<i64: 1, 1>}
      : (tensor<4xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK-LABEL: func.func @edge
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.pad"(%[[X]]) {mode = "edge", pads = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<4xf32>) -> tensor<6xf32>
func.func @edge(%x: tensor<4xf32>) -> tensor<6xf32> {
  %0 = "tri.pad"(%x) {mode = "edge", pads = array<i64: 1, 1>} : (tensor<4xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK-LABEL: func.func @wrap
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.pad"(%[[X]]) {mode = "wrap", pads = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<4xf32>) -> tensor<6xf32>
func.func @wrap(%x: tensor<4xf32>) -> tensor<6xf32> {
  %0 = "tri.pad"(%x) {mode = "wrap", pads = array<i64: 1, 1>} : (tensor<4xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
