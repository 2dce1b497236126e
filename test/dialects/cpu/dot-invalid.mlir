// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @wide_elements_fill_no_words(%a: tensor<3x8xi16>, %w: tensor<1x2x4xi32>, %b: tensor<4xi32>) {
  // expected-error @below {{'cpu.dot_mat_mul' op input has element type i16, must be one of ui8, i8, bf16}}
  %0 = "cpu.dot_mat_mul"(%a, %w, %b) {columns = 4} : (tensor<3x8xi16>, tensor<1x2x4xi32>, tensor<4xi32>) -> tensor<3x4xi32>
  return
}

// -----

func.func @weights_are_not_words(%a: tensor<3x8xui8>, %w: tensor<1x8x4xi8>, %b: tensor<4xi32>) {
  // expected-error @below {{'cpu.dot_mat_mul' op weight has element type i8, must be i32: VNNI words}}
  %0 = "cpu.dot_mat_mul"(%a, %w, %b) {columns = 4} : (tensor<3x8xui8>, tensor<1x8x4xi8>, tensor<4xi32>) -> tensor<3x4xi32>
  return
}

// -----

func.func @bias_has_the_type_of_sums(%a: tensor<3x8xbf16>, %w: tensor<1x4x4xi32>, %b: tensor<4xbf16>) {
  // expected-error @below {{'cpu.dot_mat_mul' op bias is tensor<4xbf16>, must be tensor<4xf32>}}
  %0 = "cpu.dot_mat_mul"(%a, %w, %b) {columns = 4} : (tensor<3x8xbf16>, tensor<1x4x4xi32>, tensor<4xbf16>) -> tensor<3x4xbf16>
  return
}

// -----

func.func @bytes_fill_fewer_words(%a: tensor<3x8xui8>, %w: tensor<1x3x4xi32>, %b: tensor<4xi32>) {
  // expected-error @below {{'cpu.dot_mat_mul' op contracts tensor<3x8xui8> with 3 words of 4}}
  %0 = "cpu.dot_mat_mul"(%a, %w, %b) {columns = 4} : (tensor<3x8xui8>, tensor<1x3x4xi32>, tensor<4xi32>) -> tensor<3x4xi32>
  return
}

// -----

func.func @padding_is_no_byte(%x: tensor<1x4x8xui8>, %w: tensor<1x3xi32>, %b: tensor<1xi32>) {
  // expected-error @below {{'cpu.dot_conv' op padding is -1, must be from 0 to 255 in ui8}}
  %0 = "cpu.dot_conv"(%x, %w, %b) {block = 1, dilations = array<i64: 1>, kernel = array<i64: 3>, outputs = 1, padding = -1, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x4x8xui8>, tensor<1x3xi32>, tensor<1xi32>) -> tensor<1x1x6xi32>
  return
}

// -----

func.func @halves_are_padded_with_zeros(%x: tensor<1x2x8xbf16>, %w: tensor<1x3xi32>, %b: tensor<1xf32>) {
  // expected-error @below {{'cpu.dot_conv' op padding is 1, must be from 0 to 0 in bf16}}
  %0 = "cpu.dot_conv"(%x, %w, %b) {block = 1, dilations = array<i64: 1>, kernel = array<i64: 3>, outputs = 1, padding = 1, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x8xbf16>, tensor<1x3xi32>, tensor<1xf32>) -> tensor<1x1x6xbf16>
  return
}

// -----

func.func @kernels_have_groups(%x: tensor<1x4x8xui8>, %w: tensor<3xi32>, %b: tensor<1xi32>) {
  // expected-error @below {{'cpu.dot_conv' op weight has rank 1, must have 2: groups, packed kernels}}
  %0 = "cpu.dot_conv"(%x, %w, %b) {block = 1, dilations = array<i64: 1>, kernel = array<i64: 3>, outputs = 1, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x4x8xui8>, tensor<3xi32>, tensor<1xi32>) -> tensor<1x1x6xi32>
  return
}

// -----

func.func @block_is_empty(%x: tensor<1x4x8xui8>, %w: tensor<1x3xi32>, %b: tensor<1xi32>) {
  // expected-error @below {{'cpu.dot_conv' op block is 0, must be at least 1}}
  %0 = "cpu.dot_conv"(%x, %w, %b) {block = 0, dilations = array<i64: 1>, kernel = array<i64: 3>, outputs = 1, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x4x8xui8>, tensor<1x3xi32>, tensor<1xi32>) -> tensor<1x1x6xi32>
  return
}

// -----

func.func @groups_do_not_split_channels(%x: tensor<1x4x8xui8>, %w: tensor<3x3xi32>, %b: tensor<3xi32>) {
  // expected-error @below {{'cpu.dot_conv' op 3 groups do not split tensor<1x4x8xui8> and 3 outputs}}
  %0 = "cpu.dot_conv"(%x, %w, %b) {block = 1, dilations = array<i64: 1>, kernel = array<i64: 3>, outputs = 3, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x4x8xui8>, tensor<3x3xi32>, tensor<3xi32>) -> tensor<1x3x6xi32>
  return
}

// -----

func.func @weight_is_short(%x: tensor<1x5x8xui8>, %w: tensor<1x3xi32>, %b: tensor<1xi32>) {
  // expected-error @below {{'cpu.dot_conv' op weight tensor<1x3xi32> does not hold 1 kernels of (3,) in 2 words}}
  %0 = "cpu.dot_conv"(%x, %w, %b) {block = 1, dilations = array<i64: 1>, kernel = array<i64: 3>, outputs = 1, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x5x8xui8>, tensor<1x3xi32>, tensor<1xi32>) -> tensor<1x1x6xi32>
  return
}

