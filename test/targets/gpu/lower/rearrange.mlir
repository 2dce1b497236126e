// RUN: trivium-opt %s --split-input-file --lower-to-tile | FileCheck %s

// A pixel comes from the channel of its place in its block.
// CHECK-LABEL: func.func @moves_channels_to_space
// CHECK:         "tile.load"({{.*}}) {high = array<i64: 0, 1, 2, 3>{{.*}}} : (memref<2x12x4x5xf32>,
// CHECK-NEXT:    "tile.view"({{.*}}) {shape = array<i64: 480>, strides = array<i64: 1>}
func.func @moves_channels_to_space(%x: tensor<2x12x4x5xf32>) -> tensor<2x3x8x10xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<2x12x4x5xf32>):
    %r = "tri.depth_to_space"(%xi) {blocksize = 2 : i64, mode = "DCR"} : (tensor<2x12x4x5xf32>) -> tensor<2x3x8x10xf32>
    "tri.yield"(%r) : (tensor<2x3x8x10xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x12x4x5xf32>) -> tensor<2x3x8x10xf32>
  return %y : tensor<2x3x8x10xf32>
}

// -----

// Only the dim that is rolled takes a remainder.
// CHECK-LABEL: func.func @turns_a_circle
// CHECK:         %[[BEFORE:.*]] = "tile.full"() {shape = [], value = dense<3> : tensor<i32>}
// CHECK-NEXT:    %[[TURNED:.*]] = "tile.binary"(%{{.*}}, %[[BEFORE]]) {function = "add"}
// CHECK-NEXT:    %[[PLACE:.*]] = "tile.binary"(%[[TURNED]], %{{.*}}) {function = "remainder"}
// CHECK-NEXT:    "tile.load"(%{{.*}}, %{{.*}}, %[[PLACE]])
func.func @turns_a_circle(%x: tensor<64x10xf32>) -> tensor<64x10xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<64x10xf32>):
    %r = "tri.roll"(%xi) {shifts = array<i64: -3>, axes = array<i64: 1>} : (tensor<64x10xf32>) -> tensor<64x10xf32>
    "tri.yield"(%r) : (tensor<64x10xf32>) -> ()
  }) {target = "gpu"} : (tensor<64x10xf32>) -> tensor<64x10xf32>
  return %y : tensor<64x10xf32>
}
