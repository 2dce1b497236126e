// RUN: trivium-opt %s --pack-narrow | FileCheck %s

// Two elements share a byte, also where rows are odd; what is filled up is cut off.
// CHECK-LABEL: func.func @packs_four_bits
// CHECK:         %[[P:.*]] = "tri.{{weight|constant}}"() {{.*}} -> tensor<563xui8>
// CHECK:         %[[APART:.*]] = "tri.reshape"(%[[P]]) {{.*}} -> tensor<563x1xui8>
// CHECK:         %[[S:.*]] = "tri.shift_right"(%[[APART]], %{{.*}}) : {{.*}} -> tensor<563x2xui8>
// CHECK:         %[[A:.*]] = "tri.bitwise_and"(%[[S]]
// CHECK:         %[[F:.*]] = "tri.reshape"(%[[A]]) {{.*}} -> tensor<1126xui8>
// CHECK:         %[[C:.*]] = "tri.cast"(%[[F]]) {{.*}} -> tensor<1126xi4>
// CHECK:         %[[CUT:.*]] = "tri.slice"(%[[C]]) {{.*}} -> tensor<1125xi4>
// CHECK:         %[[W:.*]] = "tri.reshape"(%[[CUT]]) {{.*}} -> tensor<5x225xi4>
// CHECK:         "tri.cast"(%[[W]])
func.func @packs_four_bits() -> tensor<5x225xf32> {
  %w = "tri.constant"() {value = dense<-3> : tensor<5x225xi4>} : () -> tensor<5x225xi4>
  %f = "tri.cast"(%w) {to = "f32"} : (tensor<5x225xi4>) -> tensor<5x225xf32>
  return %f : tensor<5x225xf32>
}

// Floats come by way of integers of as many bits.
// CHECK-LABEL: func.func @packs_floats
// CHECK:         %[[C:.*]] = "tri.cast"({{.*}}) {{.*}} -> tensor<2048xui4>
// CHECK-NEXT:    %[[B:.*]] = "tri.bit_cast"(%[[C]]) {{.*}} -> tensor<2048xf4E2M1FN>
// CHECK-NEXT:    "tri.reshape"(%[[B]]) {{.*}} -> tensor<8x256xf4E2M1FN>
func.func @packs_floats() -> tensor<8x256xf32> {
  %w = "tri.constant"() {value = dense<1.5> : tensor<8x256xf4E2M1FN>} : () -> tensor<8x256xf4E2M1FN>
  %f = "tri.cast"(%w) {to = "f32"} : (tensor<8x256xf4E2M1FN>) -> tensor<8x256xf32>
  return %f : tensor<8x256xf32>
}

// Small constants stand in the IR, and bytes are full.
// CHECK-LABEL: func.func @keeps_small_and_full_bytes
// CHECK-NOT:     tri.shift_right
// CHECK:         return
func.func @keeps_small_and_full_bytes() -> (tensor<4x4xf32>, tensor<64x64xf32>) {
  %w = "tri.constant"() {value = dense<1> : tensor<4x4xi4>} : () -> tensor<4x4xi4>
  %f = "tri.cast"(%w) {to = "f32"} : (tensor<4x4xi4>) -> tensor<4x4xf32>
  %v = "tri.constant"() {value = dense<1> : tensor<64x64xi8>} : () -> tensor<64x64xi8>
  %g = "tri.cast"(%v) {to = "f32"} : (tensor<64x64xi8>) -> tensor<64x64xf32>
  return %f, %g : tensor<4x4xf32>, tensor<64x64xf32>
}
