// RUN: trivium-opt %s --split-input-file --lower-to-tile | FileCheck %s

// Rows are neighbours in the operand, columns in the result.
// CHECK-LABEL: func.func @transposes_by_rectangles
// CHECK:         %[[ROW:.*]] = "tile.expand"({{.*}}) {axis = 1 : i64}
// CHECK:         %[[COLUMN:.*]] = "tile.expand"({{.*}}) {axis = 0 : i64}
// CHECK:         %[[X:.*]] = "tile.view"({{.*}}) {shape = array<i64: 2, 784, 64>, strides = array<i64: 50176, 1, 784>}
// CHECK-NEXT:    "tile.load"(%[[X]], %{{.*}}, %[[ROW]], %[[COLUMN]])
// CHECK-NEXT:    %[[Y:.*]] = "tile.view"({{.*}}) {shape = array<i64: 2, 784, 64>, strides = array<i64: 50176, 64, 1>}
// CHECK-NEXT:    "tile.store"(%{{.*}}, %[[Y]], %{{.*}}, %[[ROW]], %[[COLUMN]])
// CHECK:         grid = ["2", "784/BM", "64/BN"]
func.func @transposes_by_rectangles(%x: tensor<2x64x28x28xf32>) -> tensor<2x28x28x64xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<2x64x28x28xf32>):
    %r = "tri.transpose"(%xi) {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x64x28x28xf32>) -> tensor<2x28x28x64xf32>
    "tri.yield"(%r) : (tensor<2x28x28x64xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x64x28x28xf32>) -> tensor<2x28x28x64xf32>
  return %y : tensor<2x28x28x64xf32>
}

// -----

// The last dim stays the last: a program takes elements in a row.
// CHECK-LABEL: func.func @keeps_neighbours_in_a_row
// CHECK:         grid = ["43008/BLOCK"]
func.func @keeps_neighbours_in_a_row(%x: tensor<2x12x28x64xf32>) -> tensor<2x28x12x64xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<2x12x28x64xf32>):
    %r = "tri.transpose"(%xi) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x12x28x64xf32>) -> tensor<2x28x12x64xf32>
    "tri.yield"(%r) : (tensor<2x28x12x64xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x12x28x64xf32>) -> tensor<2x28x12x64xf32>
  return %y : tensor<2x28x12x64xf32>
}

// -----

// Dims that are taken whole are walked as one with the one that is cut: 16 * 784 elements are
// left out.
// CHECK-LABEL: func.func @slices_channels
// CHECK:         %[[FIRST:.*]] = "tile.full"() {shape = [], value = dense<12544> : tensor<i32>}
// CHECK:         %[[PLACE:.*]] = "tile.binary"(%{{.*}}, %[[FIRST]]) {function = "add"}
// CHECK:         %[[X:.*]] = "tile.view"({{.*}}) {shape = array<i64: 2, 50176>, strides = array<i64: 50176, 1>}
// CHECK-NEXT:    "tile.load"(%[[X]], %{{.*}}, %[[PLACE]])
func.func @slices_channels(%x: tensor<2x64x28x28xf32>) -> tensor<2x32x28x28xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<2x64x28x28xf32>):
    %r = "tri.slice"(%xi) {starts = array<i64: 0, 16, 0, 0>, sizes = array<i64: 2, 32, 28, 28>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x64x28x28xf32>) -> tensor<2x32x28x28xf32>
    "tri.yield"(%r) : (tensor<2x32x28x28xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x64x28x28xf32>) -> tensor<2x32x28x28xf32>
  return %y : tensor<2x32x28x28xf32>
}

// -----

