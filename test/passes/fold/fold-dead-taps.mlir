// RUN: trivium-opt %s --fold-dead-taps | FileCheck %s

// The outer taps are five pixels away from a map of four by four: only the middle one is left.
// CHECK-LABEL: func.func @cuts_both_ends
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
// CHECK:         %[[KEPT:.*]] = "tri.slice"(%[[W]]) {sizes = array<i64: 3, 2, 1, 1>, starts = array<i64: 0, 0, 1, 1>
// CHECK:         "tri.conv"(%[[X]], %[[KEPT]]) {{.*}}pads = array<i64: 0, 0, 0, 0>
func.func @cuts_both_ends(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32> {
  %y = "tri.conv"(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 5, 5, 5, 5>, dilations = array<i64: 5, 5>} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32>
  return %y : tensor<1x3x4x4xf32>
}

// The last tap is behind the map for both windows, the first one is not.
// CHECK-LABEL: func.func @cuts_one_end
// CHECK:         "tri.slice"({{.*}}) {sizes = array<i64: 3, 2, 2>, starts = array<i64: 0, 0, 0>
// CHECK:         "tri.conv"({{.*}}) {{.*}}pads = array<i64: 1, 0>
func.func @cuts_one_end(%x: tensor<1x2x4xf32>, %w: tensor<3x2x3xf32>) -> tensor<1x3x2xf32> {
  %y = "tri.conv"(%x, %w) {strides = array<i64: 1>, pads = array<i64: 1, 3>, dilations = array<i64: 3>} : (tensor<1x2x4xf32>, tensor<3x2x3xf32>) -> tensor<1x3x2xf32>
  return %y : tensor<1x3x2xf32>
}

// Every tap meets a pixel by some window.
// CHECK-LABEL: func.func @keeps_living_taps
// CHECK-NOT:     tri.slice
// CHECK:         "tri.conv"({{.*}}) {{.*}}pads = array<i64: 3, 3, 3, 3>
func.func @keeps_living_taps(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32> {
  %y = "tri.conv"(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 3, 3>} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32>
  return %y : tensor<1x3x4x4xf32>
}
