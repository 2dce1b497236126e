// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @packed_weight_has_three_axes(%x: tensor<1x4x8x8xf32>, %w: tensor<1x9x4xf32>) {
  // expected-error @below {{'cpu.packed_conv' op weight has rank 3, must have 2: groups, packed kernels}}
  %0 = "cpu.packed_conv"(%x, %w) {block = 2, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, outputs = 1, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x8x8xf32>, tensor<1x9x4xf32>) -> tensor<1x1x6x6xf32>
  return
}

// -----

func.func @packed_block_is_empty(%x: tensor<1x4x8x8xf32>, %w: tensor<1x36xf32>) {
  // expected-error @below {{'cpu.packed_conv' op block is 0, must be at least 1}}
  %0 = "cpu.packed_conv"(%x, %w) {block = 0, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, outputs = 1, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x8x8xf32>, tensor<1x36xf32>) -> tensor<1x1x6x6xf32>
  return
}

// -----

func.func @packed_weight_is_short(%x: tensor<1x4x8x8xf32>, %w: tensor<1x35xf32>) {
  // expected-error @below {{'cpu.packed_conv' op weight tensor<1x35xf32> does not hold 1 kernels of (3, 3) in 1 groups}}
  %0 = "cpu.packed_conv"(%x, %w) {block = 1, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, outputs = 1, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x8x8xf32>, tensor<1x35xf32>) -> tensor<1x1x6x6xf32>
  return
}

// -----

func.func @panels_hold_too_many_outputs(%x: tensor<1x2x7xf32>, %w: tensor<2x6x4xf32>) {
  // expected-error @below {{'cpu.panel_conv' op weight tensor<2x6x4xf32> does not hold 9 columns}}
  %0 = "cpu.panel_conv"(%x, %w) {dilations = array<i64: 1>, kernel = array<i64: 3>, outputs = 9, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x7xf32>, tensor<2x6x4xf32>) -> tensor<1x9x5xf32>
  return
}

// -----

func.func @panels_do_not_hold_the_windows(%x: tensor<1x2x7xf32>, %w: tensor<2x5x4xf32>) {
  // expected-error @below {{'cpu.panel_conv' op weight tensor<2x5x4xf32> does not hold windows of (3,)}}
  %0 = "cpu.panel_conv"(%x, %w) {dilations = array<i64: 1>, kernel = array<i64: 3>, outputs = 5, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x7xf32>, tensor<2x5x4xf32>) -> tensor<1x5x5xf32>
  return
}

// -----

func.func @there_is_no_tile_of_three(%x: tensor<1x4x8x8xf32>, %u: tensor<64xf32>) {
  // expected-error @below {{'cpu.winograd_conv' op tile is 3, must be 2 or 4}}
  %0 = "cpu.winograd_conv"(%x, %u) {block = 1, outputs = 1, pads = array<i64: 0, 0, 0, 0>, tile = 3}
      : (tensor<1x4x8x8xf32>, tensor<64xf32>) -> tensor<1x1x6x6xf32>
  return
}

// -----

func.func @winograd_has_no_outputs(%x: tensor<1x4x8x8xf32>, %u: tensor<64xf32>) {
  // expected-error @below {{'cpu.winograd_conv' op outputs is 0, block is 1, must be at least 1}}
  %0 = "cpu.winograd_conv"(%x, %u) {block = 1, outputs = 0, pads = array<i64: 0, 0, 0, 0>, tile = 2}
      : (tensor<1x4x8x8xf32>, tensor<64xf32>) -> tensor<1x1x6x6xf32>
  return
}

// -----

func.func @winograd_weight_has_too_few_points(%x: tensor<1x4x8x8xf32>, %u: tensor<36xf32>) {
  // expected-error @below {{'cpu.winograd_conv' op weight is tensor<36xf32>, must hold 1 kernels for each of 16 points}}
  %0 = "cpu.winograd_conv"(%x, %u) {block = 1, outputs = 1, pads = array<i64: 0, 0, 0, 0>, tile = 2}
      : (tensor<1x4x8x8xf32>, tensor<36xf32>) -> tensor<1x1x6x6xf32>
  return
}
