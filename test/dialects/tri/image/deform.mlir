// RUN: trivium-opt %s | FileCheck %s

// 9 taps move along 2 axes: 18 offsets for each window.
// CHECK-LABEL: func.func @deform_conv
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[OFFSET:.*]]: {{.*}})
// CHECK:         "tri.deform_conv"(%[[X]], %[[W]], %[[OFFSET]]) {dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<1x4x5x6xf32>, tensor<2x4x3x3xf32>, tensor<1x18x3x4xf32>) -> tensor<1x2x3x4xf32>
func.func @deform_conv(%x: tensor<1x4x5x6xf32>, %w: tensor<2x4x3x3xf32>, %offset: tensor<1x18x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %0 = "tri.deform_conv"(%x, %w, %offset) {dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x5x6xf32>, tensor<2x4x3x3xf32>, tensor<1x18x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %0 : tensor<1x2x3x4xf32>
}

// Two parts of the channels move each in its own way, each tap with a weight of its own.
// CHECK-LABEL: func.func @masked
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[OFFSET:.*]]: {{.*}}, %[[B:.*]]: {{.*}}, %[[MASK:.*]]: {{.*}})
// CHECK:         "tri.deform_conv"(%[[X]], %[[W]], %[[OFFSET]], %[[B]], %[[MASK]]) {dilations = array<i64: 1, 1>, group = 2 : i64, offset_group = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<1x4x5x6xf32>, tensor<2x2x1x2xf32>, tensor<1x8x5x5xf32>, tensor<2xf32>, tensor<1x4x5x5xf32>) -> tensor<1x2x5x5xf32>
func.func @masked(%x: tensor<1x4x5x6xf32>, %w: tensor<2x2x1x2xf32>, %offset: tensor<1x8x5x5xf32>, %b: tensor<2xf32>, %mask: tensor<1x4x5x5xf32>) -> tensor<1x2x5x5xf32> {
  %0 = "tri.deform_conv"(%x, %w, %offset, %b, %mask) {dilations = array<i64: 1, 1>, group = 2 : i64, offset_group = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x5x6xf32>, tensor<2x2x1x2xf32>, tensor<1x8x5x5xf32>, tensor<2xf32>, tensor<1x4x5x5xf32>) -> tensor<1x2x5x5xf32>
  return %0 : tensor<1x2x5x5xf32>
}
