// RUN: trivium-opt %s --verify-diagnostics

// One to three spatial axes.
func.func @no_spatial_axis(%x: tensor<1x4xf32>, %w: tensor<6x4xf32>) {
  // expected-error @below {{'tri.conv' op input has rank 2, must have 3 to 5: batch, channels, spatial axes}}
  %y = "tri.conv"(%x, %w) {strides = array<i64>, pads = array<i64>, dilations = array<i64>}
      : (tensor<1x4xf32>, tensor<6x4xf32>) -> tensor<1x6xf32>
  return
}

// Input and weight have the same spatial axes.
func.func @weight_of_another_rank(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @below {{'tri.conv' op weight has rank 3, input has 4, must be the same}}
  %y = "tri.conv"(%x, %w)
      {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// There is a group at least.
func.func @no_groups(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @below {{'tri.conv' op group is 0, must be at least 1}}
  %y = "tri.conv"(%x, %w)
      {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 0}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// The weight's second axis is the input's channels in one group.
func.func @channels_differ(%x: tensor<1x4x8x8xf32>, %w: tensor<6x3x3x3xf32>) {
  // expected-error @below {{'tri.conv' op input has 4 channels, weight with 1 groups takes 3}}
  %y = "tri.conv"(%x, %w)
      {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// All groups have the same number of outputs.
func.func @outputs_do_not_split(%x: tensor<1x4x8x8xf32>, %w: tensor<5x2x3x3xf32>) {
  // expected-error @below {{'tri.conv' op 4 to 5 channels do not split in 2 groups}}
  %y = "tri.conv"(%x, %w)
      {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2}
      : (tensor<1x4x8x8xf32>, tensor<5x2x3x3xf32>) -> tensor<1x5x6x6xf32>
  return
}

// One bias for each output channel.
func.func @bias_of_another_size(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{'tri.conv' op bias is tensor<4xf32>, must have one axis of 6 elements}}
  %y = "tri.conv"(%x, %w, %b)
      {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<4xf32>) -> tensor<1x6x6x6xf32>
  return
}

// One stride for each spatial axis.
func.func @too_few_strides(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @below {{'tri.conv' op strides has 1 entries, must have 2}}
  %y = "tri.conv"(%x, %w)
      {strides = array<i64: 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// Windows move on.
func.func @stride_is_zero(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @below {{'tri.conv' op strides is (0, 1), must be at least 1}}
  %y = "tri.conv"(%x, %w)
      {strides = array<i64: 0, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// Cutting off is what `pad` is for.
func.func @pads_are_negative(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @below {{'tri.conv' op pads is (0, -1, 0, 0), must be at least 0}}
  %y = "tri.conv"(%x, %w)
      {strides = array<i64: 1, 1>, pads = array<i64: 0, -1, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// One window fits at least.
func.func @kernel_is_larger_than_the_input(%x: tensor<1x4x8x2xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @below {{'tri.conv' op kernel spans 3 elements of spatial axis 1, padded input has 2}}
  %y = "tri.conv"(%x, %w)
      {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x8x2xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x1xf32>
  return
}

// A transposed weight has the input's channels first.
func.func @transposed_channels_differ(%x: tensor<1x4x8x8xf32>, %w: tensor<3x6x3x3xf32>) {
  // expected-error @below {{'tri.conv_transpose' op input has 4 channels, weight with 1 groups takes 3}}
  %y = "tri.conv_transpose"(%x, %w)
      {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
      : (tensor<1x4x8x8xf32>, tensor<3x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// Output padding is at the end of each axis only.
func.func @too_many_output_pads(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error @below {{'tri.conv_transpose' op output_padding has 4 entries, must have 2}}
  %y = "tri.conv_transpose"(%x, %w)
      {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0, 0, 0>}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x10xf32>
  return
}

// And makes the output larger.
func.func @output_pads_are_negative(%x: tensor<1x4x8x8xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error @below {{'tri.conv_transpose' op output_padding is (0, -1), must be at least 0}}
  %y = "tri.conv_transpose"(%x, %w)
      {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, -1>}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x9xf32>
  return
}

// Pads cut the output of a transposed convolution; something is left.
func.func @pads_leave_nothing(%x: tensor<1x4x1x1xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error @below {{'tri.conv_transpose' op pads (1, 2, 1, 1) leave an output of sizes (1, 0)}}
  %y = "tri.conv_transpose"(%x, %w)
      {strides = array<i64: 1, 1>, pads = array<i64: 1, 2, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
      : (tensor<1x4x1x1xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x1x0xf32>
  return
}
