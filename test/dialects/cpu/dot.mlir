// RUN: trivium-opt %s | FileCheck %s

// Seven bytes of depth fill two words; five columns are in two panels of four.
// CHECK-LABEL: func.func @dot_mat_mul
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "cpu.dot_mat_mul"(%[[A]], %[[W]], %[[B]]) {columns = 5 : i64}
// CHECK-SAME:      : (tensor<2x3x7xui8>, tensor<2x2x4xi32>, tensor<5xi32>) -> tensor<2x3x5xi32>
func.func @dot_mat_mul(%a: tensor<2x3x7xui8>, %w: tensor<2x2x4xi32>, %b: tensor<5xi32>) -> tensor<2x3x5xi32> {
  %0 = "cpu.dot_mat_mul"(%a, %w, %b) {columns = 5} : (tensor<2x3x7xui8>, tensor<2x2x4xi32>, tensor<5xi32>) -> tensor<2x3x5xi32>
  return %0 : tensor<2x3x5xi32>
}

// Seven of bf16 fill four words; sums are f32, results are not.
// CHECK-LABEL: func.func @dot_mat_mul_of_halves
// CHECK:         "cpu.dot_mat_mul"
// CHECK-SAME:      : (tensor<3x7xbf16>, tensor<2x4x4xi32>, tensor<5xf32>) -> tensor<3x5xbf16>
func.func @dot_mat_mul_of_halves(%a: tensor<3x7xbf16>, %w: tensor<2x4x4xi32>, %b: tensor<5xf32>) -> tensor<3x5xbf16> {
  %0 = "cpu.dot_mat_mul"(%a, %w, %b) {columns = 5} : (tensor<3x7xbf16>, tensor<2x4x4xi32>, tensor<5xf32>) -> tensor<3x5xbf16>
  return %0 : tensor<3x5xbf16>
}

// Two groups of five channels are two words each; three outputs of a group see two by two of them.
// CHECK-LABEL: func.func @dot_conv
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "cpu.dot_conv"(%[[X]], %[[W]], %[[B]]) {block = 2 : i64
// CHECK-SAME:      padding = -5 : i64
// CHECK-SAME:      : (tensor<1x10x8x9xi8>, tensor<2x24xi32>, tensor<6xi32>) -> tensor<1x6x9x10xi32>
func.func @dot_conv(%x: tensor<1x10x8x9xi8>, %w: tensor<2x24xi32>, %b: tensor<6xi32>) -> tensor<1x6x9x10xi32> {
  %0 = "cpu.dot_conv"(%x, %w, %b) {block = 2, dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, outputs = 6, padding = -5, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x10x8x9xi8>, tensor<2x24xi32>, tensor<6xi32>) -> tensor<1x6x9x10xi32>
  return %0 : tensor<1x6x9x10xi32>
}

// Five channels are two words; five outputs in two panels of four see them through three taps.
// CHECK-LABEL: func.func @dot_panel_conv
// CHECK:         "cpu.dot_panel_conv"
// CHECK-SAME:      : (tensor<1x5x7xui8>, tensor<2x6x4xi32>, tensor<5xi32>) -> tensor<1x5x5xi32>
func.func @dot_panel_conv(%x: tensor<1x5x7xui8>, %w: tensor<2x6x4xi32>, %b: tensor<5xi32>) -> tensor<1x5x5xi32> {
  %0 = "cpu.dot_panel_conv"(%x, %w, %b) {dilations = array<i64: 1>, kernel = array<i64: 3>, outputs = 5, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x5x7xui8>, tensor<2x6x4xi32>, tensor<5xi32>) -> tensor<1x5x5xi32>
  return %0 : tensor<1x5x5xi32>
}

// Four channels of a pixel are one word of a block; two of a plain image are one with two zeros.
// CHECK-LABEL: func.func @blocked_dot_conv
// CHECK:         "cpu.blocked_dot_conv"
// CHECK-SAME:      : (tensor<1x2x7x4xui8>, tensor<2x6x4xi32>, tensor<8xi32>) -> tensor<1x2x5x4xi32>
// CHECK:         "cpu.blocked_dot_conv"
// CHECK-SAME:      : (tensor<1x2x7xui8>, tensor<2x3x4xi32>, tensor<8xi32>) -> tensor<1x2x7x4xi32>
func.func @blocked_dot_conv(%x: tensor<1x2x7x4xui8>, %w: tensor<2x6x4xi32>, %p: tensor<1x2x7xui8>, %v: tensor<2x3x4xi32>, %b: tensor<8xi32>)
    -> (tensor<1x2x5x4xi32>, tensor<1x2x7x4xi32>) {
  %0 = "cpu.blocked_dot_conv"(%x, %w, %b) {dilations = array<i64: 1>, kernel = array<i64: 3>, lanes = 4, outputs = 8, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x7x4xui8>, tensor<2x6x4xi32>, tensor<8xi32>) -> tensor<1x2x5x4xi32>
  %1 = "cpu.blocked_dot_conv"(%p, %v, %b) {dilations = array<i64: 1>, kernel = array<i64: 3>, lanes = 4, outputs = 8, pads = array<i64: 1, 1>, strides = array<i64: 1>}
      : (tensor<1x2x7xui8>, tensor<2x3x4xi32>, tensor<8xi32>) -> tensor<1x2x7x4xi32>
  return %0, %1 : tensor<1x2x5x4xi32>, tensor<1x2x7x4xi32>
}

// Two results share words of four pixels of a line of three taps; five results see eight pixels.
// CHECK-LABEL: func.func @lane_dot_conv
// CHECK:         "cpu.lane_dot_conv"{{.*}} : (tensor<1x2x5x8x4xui8>, tensor<2x2x3x4xi32>, tensor<8xi32>) -> tensor<1x2x3x5x4xi32>
func.func @lane_dot_conv(%x: tensor<1x2x5x8x4xui8>, %w: tensor<2x2x3x4xi32>, %b: tensor<8xi32>) -> tensor<1x2x3x5x4xi32> {
  %0 = "cpu.lane_dot_conv"(%x, %w, %b) {kernel = array<i64: 3, 3>, sizes = array<i64: 3, 5>, strides = array<i64: 1, 1>}
      : (tensor<1x2x5x8x4xui8>, tensor<2x2x3x4xi32>, tensor<8xi32>) -> tensor<1x2x3x5x4xi32>
  return %0 : tensor<1x2x3x5x4xi32>
}
