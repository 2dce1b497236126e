// RUN: trivium-opt %s --lower-to-tile --split-input-file | FileCheck %s

// A small window is unrolled: nine loads of neighbours, which padding never wins.
// CHECK-NOT: "tile.for"
// CHECK-COUNT-9: "tile.load"{{.*}}pad = 0xFFF0000000000000
// CHECK-NOT: "tile.load"
// CHECK: grid = ["200704/BLOCK"]
func.func @main(%p: tensor<1x64x112x112xf16, [0, 2, 3, 1]>) -> tensor<1x64x56x56xf16, [0, 2, 3, 1]> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<1x64x112x112xf16, [0, 2, 3, 1]>):
    %y = "tri.max_pool"(%x) {ceil_mode = false, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x64x112x112xf16, [0, 2, 3, 1]>) -> tensor<1x64x56x56xf16, [0, 2, 3, 1]>
    "tri.yield"(%y) : (tensor<1x64x56x56xf16, [0, 2, 3, 1]>) -> ()
  }) {target = "gpu"} : (tensor<1x64x112x112xf16, [0, 2, 3, 1]>) -> tensor<1x64x56x56xf16, [0, 2, 3, 1]>
  return %out : tensor<1x64x56x56xf16, [0, 2, 3, 1]>
}

// -----

// A large one is a loop over its taps.
// CHECK: "tile.for"
// CHECK:   "tile.load"
// CHECK: "tile.store"
func.func @main(%p: tensor<1x64x20x20xf32>) -> tensor<1x64x20x20xf32> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<1x64x20x20xf32>):
    %y = "tri.max_pool"(%x) {ceil_mode = false, dilations = array<i64: 1, 1>, kernel = array<i64: 5, 5>, pads = array<i64: 2, 2, 2, 2>, strides = array<i64: 1, 1>} : (tensor<1x64x20x20xf32>) -> tensor<1x64x20x20xf32>
    "tri.yield"(%y) : (tensor<1x64x20x20xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x64x20x20xf32>) -> tensor<1x64x20x20xf32>
  return %out : tensor<1x64x20x20xf32>
}

// -----

// A window that is the whole image is a reduction.
// CHECK: "tile.reduce"(%{{.*}}) {axis = 1 : i64, kind = "sum"}
// CHECK: grid = ["2048/ROWS"]
func.func @main(%p: tensor<1x2048x7x7xf32>) -> tensor<1x2048x1x1xf32> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<1x2048x7x7xf32>):
    %y = "tri.average_pool"(%x) {ceil_mode = false, dilations = array<i64: 1, 1>, kernel = array<i64: 7, 7>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>, count_include_pad = false} : (tensor<1x2048x7x7xf32>) -> tensor<1x2048x1x1xf32>
    "tri.yield"(%y) : (tensor<1x2048x1x1xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x2048x7x7xf32>) -> tensor<1x2048x1x1xf32>
  return %out : tensor<1x2048x1x1xf32>
}