// Every other row, from the last one on: rows are no longer neighbours.
// CHECK-LABEL: func.func @slices_with_steps
// CHECK:         %[[STEP:.*]] = "tile.full"() {shape = [], value = dense<-2> : tensor<i32>}
// CHECK:         "tile.binary"(%{{.*}}, %[[STEP]]) {function = "mul"}
// CHECK:         "tile.view"({{.*}}) {shape = array<i64: 128, 28, 28>, strides = array<i64: 784, 28, 1>}
func.func @slices_with_steps(%x: tensor<2x64x28x28xf32>) -> tensor<2x64x14x28xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<2x64x28x28xf32>):
    %r = "tri.slice"(%xi) {starts = array<i64: 0, 0, 27, 0>, sizes = array<i64: 2, 64, 14, 28>, steps = array<i64: 1, 1, -2, 1>} : (tensor<2x64x28x28xf32>) -> tensor<2x64x14x28xf32>
    "tri.yield"(%r) : (tensor<2x64x14x28xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x64x28x28xf32>) -> tensor<2x64x14x28xf32>
  return %y : tensor<2x64x14x28xf32>
}

// -----

// A program writes a part of each result; there are as many as the larger one takes.
// CHECK-LABEL: func.func @splits_in_one_kernel
// CHECK:         "tile.launch"({{.*}}) {{.*}} -> (tensor<2x16x28xf32>, tensor<2x48x28xf32>)
// CHECK:         "tile.store"
// CHECK:         "tile.store"
// CHECK-NOT:     tile.store
// CHECK:         grid = ["2688/BLOCK"]
func.func @splits_in_one_kernel(%x: tensor<2x64x28xf32>) -> (tensor<2x16x28xf32>, tensor<2x48x28xf32>) {
  %y:2 = "tri.group"(%x) ({
  ^bb0(%xi: tensor<2x64x28xf32>):
    %r:2 = "tri.split"(%xi) {axis = 1 : i64, sizes = array<i64: 16, 48>} : (tensor<2x64x28xf32>) -> (tensor<2x16x28xf32>, tensor<2x48x28xf32>)
    "tri.yield"(%r#0, %r#1) : (tensor<2x16x28xf32>, tensor<2x48x28xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x64x28xf32>) -> (tensor<2x16x28xf32>, tensor<2x48x28xf32>)
  return %y#0, %y#1 : tensor<2x16x28xf32>, tensor<2x48x28xf32>
}

// -----

// A program reads a part of each operand, in a row, and writes it where it belongs.
// CHECK-LABEL: func.func @joins_in_one_kernel
// CHECK:         %[[A:.*]] = "tile.load"(%{{.*}}, %[[INDEX:.*]]) {high = array<i64: 0>
// CHECK:         "tile.store"(%[[A]],
// CHECK:         %[[B:.*]] = "tile.load"(%{{.*}}, %[[INDEX]]) {high = array<i64: 0>
// CHECK:         "tile.store"(%[[B]],
// CHECK:         grid = ["2688/BLOCK"]
func.func @joins_in_one_kernel(%a: tensor<2x48x28xf32>, %b: tensor<2x16x28xf32>) -> tensor<2x64x28xf32> {
  %y = "tri.group"(%a, %b) ({
  ^bb0(%ai: tensor<2x48x28xf32>, %bi: tensor<2x16x28xf32>):
    %r = "tri.concat"(%ai, %bi) {axis = 1 : i64} : (tensor<2x48x28xf32>, tensor<2x16x28xf32>) -> tensor<2x64x28xf32>
    "tri.yield"(%r) : (tensor<2x64x28xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x48x28xf32>, tensor<2x16x28xf32>) -> tensor<2x64x28xf32>
  return %y : tensor<2x64x28xf32>
}

// -----

// Numbers in a row are their own indices.
// CHECK-LABEL: func.func @counts
// CHECK:         %[[INDEX:.*]] = "tile.binary"({{.*}}) {function = "add"}
// CHECK:         %[[WIDE:.*]] = "tile.cast"(%[[INDEX]]) {to = "i64"}
// CHECK:         "tile.store"(%[[WIDE]], %{{.*}}, %[[INDEX]])
func.func @counts() -> tensor<700xi64> {
  %y = "tri.group"() ({
    %r = "tri.iota"() {size = 700 : i64} : () -> tensor<700xi64>
    "tri.yield"(%r) : (tensor<700xi64>) -> ()
  }) {target = "gpu"} : () -> tensor<700xi64>
  return %y : tensor<700xi64>
}
