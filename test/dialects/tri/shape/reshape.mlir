// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @reshape
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.reshape"(%[[X]]) {shape = array<i64: 3, 1, 4>}
// CHECK-SAME:      : (tensor<2x6xf32>) -> tensor<3x1x4xf32>
func.func @reshape(%x: tensor<2x6xf32>) -> tensor<3x1x4xf32> {
  %0 = "tri.reshape"(%x) {shape = array<i64: 3, 1, 4>} : (tensor<2x6xf32>) -> tensor<3x1x4xf32>
  return %0 : tensor<3x1x4xf32>
}

// CHECK-LABEL: func.func @transpose
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.transpose"(%[[X]]) {permutation = array<i64: 2, 0, 1>}
// CHECK-SAME:      : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
func.func @transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = "tri.transpose"(%x) {permutation = array<i64: 2, 0, 1>}
      : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}

// Every second element, and the last two backwards.
// CHECK-LABEL: func.func @slice
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.slice"(%[[X]]) {sizes = array<i64: 3, 2>, starts = array<i64: 0, 3>, steps = array<i64: 2, -1>}
// CHECK-SAME:      : (tensor<5x4xf32>) -> tensor<3x2xf32>
func.func @slice(%x: tensor<5x4xf32>) -> tensor<3x2xf32> {
  %0 = "tri.slice"(%x) {sizes = array<i64: 3, 2>, starts = array<i64: 0, 3>, steps = array<i64: 2, -1>}
      : (tensor<5x4xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @concat
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}}, %[[C:.*]]: {{.*}})
// CHECK:         "tri.concat"(%[[A]], %[[B]], %[[C]]) {axis = 1 : i64}
// CHECK-SAME:      : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
func.func @concat(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>, %c: tensor<2x4xf32>) -> tensor<2x8xf32> {
  %0 = "tri.concat"(%a, %b, %c) {axis = 1 : i64}
      : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @concat_of_one
// CHECK-SAME:    (%[[A:.*]]: {{.*}})
// CHECK:         "tri.concat"(%[[A]]) {axis = 0 : i64}
// CHECK-SAME:      : (tensor<2xf32>) -> tensor<2xf32>
func.func @concat_of_one(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tri.concat"(%a) {axis = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @split
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.split"(%[[X]]) {axis = -1 : i64, sizes = array<i64: 1, 4>}
// CHECK-SAME:      : (tensor<2x5xf32>) -> (tensor<2x1xf32>, tensor<2x4xf32>)
func.func @split(%x: tensor<2x5xf32>) -> (tensor<2x1xf32>, tensor<2x4xf32>) {
  %0:2 = "tri.split"(%x) {axis = -1 : i64, sizes = array<i64: 1, 4>}
      : (tensor<2x5xf32>) -> (tensor<2x1xf32>, tensor<2x4xf32>)
  return %0#0, %0#1 : tensor<2x1xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @expand
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.expand"(%[[X]]) {shape = array<i64: 2, 3, 4>}
// CHECK-SAME:      : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
func.func @expand(%x: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %0 = "tri.expand"(%x) {shape = array<i64: 2, 3, 4>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @tile
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.tile"(%[[X]]) {repeats = array<i64: 2, 3>}
// CHECK-SAME:      : (tensor<2x3xf32>) -> tensor<4x9xf32>
func.func @tile(%x: tensor<2x3xf32>) -> tensor<4x9xf32> {
  %0 = "tri.tile"(%x) {repeats = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}

// CHECK-LABEL: func.func @trilu
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.trilu"(%[[X]]) {k = -1 : i64, upper = false}
// CHECK-SAME:      : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
func.func @trilu(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "tri.trilu"(%x) {k = -1 : i64, upper = false} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @upper_triangle
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.trilu"(%[[X]])
// CHECK-SAME:      : (tensor<3x4xi64>) -> tensor<3x4xi64>
func.func @upper_triangle(%x: tensor<3x4xi64>) -> tensor<3x4xi64> {
  %0 = "tri.trilu"(%x) : (tensor<3x4xi64>) -> tensor<3x4xi64>
  return %0 : tensor<3x4xi64>
}

// Between kernels, a tensor may lie in memory in another order than row-major: channels are last
// here, and after the transposition they are the last axis, too.
// CHECK-LABEL: func.func @orders
// CHECK:         "tri.transpose"(%{{.*}}) {{.*}} : (tensor<1x8x3x5xf32, [0, 2, 3, 1]>) -> tensor<1x3x5x8xf32>
func.func @orders(%x: tensor<1x8x3x5xf32, [0, 2, 3, 1]>) -> tensor<1x3x5x8xf32> {
  %0 = "tri.transpose"(%x) {permutation = array<i64: 0, 2, 3, 1>}
      : (tensor<1x8x3x5xf32, [0, 2, 3, 1]>) -> tensor<1x3x5x8xf32>
  return %0 : tensor<1x3x5x8xf32>
}
