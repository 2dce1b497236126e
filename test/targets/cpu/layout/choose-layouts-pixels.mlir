// RUN: trivium-opt %s --choose-layouts=machine=x86-64-v4 | FileCheck %s

// Each plane of a volume by Winograd's method, with the channels of three planes one after the other.
// CHECK-LABEL: func.func @filters_planes
// CHECK:         "cpu.blocked_winograd_conv"({{.*}}sizes = array<i64: 4, 14, 14>, tile = 4{{.*}} : (tensor<1x4x6x18x18x16xf32>, tensor<1x36x192x64xf32>) -> tensor<1x4x4x14x14x16xf32>
func.func @filters_planes(%x: tensor<1x64x4x14x14xf32>) -> tensor<1x64x4x14x14xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<64x64x3x3x3xf32>} : () -> tensor<64x64x3x3x3xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, strides = array<i64: 1, 1, 1>}
      : (tensor<1x64x4x14x14xf32>, tensor<64x64x3x3x3xf32>) -> tensor<1x64x4x14x14xf32>
  return %y : tensor<1x64x4x14x14xf32>
}

// Volumes are blocked, too. Code passes over the planes of zeros before and behind them.
// CHECK-LABEL: func.func @blocks_volumes
// CHECK:         %[[P:.*]] = "tri.pad"{{.*}} -> tensor<1x4x6x14x14x16xf32>
// CHECK:         "cpu.blocked_conv"(%[[P]]{{.*}}border = array<i64: 1, 0, 0, 1, 0, 0>{{.*}} -> tensor<1x4x4x14x14x16xf32>
func.func @blocks_volumes(%x: tensor<1x64x4x14x14xf32>) -> tensor<1x64x4x14x14xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<64x64x3x1x1xf32>} : () -> tensor<64x64x3x1x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1, 1>, pads = array<i64: 1, 0, 0, 1, 0, 0>, strides = array<i64: 1, 1, 1>}
      : (tensor<1x64x4x14x14xf32>, tensor<64x64x3x1x1xf32>) -> tensor<1x64x4x14x14xf32>
  return %y : tensor<1x64x4x14x14xf32>
}

// Resampled pixels are sums of whole vectors.
// CHECK-LABEL: func.func @resamples_pixels
// CHECK:         "tri.resize"{{.*}}scales = array<f64: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00, 1.000000e+00>, sizes = array<i64: 1, 2, 28, 28, 16>{{.*}} : (tensor<1x2x14x14x16xf32>) -> tensor<1x2x28x28x16xf32>
func.func @resamples_pixels(%x: tensor<1x32x14x14xf32>) -> tensor<1x64x28x28xf32> {
  %a = "tri.resize"(%x) {mode = "linear", scales = array<f64: 1.0, 1.0, 2.0, 2.0>, sizes = array<i64: 1, 32, 28, 28>}
      : (tensor<1x32x14x14xf32>) -> tensor<1x32x28x28xf32>
  %w = "tri.constant"() {value = dense<1.0> : tensor<64x32x3x3xf32>} : () -> tensor<64x32x3x3xf32>
  %y = "tri.conv"(%a, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x32x28x28xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x28x28xf32>
  return %y : tensor<1x64x28x28xf32>
}

// Channels that are resampled, too, lie in different vectors.
// CHECK-LABEL: func.func @resamples_channels
// CHECK:         "tri.resize"{{.*}} : (tensor<1x16x14x14xf32>) -> tensor<1x32x28x28xf32>
func.func @resamples_channels(%x: tensor<1x16x14x14xf32>) -> tensor<1x64x28x28xf32> {
  %a = "tri.resize"(%x) {mode = "linear", scales = array<f64: 1.0, 2.0, 2.0, 2.0>, sizes = array<i64: 1, 32, 28, 28>}
      : (tensor<1x16x14x14xf32>) -> tensor<1x32x28x28xf32>
  %w = "tri.constant"() {value = dense<1.0> : tensor<64x32x3x3xf32>} : () -> tensor<64x32x3x3xf32>
  %y = "tri.conv"(%a, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x32x28x28xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x28x28xf32>
  return %y : tensor<1x64x28x28xf32>
}
