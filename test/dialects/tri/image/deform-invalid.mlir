// RUN: trivium-opt %s --verify-diagnostics

// All parts that move alike have as many channels.
func.func @channels_do_not_split(%x: tensor<1x4x5x6xf32>, %w: tensor<2x4x3x3xf32>, %offset: tensor<1x54x3x4xf32>) {
  // expected-error @below {{'tri.deform_conv' op 4 channels do not split in 3 offset groups}}
  %y = "tri.deform_conv"(%x, %w, %offset)
      {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, offset_group = 3}
      : (tensor<1x4x5x6xf32>, tensor<2x4x3x3xf32>, tensor<1x54x3x4xf32>) -> tensor<1x2x3x4xf32>
  return
}

// Each tap moves along both axes: 9 taps, 18 numbers.
func.func @offset_of_one_coordinate(%x: tensor<1x4x5x6xf32>, %w: tensor<2x4x3x3xf32>, %offset: tensor<1x9x3x4xf32>) {
  // expected-error @below {{'tri.deform_conv' op offset is tensor<1x9x3x4xf32>, must have shape}}
  %y = "tri.deform_conv"(%x, %w, %offset)
      {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}
      : (tensor<1x4x5x6xf32>, tensor<2x4x3x3xf32>, tensor<1x9x3x4xf32>) -> tensor<1x2x3x4xf32>
  return
}

// Windows are those of `conv`.
func.func @weights_of_another_size(%x: tensor<1x4x5x6xf32>, %w: tensor<2x3x3x3xf32>, %offset: tensor<1x18x3x4xf32>) {
  // expected-error @below {{'tri.deform_conv' op input has 4 channels, weight with 1 groups takes 3}}
  %y = "tri.deform_conv"(%x, %w, %offset)
      {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}
      : (tensor<1x4x5x6xf32>, tensor<2x3x3x3xf32>, tensor<1x18x3x4xf32>) -> tensor<1x2x3x4xf32>
  return
}