// -----

func.func @panels_do_not_hold_the_windows(%x: tensor<1x5x7xui8>, %w: tensor<2x5x4xi32>, %b: tensor<5xi32>) {
  // expected-error @below {{'cpu.dot_panel_conv' op weight tensor<2x5x4xi32> does not hold windows of (3,) in tensor<1x5x7xui8>}}
  %0 = "cpu.dot_panel_conv"(%x, %w, %b) {dilations = array<i64: 1>, kernel = array<i64: 3>, outputs = 5, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x5x7xui8>, tensor<2x5x4xi32>, tensor<5xi32>) -> tensor<1x5x5xi32>
  return
}

// -----

func.func @halves_are_signed(%a: tensor<3x8xbf16>, %w: tensor<1x4x4xi32>, %b: tensor<4xf32>) {
  // expected-error @below {{'cpu.dot_mat_mul' op input has element type bf16, signed ones must be ui8 or i8}}
  %0 = "cpu.dot_mat_mul"(%a, %w, %b) {columns = 4, signed = true} : (tensor<3x8xbf16>, tensor<1x4x4xi32>, tensor<4xf32>) -> tensor<3x4xbf16>
  return
}

// -----

func.func @blocked_images_have_their_border(%x: tensor<1x2x7x4xui8>, %w: tensor<2x6x4xi32>, %b: tensor<8xi32>) {
  // expected-error @below {{'cpu.blocked_dot_conv' op pads a blocked image by (1, 1), must have its border in memory}}
  %0 = "cpu.blocked_dot_conv"(%x, %w, %b) {dilations = array<i64: 1>, kernel = array<i64: 3>, lanes = 4, outputs = 8, pads = array<i64: 1, 1>, strides = array<i64: 1>}
      : (tensor<1x2x7x4xui8>, tensor<2x6x4xi32>, tensor<8xi32>) -> tensor<1x2x7x4xi32>
  return
}

// -----

func.func @plain_images_have_no_border(%x: tensor<1x4x7xui8>, %w: tensor<2x3x4xi32>, %b: tensor<8xi32>) {
  // expected-error @below {{'cpu.blocked_dot_conv' op has a border of tensor<1x4x7xui8>, must be a blocked image of bf16 or ui8}}
  %0 = "cpu.blocked_dot_conv"(%x, %w, %b) {border = array<i64: 1, 1>, dilations = array<i64: 1>, kernel = array<i64: 3>, lanes = 4, outputs = 8, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x4x7xui8>, tensor<2x3x4xi32>, tensor<8xi32>) -> tensor<1x2x5x4xi32>
  return
}

// -----

func.func @blocks_are_parts_of_words(%x: tensor<1x4x7x2xui8>, %w: tensor<2x6x4xi32>, %b: tensor<8xi32>) {
  // expected-error @below {{'cpu.blocked_dot_conv' op reads words of 4 in blocks of 2}}
  %0 = "cpu.blocked_dot_conv"(%x, %w, %b) {dilations = array<i64: 1>, kernel = array<i64: 3>, lanes = 4, outputs = 8, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x4x7x2xui8>, tensor<2x6x4xi32>, tensor<8xi32>) -> tensor<1x2x5x4xi32>
  return
}

// -----

// The fifth result sees pixels 4 to 6, and its word has pixel 7, too.
func.func @words_end_behind_the_image(%x: tensor<1x1x7x4xui8>, %w: tensor<1x2x1x4xi32>, %b: tensor<4xi32>) {
  // expected-error @below {{'cpu.lane_dot_conv' op image tensor<1x1x7x4xui8> ends before 8 pixels that windows see}}
  %0 = "cpu.lane_dot_conv"(%x, %w, %b) {kernel = array<i64: 3>, sizes = array<i64: 5>, strides = array<i64: 1>}
      : (tensor<1x1x7x4xui8>, tensor<1x2x1x4xi32>, tensor<4xi32>) -> tensor<1x1x5x4xi32>
  return
}

// -----

func.func @places_of_words_have_kernels(%x: tensor<1x1x8x4xui8>, %w: tensor<1x1x1x4xi32>, %b: tensor<4xi32>) {
  // expected-error @below {{'cpu.lane_dot_conv' op weight is tensor<1x1x1x4xi32>, must have the shape (1, 2, 1, 4)}}
  %0 = "cpu.lane_dot_conv"(%x, %w, %b) {kernel = array<i64: 3>, sizes = array<i64: 5>, strides = array<i64: 1>}
      : (tensor<1x1x8x4xui8>, tensor<1x1x1x4xi32>, tensor<4xi32>) -> tensor<1x1x5x4xi32>
  return
}

// -----

func.func @lanes_have_bytes(%x: tensor<1x1x8x4xbf16>, %w: tensor<1x2x1x4xi32>, %b: tensor<4xf32>) {
  // expected-error @below {{'cpu.lane_dot_conv' op convolves tensor<1x1x8x4xbf16>, must be bytes}}
  %0 = "cpu.lane_dot_conv"(%x, %w, %b) {kernel = array<i64: 3>, sizes = array<i64: 5>, strides = array<i64: 1>}
      : (tensor<1x1x8x4xbf16>, tensor<1x2x1x4xi32>, tensor<4xf32>) -> tensor<1x1x5x4xbf16>
  return
}
