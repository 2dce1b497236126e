// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @blocks_do_not_fit(%x: tensor<1x6x8x9xf32>) {
  // expected-error @below {{'cpu.block' op cuts 6 channels into blocks of 4}}
  %0 = "cpu.block"(%x) {lanes = 4} : (tensor<1x6x8x9xf32>) -> tensor<1x1x8x9x4xf32>
  return
}

// -----

func.func @block_needs_channels(%x: tensor<6xf32>) {
  // expected-error @below {{'cpu.block' op image has rank 1, must have at least 2}}
  %0 = "cpu.block"(%x) {lanes = 2} : (tensor<6xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @unblock_needs_blocks(%x: tensor<6x2xf32>) {
  // expected-error @below {{'cpu.unblock' op image has rank 2, must have at least 3: it is blocked}}
  %0 = "cpu.unblock"(%x) : (tensor<6x2xf32>) -> tensor<12xf32>
  return
}

// -----

func.func @border_of_one_axis(%x: tensor<1x1x8x9x4xf32>, %w: tensor<1x36x8xf32>) {
  // expected-error @below {{'cpu.blocked_conv' op border has 2 numbers, must have 4 or none}}
  %0 = "cpu.blocked_conv"(%x, %w) {border = array<i64: 1, 1>, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, lanes = 4, outputs = 8, strides = array<i64: 1, 1>}
      : (tensor<1x1x8x9x4xf32>, tensor<1x36x8xf32>) -> tensor<1x2x6x7x4xf32>
  return
}

// -----

func.func @border_is_larger_than_the_image(%x: tensor<1x1x8x9x4xf32>, %w: tensor<1x36x8xf32>) {
  // expected-error @below {{'cpu.blocked_conv' op border is 5 and 4, must be within a size of 8}}
  %0 = "cpu.blocked_conv"(%x, %w) {border = array<i64: 5, 0, 4, 0>, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, lanes = 4, outputs = 8, strides = array<i64: 1, 1>}
      : (tensor<1x1x8x9x4xf32>, tensor<1x36x8xf32>) -> tensor<1x2x6x7x4xf32>
  return
}

// -----

func.func @plain_image_in_groups(%x: tensor<1x4x8x9xf32>, %w: tensor<2x18x4xf32>) {
  // expected-error @below {{'cpu.blocked_conv' op has 2 groups, must have 1 for an image that is not blocked}}
  %0 = "cpu.blocked_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, lanes = 4, outputs = 8, strides = array<i64: 1, 1>, group = 2}
      : (tensor<1x4x8x9xf32>, tensor<2x18x4xf32>) -> tensor<1x2x6x7x4xf32>
  return
}

// -----

func.func @groups_are_parts_of_blocks(%x: tensor<1x1x8x9x4xf32>, %w: tensor<2x18x4xf32>) {
  // expected-error @below {{'cpu.blocked_conv' op has groups of 2 channels and 4 outputs, must be whole blocks of 4 and 4}}
  %0 = "cpu.blocked_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, lanes = 4, outputs = 8, strides = array<i64: 1, 1>, group = 2}
      : (tensor<1x1x8x9x4xf32>, tensor<2x18x4xf32>) -> tensor<1x2x6x7x4xf32>
  return
}

// -----

func.func @panels_are_not_of_all_groups(%x: tensor<1x2x8x9x4xf32>, %w: tensor<3x36x4xf32>) {
  // expected-error @below {{'cpu.blocked_conv' op weight tensor<3x36x4xf32> does not hold 8 kernels in 2 groups}}
  %0 = "cpu.blocked_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, lanes = 4, outputs = 8, strides = array<i64: 1, 1>, group = 2}
      : (tensor<1x2x8x9x4xf32>, tensor<3x36x4xf32>) -> tensor<1x2x6x7x4xf32>
  return
}

// -----

func.func @panels_do_not_hold_windows(%x: tensor<1x1x8x9x4xf32>, %w: tensor<1x35x8xf32>) {
  // expected-error @below {{'cpu.blocked_conv' op weight tensor<1x35x8xf32> does not hold windows of (3, 3)}}
  %0 = "cpu.blocked_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, lanes = 4, outputs = 8, strides = array<i64: 1, 1>}
      : (tensor<1x1x8x9x4xf32>, tensor<1x35x8xf32>) -> tensor<1x2x6x7x4xf32>
  return
}

// -----

func.func @tile_has_negative_rows(%x: tensor<1x1x8x9x4xf32>, %w: tensor<1x36x8xf32>) {
  // expected-error @below {{'cpu.blocked_conv' op rows is -1, must be at least 0}}
  %0 = "cpu.blocked_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, lanes = 4, outputs = 8, strides = array<i64: 1, 1>, rows = -1}
      : (tensor<1x1x8x9x4xf32>, tensor<1x36x8xf32>) -> tensor<1x2x6x7x4xf32>
  return
}

// -----

func.func @lanes_of_another_width(%x: tensor<1x2x8x9x4xf32>, %w: tensor<1x9x1x8xf32>) {
  // expected-error @below {{'cpu.lane_conv' op weight tensor<1x9x1x8xf32> has blocks of 8, the image of 4}}
  %0 = "cpu.lane_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>}
      : (tensor<1x2x8x9x4xf32>, tensor<1x9x1x8xf32>) -> tensor<1x2x6x7x4xf32>
  return
}

// -----

func.func @groups_do_not_make_up_a_block(%x: tensor<1x2x8x9x4xf32>, %w: tensor<2x9x3x4xf32>) {
  // expected-error @below {{'cpu.lane_conv' op weight tensor<2x9x3x4xf32> has groups of 3 channels, must be parts of 4}}
  %0 = "cpu.lane_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>}
      : (tensor<1x2x8x9x4xf32>, tensor<2x9x3x4xf32>) -> tensor<1x2x6x7x4xf32>
  return
}

// -----

func.func @lanes_of_other_windows(%x: tensor<1x2x8x9x4xf32>, %w: tensor<2x8x1x4xf32>) {
  // expected-error @below {{'cpu.lane_conv' op weight tensor<2x8x1x4xf32> does not hold blocks of kernels of (3, 3)}}
  %0 = "cpu.lane_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>}
      : (tensor<1x2x8x9x4xf32>, tensor<2x8x1x4xf32>) -> tensor<1x2x6x7x4xf32>
  return
}

// -----

func.func @image_ends_within_a_tile(%x: tensor<1x1x9x10x4xf32>, %u: tensor<1x16x4x8xf32>) {
  // expected-error @below {{'cpu.blocked_winograd_conv' op image is [9, 10], must be [10, 10] for 2x2 tiles of (7, 8)}}
  %0 = "cpu.blocked_winograd_conv"(%x, %u) {outputs = 4, sizes = array<i64: 7, 8>, tile = 2}
      : (tensor<1x1x9x10x4xf32>, tensor<1x16x4x8xf32>) -> tensor<1x1x7x8x4xf32>
  return
}

// -----

func.func @kernels_of_other_planes(%x: tensor<1x1x5x10x10x4xf32>, %u: tensor<1x16x8x8xf32>) {
  // expected-error @below {{'cpu.blocked_winograd_conv' op weight tensor<1x16x8x8xf32> has 8 channels, must have 12}}
  %0 = "cpu.blocked_winograd_conv"(%x, %u) {outputs = 4, sizes = array<i64: 3, 7, 8>, tile = 2}
      : (tensor<1x1x5x10x10x4xf32>, tensor<1x16x8x8xf32>) -> tensor<1x1x3x7x8x4xf32>
  return
}

// -----

func.func @more_planes_than_there_are(%x: tensor<1x1x3x10x10x4xf32>, %u: tensor<1x16x4x8xf32>) {
  // expected-error @below {{'cpu.blocked_winograd_conv' op sizes are (4, 7, 8), must have 3 planes at most}}
  %0 = "cpu.blocked_winograd_conv"(%x, %u) {outputs = 4, sizes = array<i64: 4, 7, 8>, tile = 2}
      : (tensor<1x1x3x10x10x4xf32>, tensor<1x16x4x8xf32>) -> tensor<1x1x4x7x8x4xf32>
  return
}

// -----

func.func @sizes_of_a_plane_for_a_volume(%x: tensor<1x1x3x10x10x4xf32>, %u: tensor<1x16x4x8xf32>) {
  // expected-error @below {{'cpu.blocked_winograd_conv' op sizes are (7, 8), must be three for tensor<1x1x3x10x10x4xf32>}}
  %0 = "cpu.blocked_winograd_conv"(%x, %u) {outputs = 4, sizes = array<i64: 7, 8>, tile = 2}
      : (tensor<1x1x3x10x10x4xf32>, tensor<1x16x4x8xf32>) -> tensor<1x1x3x7x8x4xf32>
  return
}

// -----

func.func @kernels_of_other_tiles(%x: tensor<1x1x10x10x4xf32>, %u: tensor<1x36x4x8xf32>) {
  // expected-error @below {{'cpu.blocked_winograd_conv' op weight is tensor<1x36x4x8xf32>, must hold kernels for each of 16 points}}
  %0 = "cpu.blocked_winograd_conv"(%x, %u) {outputs = 4, sizes = array<i64: 7, 8>, tile = 2}
      : (tensor<1x1x10x10x4xf32>, tensor<1x36x4x8xf32>) -> tensor<1x1x7x8x4xf32>
  return
}

// -----

func.func @tiles_of_three(%x: tensor<1x1x10x10x4xf32>, %u: tensor<1x16x4x8xf32>) {
  // expected-error @below {{'cpu.blocked_winograd_conv' op tile is 3, must be 2 or 4}}
  %0 = "cpu.blocked_winograd_conv"(%x, %u) {outputs = 4, sizes = array<i64: 7, 8>, tile = 3}
      : (tensor<1x1x10x10x4xf32>, tensor<1x16x4x8xf32>) -> tensor<1x1x7x8x4xf32>
  return
}

// -----

func.func @transpose_has_other_axes(%x: tensor<1x1x7x4xf32>, %w: tensor<2x8x8xf32>) {
  // expected-error @below {{'cpu.blocked_conv_transpose' op image tensor<1x1x7x4xf32> does not have the axes of kernel (2, 2) and its strides}}
  %0 = "cpu.blocked_conv_transpose"(%x, %w) {outputs = 8, kernel = array<i64: 2, 2>, strides = array<i64: 2>, crops = array<i64: 1>, sizes = array<i64: 10>}
      : (tensor<1x1x7x4xf32>, tensor<2x8x8xf32>) -> tensor<1x2x10x4xf32>
  return
}

// -----

func.func @transpose_crops_a_stride(%x: tensor<1x1x7x4xf32>, %w: tensor<2x8x8xf32>) {
  // expected-error @below {{'cpu.blocked_conv_transpose' op crops 2 results of stride 2, must be fewer than that}}
  %0 = "cpu.blocked_conv_transpose"(%x, %w) {outputs = 8, kernel = array<i64: 2>, strides = array<i64: 2>, crops = array<i64: 2>, sizes = array<i64: 10>}
      : (tensor<1x1x7x4xf32>, tensor<2x8x8xf32>) -> tensor<1x2x10x4xf32>
  return
}

// -----

func.func @transpose_makes_part_of_a_stride(%x: tensor<1x1x7x4xf32>, %w: tensor<2x8x8xf32>) {
  // expected-error @below {{'cpu.blocked_conv_transpose' op makes 9 results, must be a multiple of the stride 2}}
  %0 = "cpu.blocked_conv_transpose"(%x, %w) {outputs = 8, kernel = array<i64: 2>, strides = array<i64: 2>, crops = array<i64: 1>, sizes = array<i64: 9>}
      : (tensor<1x1x7x4xf32>, tensor<2x8x8xf32>) -> tensor<1x2x10x4xf32>
  return
}

// -----

func.func @transpose_sees_too_little(%x: tensor<1x1x6x4xf32>, %w: tensor<2x8x8xf32>) {
  // expected-error @below {{'cpu.blocked_conv_transpose' op image has 6 pixels on an axis, must have at least 7}}
  %0 = "cpu.blocked_conv_transpose"(%x, %w) {outputs = 8, kernel = array<i64: 2>, strides = array<i64: 2>, crops = array<i64: 1>, sizes = array<i64: 10>}
      : (tensor<1x1x6x4xf32>, tensor<2x8x8xf32>) -> tensor<1x2x10x4xf32>
  return
}

// -----

func.func @transpose_lacks_phases(%x: tensor<1x1x7x4xf32>, %w: tensor<1x8x8xf32>) {
  // expected-error @below {{'cpu.blocked_conv_transpose' op weight tensor<1x8x8xf32> does not hold 8 kernels for each of 2 phases}}
  %0 = "cpu.blocked_conv_transpose"(%x, %w) {outputs = 8, kernel = array<i64: 2>, strides = array<i64: 2>, crops = array<i64: 1>, sizes = array<i64: 10>}
      : (tensor<1x1x7x4xf32>, tensor<1x8x8xf32>) -> tensor<1x2x10x4xf32>
  return
}

// -----

func.func @transpose_lacks_bias(%x: tensor<1x1x7x4xf32>, %w: tensor<2x8x8xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{'cpu.blocked_conv_transpose' op bias is tensor<4xf32>, must have one axis of 8 elements}}
  %0 = "cpu.blocked_conv_transpose"(%x, %w, %b) {outputs = 8, kernel = array<i64: 2>, strides = array<i64: 2>, crops = array<i64: 1>, sizes = array<i64: 10>}
      : (tensor<1x1x7x4xf32>, tensor<2x8x8xf32>, tensor<4xf32>) -> tensor<1x2x10x4xf32>
  return
}
