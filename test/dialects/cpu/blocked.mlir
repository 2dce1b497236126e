// RUN: trivium-opt %s | FileCheck %s

// Six channels are three blocks of two.
// CHECK-LABEL: func.func @block_and_unblock
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[B:.*]] = "cpu.block"(%[[X]]) {lanes = 2 : i64} : (tensor<1x6x8x9xf32>) -> tensor<1x3x8x9x2xf32>
// CHECK:         "cpu.unblock"(%[[B]]) : (tensor<1x3x8x9x2xf32>) -> tensor<1x6x8x9xf32>
func.func @block_and_unblock(%x: tensor<1x6x8x9xf32>) -> tensor<1x6x8x9xf32> {
  %0 = "cpu.block"(%x) {lanes = 2} : (tensor<1x6x8x9xf32>) -> tensor<1x3x8x9x2xf32>
  %1 = "cpu.unblock"(%0) : (tensor<1x3x8x9x2xf32>) -> tensor<1x6x8x9xf32>
  return %1 : tensor<1x6x8x9xf32>
}

// Eight outputs in a panel, each of which sees four channels through windows of three by three.
// CHECK-LABEL: func.func @blocked_conv
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "cpu.blocked_conv"(%[[X]], %[[W]], %[[B]]) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>
// CHECK-SAME:      -> tensor<1x2x6x7x4xf32>
func.func @blocked_conv(%x: tensor<1x1x8x9x4xf32>, %w: tensor<1x36x8xf32>, %b: tensor<8xf32>) -> tensor<1x2x6x7x4xf32> {
  %0 = "cpu.blocked_conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, lanes = 4, outputs = 8, strides = array<i64: 1, 1>}
      : (tensor<1x1x8x9x4xf32>, tensor<1x36x8xf32>, tensor<8xf32>) -> tensor<1x2x6x7x4xf32>
  return %0 : tensor<1x2x6x7x4xf32>
}

// The image need not be blocked: three channels do not fill a block.
// CHECK-LABEL: func.func @blocked_conv_with_a_border
// CHECK:         "cpu.blocked_conv"{{.*}}border = array<i64: 2, 0, 2, 1>{{.*}}dilations = array<i64: 2, 2>
func.func @blocked_conv_with_a_border(%x: tensor<1x1x8x9x4xf32>, %w: tensor<1x36x8xf32>) -> tensor<1x2x4x5x4xf32> {
  %0 = "cpu.blocked_conv"(%x, %w) {border = array<i64: 2, 0, 2, 1>, dilations = array<i64: 2, 2>, kernel = array<i64: 3, 3>, lanes = 4, outputs = 8, strides = array<i64: 1, 1>}
      : (tensor<1x1x8x9x4xf32>, tensor<1x36x8xf32>) -> tensor<1x2x4x5x4xf32>
  return %0 : tensor<1x2x4x5x4xf32>
}

// CHECK-LABEL: func.func @blocked_conv_of_plain_image
// CHECK:         "cpu.blocked_conv"{{.*}} : (tensor<1x3x8x9xf32>, tensor<1x27x8xf32>) -> tensor<1x2x6x7x4xf32>
func.func @blocked_conv_of_plain_image(%x: tensor<1x3x8x9xf32>, %w: tensor<1x27x8xf32>) -> tensor<1x2x6x7x4xf32> {
  %0 = "cpu.blocked_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, lanes = 4, outputs = 8, strides = array<i64: 1, 1>}
      : (tensor<1x3x8x9xf32>, tensor<1x27x8xf32>) -> tensor<1x2x6x7x4xf32>
  return %0 : tensor<1x2x6x7x4xf32>
}

// Two blocks of four channels, in groups of two.
// CHECK-LABEL: func.func @lane_conv
// CHECK:         "cpu.lane_conv"{{.*}} : (tensor<1x2x8x9x4xf32>, tensor<2x9x2x4xf32>) -> tensor<1x2x6x7x4xf32>
func.func @lane_conv(%x: tensor<1x2x8x9x4xf32>, %w: tensor<2x9x2x4xf32>) -> tensor<1x2x6x7x4xf32> {
  %0 = "cpu.lane_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>}
      : (tensor<1x2x8x9x4xf32>, tensor<2x9x2x4xf32>) -> tensor<1x2x6x7x4xf32>
  return %0 : tensor<1x2x6x7x4xf32>
}

// Seven rows of outputs take four tiles of two, which see ten rows.
// CHECK-LABEL: func.func @blocked_winograd_volume
// CHECK:         "cpu.blocked_winograd_conv"{{.*}} : (tensor<1x1x5x10x10x4xf32>, tensor<1x16x12x8xf32>) -> tensor<1x1x3x7x8x4xf32>
func.func @blocked_winograd_volume(%x: tensor<1x1x5x10x10x4xf32>, %u: tensor<1x16x12x8xf32>) -> tensor<1x1x3x7x8x4xf32> {
  %0 = "cpu.blocked_winograd_conv"(%x, %u) {outputs = 4, sizes = array<i64: 3, 7, 8>, tile = 2}
      : (tensor<1x1x5x10x10x4xf32>, tensor<1x16x12x8xf32>) -> tensor<1x1x3x7x8x4xf32>
  return %0 : tensor<1x1x3x7x8x4xf32>
}

// CHECK-LABEL: func.func @blocked_winograd_conv
// CHECK:         "cpu.blocked_winograd_conv"{{.*}} : (tensor<1x1x10x10x4xf32>, tensor<1x16x4x8xf32>) -> tensor<1x1x7x8x4xf32>
func.func @blocked_winograd_conv(%x: tensor<1x1x10x10x4xf32>, %u: tensor<1x16x4x8xf32>) -> tensor<1x1x7x8x4xf32> {
  %0 = "cpu.blocked_winograd_conv"(%x, %u) {outputs = 4, sizes = array<i64: 7, 8>, tile = 2}
      : (tensor<1x1x10x10x4xf32>, tensor<1x16x4x8xf32>) -> tensor<1x1x7x8x4xf32>
  return %0 : tensor<1x1x7x8x4xf32>
}

// Every result sees two of four taps, of one block of channels; the image has a pixel at each end.
// CHECK-LABEL: func.func @blocked_conv_transpose
// CHECK:         "cpu.blocked_conv_transpose"{{.*}}crops = array<i64: 1>{{.*}} : (tensor<1x1x7x4xf32>, tensor<2x8x8xf32>) -> tensor<1x2x10x4xf32>
func.func @blocked_conv_transpose(%x: tensor<1x1x7x4xf32>, %w: tensor<2x8x8xf32>) -> tensor<1x2x10x4xf32> {
  %0 = "cpu.blocked_conv_transpose"(%x, %w) {outputs = 8, kernel = array<i64: 2>, strides = array<i64: 2>, crops = array<i64: 1>, sizes = array<i64: 10>}
      : (tensor<1x1x7x4xf32>, tensor<2x8x8xf32>) -> tensor<1x2x10x4xf32>
  return %0 : tensor<1x2x10x4xf32>
}
