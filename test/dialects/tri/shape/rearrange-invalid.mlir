// RUN: trivium-opt %s --verify-diagnostics

// Batch and time are two axes.
func.func @time_is_the_batch(%x: tensor<2x3xf32>, %sequence_lens: tensor<2xi64>) {
  // expected-error @below {{'tri.reverse_sequence' op batch axis and time axis are both 0, must differ}}
  %y = "tri.reverse_sequence"(%x, %sequence_lens) {batch_axis = 0, time_axis = 0}
      : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// Each sequence of the batch has a length.
func.func @length_of_another_batch(%x: tensor<2x3xf32>, %sequence_lens: tensor<3xi64>) {
  // expected-error @below {{'tri.reverse_sequence' op sequence_lens is tensor<3xi64>, must have shape 2}}
  %y = "tri.reverse_sequence"(%x, %sequence_lens) {batch_axis = 0, time_axis = 1}
      : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  return
}

// Blocks are of pixels: batch, channels, height, width.
func.func @blocks_of_three_axes(%x: tensor<4x8x8xf32>) {
  // expected-error @below {{'tri.space_to_depth' op x has rank 3, must be 4}}
  %y = "tri.space_to_depth"(%x) {blocksize = 2} : (tensor<4x8x8xf32>) -> tensor<16x4x4xf32>
  return
}

// Blocks have a size.
func.func @blocks_of_nothing(%x: tensor<1x4x8x8xf32>) {
  // expected-error @below {{'tri.space_to_depth' op blocksize is 0, must be at least 1}}
  %y = "tri.space_to_depth"(%x) {blocksize = 0} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return
}

// All blocks are full.
func.func @pixels_do_not_fill_blocks(%x: tensor<1x4x8x7xf32>) {
  // expected-error @below {{'tri.space_to_depth' op has 8x7 pixels, must be multiples of blocksize 2}}
  %y = "tri.space_to_depth"(%x) {blocksize = 2} : (tensor<1x4x8x7xf32>) -> tensor<1x16x4x3xf32>
  return
}

// In both directions.
func.func @channels_do_not_fill_blocks(%x: tensor<1x6x4x4xf32>) {
  // expected-error @below {{'tri.depth_to_space' op has 6 channels, must be a multiple of blocksize² = 4}}
  %y = "tri.depth_to_space"(%x) {blocksize = 2} : (tensor<1x6x4x4xf32>) -> tensor<1x1x8x8xf32>
  return
}

// Depth comes first, or columns and rows do.
func.func @mode_is_unknown(%x: tensor<1x4x4x4xf32>) {
  // expected-error @below {{'tri.depth_to_space' op mode is 'RCD', must be one of DCR, CRD}}
  %y = "tri.depth_to_space"(%x) {blocksize = 2, mode = "RCD"}
      : (tensor<1x4x4x4xf32>) -> tensor<1x1x8x8xf32>
  return
}

func.func @channels_do_not_split_in_groups(%x: tensor<1x6x4xf32>) {
  // expected-error @below {{'tri.channel_shuffle' op 6 channels do not split in 4 groups}}
  %y = "tri.channel_shuffle"(%x) {groups = 4} : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
  return
}

func.func @shifts_of_other_axes(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.roll' op shifts are [1], axes [0, 1], must be as many}}
  %y = "tri.roll"(%x) {axes = array<i64: 0, 1>, shifts = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @roll_of_an_axis_twice(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.roll' op axes (0, -2) name an axis twice}}
  %y = "tri.roll"(%x) {axes = array<i64: 0, -2>, shifts = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func @shuffle_without_channels(%x: tensor<6xf32>) {
  // expected-error @below {{'tri.channel_shuffle' op x has rank 1, must have 2 or more: batch, channels, …}}
  %y = "tri.channel_shuffle"(%x) {groups = 2} : (tensor<6xf32>) -> tensor<6xf32>
  return
}
