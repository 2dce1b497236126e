// RUN: trivium-opt %s --lower-to-buffers | FileCheck %s

// Weights and their table are one constant, which is loaded once. Channels that do not fit the
// memory of weights, 64 KiB, at once are summed in turns: `begin` is with the first part, `finish`
// with the last one. Rows above the image are told by `pad_top`.
// CHECK:         "dla.load_weights"
// CHECK:         "dla.conv_tile"
// CHECK-NOT:       begin
// CHECK-SAME:      finish = 0
// CHECK-SAME:      pad_top = 1
// CHECK:         "dla.conv_tile"
// CHECK-SAME:      begin = 0
// CHECK-SAME:      finish = 0
// CHECK-SAME:      source_at = array<i64: 0, 0, 0, 128>
// CHECK:         source_at = array<i64: 0, 0, 0, 384>
// CHECK:         "dla.store"
func.func @summed_in_turns(%x: tensor<1x4x4x512xi8>) -> tensor<1x4x4x16xi8> {
  %w = "tri.constant"() {value = dense<1> : tensor<3x3x512x16xi8>} : () -> tensor<3x3x512x16xi8>
  %b = "tri.constant"() {value = dense<0> : tensor<16xi32>} : () -> tensor<16xi32>
  %y = "tri.group"(%x, %w, %b) ({
  ^bb0(%a: tensor<1x4x4x512xi8>, %k: tensor<3x3x512x16xi8>, %c: tensor<16xi32>):
    %0 = "dla.conv"(%a, %k, %c) {pads = array<i64: 1, 1, 1, 1>, multiplier = array<i64: 1>, shift = array<i64: 4>} : (tensor<1x4x4x512xi8>, tensor<3x3x512x16xi8>, tensor<16xi32>) -> tensor<1x4x4x16xi8>
    "tri.yield"(%0) : (tensor<1x4x4x16xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x4x4x512xi8>, tensor<3x3x512x16xi8>, tensor<16xi32>) -> tensor<1x4x4x16xi8>
  return %y : tensor<1x4x4x16xi8>
}
