// RUN: trivium-opt %s --split-input-file --lower-to-tile | FileCheck %s

// What is out of bounds is the number that the load pads with.
// CHECK-LABEL: func.func @pads_with_a_number
// CHECK:         "tile.load"({{.*}}) {{{.*}}pad = 2.500000e+00 : f64}
// CHECK-NOT:     tile.where
func.func @pads_with_a_number(%x: tensor<2x3x8x8xf32>) -> tensor<2x3x10x11xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<2x3x8x8xf32>):
    %r = "tri.pad"(%xi) {pads = array<i64: 0, 0, 1, 1, 0, 0, 1, 2>, mode = "constant", value = 2.5 : f64} : (tensor<2x3x8x8xf32>) -> tensor<2x3x10x11xf32>
    "tri.yield"(%r) : (tensor<2x3x10x11xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x3x8x8xf32>) -> tensor<2x3x10x11xf32>
  return %y : tensor<2x3x10x11xf32>
}

// -----

// Places beyond the border lead back into the tensor, in a period of 14.
// CHECK-LABEL: func.func @mirrors_the_border
// CHECK:         %[[PERIOD:.*]] = "tile.full"() {shape = [], value = dense<14> : tensor<i32>}
// CHECK:         %[[TURN:.*]] = "tile.binary"(%{{.*}}, %[[PERIOD]]) {function = "remainder"}
// CHECK-NEXT:    %[[BACK:.*]] = "tile.binary"(%[[PERIOD]], %[[TURN]]) {function = "sub"}
// CHECK-NEXT:    "tile.binary"(%[[TURN]], %[[BACK]]) {function = "min"}
func.func @mirrors_the_border(%x: tensor<2x3x8x8xf32>) -> tensor<2x3x10x11xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<2x3x8x8xf32>):
    %r = "tri.pad"(%xi) {pads = array<i64: 0, 0, 1, 1, 0, 0, 1, 2>, mode = "reflect", value = 0.0 : f64} : (tensor<2x3x8x8xf32>) -> tensor<2x3x10x11xf32>
    "tri.yield"(%r) : (tensor<2x3x10x11xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x3x8x8xf32>) -> tensor<2x3x10x11xf32>
  return %y : tensor<2x3x10x11xf32>
}
