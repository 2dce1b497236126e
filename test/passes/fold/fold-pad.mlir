// RUN: trivium-opt %s --fold-pad --eliminate | FileCheck %s

// Begins and ends add up, axis by axis.
// CHECK-LABEL: func.func @folds
// CHECK-SAME:    (%[[X:.*]]: tensor<1x2x4x5xf32>, %[[W:.*]]: tensor<3x2x2x2xf32>)
// CHECK-NEXT:    "tri.conv"(%[[X]], %[[W]]) {{.*}}pads = array<i64: 1, 2, 4, 3>
func.func @folds(%x: tensor<1x2x4x5xf32>, %w: tensor<3x2x2x2xf32>) -> tensor<1x3x8x9xf32> {
  %p = "tri.pad"(%x) {pads = array<i64: 0, 0, 1, 2, 0, 0, 3, 3>} : (tensor<1x2x4x5xf32>) -> tensor<1x2x8x10xf32>
  %y = "tri.conv"(%p, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 1, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x8x10xf32>, tensor<3x2x2x2xf32>) -> tensor<1x3x8x9xf32>
  return %y : tensor<1x3x8x9xf32>
}

// CHECK-LABEL: func.func @keeps_pad_with_ones
// CHECK:         "tri.pad"
func.func @keeps_pad_with_ones(%x: tensor<1x2x4xf32>, %w: tensor<3x2x3xf32>) -> tensor<1x3x4xf32> {
  %p = "tri.pad"(%x) {pads = array<i64: 0, 0, 1, 0, 0, 1>, value = 1.0} : (tensor<1x2x4xf32>) -> tensor<1x2x6xf32>
  %y = "tri.conv"(%p, %w) {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x2x6xf32>, tensor<3x2x3xf32>) -> tensor<1x3x4xf32>
  return %y : tensor<1x3x4xf32>
}

// CHECK-LABEL: func.func @keeps_reflection
// CHECK:         "tri.pad"
func.func @keeps_reflection(%x: tensor<1x2x4xf32>, %w: tensor<3x2x3xf32>) -> tensor<1x3x4xf32> {
  %p = "tri.pad"(%x) {pads = array<i64: 0, 0, 1, 0, 0, 1>, mode = "reflect"} : (tensor<1x2x4xf32>) -> tensor<1x2x6xf32>
  %y = "tri.conv"(%p, %w) {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x2x6xf32>, tensor<3x2x3xf32>) -> tensor<1x3x4xf32>
  return %y : tensor<1x3x4xf32>
}

// A convolution cannot add channels, nor cut pixels off.
// CHECK-LABEL: func.func @keeps_pad_of_channels
// CHECK:         "tri.pad"
func.func @keeps_pad_of_channels(%x: tensor<1x2x4xf32>, %w: tensor<3x3x3xf32>) -> tensor<1x3x2xf32> {
  %p = "tri.pad"(%x) {pads = array<i64: 0, 1, 0, 0, 0, 0>} : (tensor<1x2x4xf32>) -> tensor<1x3x4xf32>
  %y = "tri.conv"(%p, %w) {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x3x4xf32>, tensor<3x3x3xf32>) -> tensor<1x3x2xf32>
  return %y : tensor<1x3x2xf32>
}

// CHECK-LABEL: func.func @keeps_crop
// CHECK:         "tri.pad"
func.func @keeps_crop(%x: tensor<1x2x4xf32>, %w: tensor<3x2x3xf32>) -> tensor<1x3x1xf32> {
  %p = "tri.pad"(%x) {pads = array<i64: 0, 0, -1, 0, 0, 0>} : (tensor<1x2x4xf32>) -> tensor<1x2x3xf32>
  %y = "tri.conv"(%p, %w) {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x2x3xf32>, tensor<3x2x3xf32>) -> tensor<1x3x1xf32>
  return %y : tensor<1x3x1xf32>
}
