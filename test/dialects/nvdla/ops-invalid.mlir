// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @depth(%x: tensor<1x8x5x5xi8>, %w: tensor<4x7x3x3xi8>) -> tensor<1x4x3x3xi32> {
  // expected-error @+1 {{weights are of 7 channels, x has 8}}
  %y = "nvdla.conv"(%x, %w) : (tensor<1x8x5x5xi8>, tensor<4x7x3x3xi8>) -> tensor<1x4x3x3xi32>
  return %y : tensor<1x4x3x3xi32>
}

// -----

func.func @floats(%x: tensor<1x8x5x5xbf16>) -> tensor<1x8x5x5xi8> {
  // expected-error @+1 {{source is tensor<1x8x5x5xbf16>, must be of i8 or i32 or f16 or f32 with rank 4, and not empty}}
  %y = "nvdla.sdp"(%x) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x8x5x5xbf16>) -> tensor<1x8x5x5xi8>
  return %y : tensor<1x8x5x5xi8>
}

// -----

func.func @two_types(%x: tensor<1x8x5x5xf16>, %w: tensor<4x8x3x3xi8>) -> tensor<1x4x3x3xf32> {
  // expected-error @+1 {{weights are of i8, x is of f16}}
  %y = "nvdla.conv"(%x, %w) : (tensor<1x8x5x5xf16>, tensor<4x8x3x3xi8>) -> tensor<1x4x3x3xf32>
  return %y : tensor<1x4x3x3xf32>
}

// -----

func.func @operand_of_bytes(%x: tensor<1x8x5x5xf16>, %f: tensor<8xi16>) -> tensor<1x8x5x5xf16> {
  // expected-error @+1 {{operand of stage x1 is tensor<8xi16>, must be tensor<8xf16>}}
  %y = "nvdla.sdp"(%x, %f) {x1 = "kind=1 mode=1 precision=2", operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>} : (tensor<1x8x5x5xf16>, tensor<8xi16>) -> tensor<1x8x5x5xf16>
  return %y : tensor<1x8x5x5xf16>
}

// -----

func.func @short_operand(%x: tensor<1x8x5x5xf16>, %f: tensor<8xf16>) -> tensor<1x8x5x5xf16> {
  // expected-error @+1 {{stage x1 has operands of precision 1, must be 2 for f16}}
  %y = "nvdla.sdp"(%x, %f) {x1 = "kind=1 mode=1 precision=1", operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>} : (tensor<1x8x5x5xf16>, tensor<8xf16>) -> tensor<1x8x5x5xf16>
  return %y : tensor<1x8x5x5xf16>
}

// -----

func.func @no_operand(%x: tensor<1x8x5x5xi8>) -> tensor<1x8x5x5xi8> {
  // expected-error @+1 {{stage x2 must have an operand if its mode is not 0, and none otherwise}}
  %y = "nvdla.sdp"(%x) {x2 = "kind=1 mode=1", operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x8x5x5xi8>) -> tensor<1x8x5x5xi8>
  return %y : tensor<1x8x5x5xi8>
}

// -----

func.func @wrong_operand(%x: tensor<1x8x5x5xi8>, %f: tensor<7xi16>) -> tensor<1x8x5x5xi8> {
  // expected-error @+1 {{operand of stage x2 is tensor<7xi16>, must be tensor<8xi16>}}
  %y = "nvdla.sdp"(%x, %f) {x2 = "kind=1 mode=1 precision=1", operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>} : (tensor<1x8x5x5xi8>, tensor<7xi16>) -> tensor<1x8x5x5xi8>
  return %y : tensor<1x8x5x5xi8>
}

// -----

func.func @wrong_bytes(%x: tensor<1x8x5x5xi8>, %f: tensor<7xi16>) -> tensor<1x8x5x5xi8> {
  // expected-error @+1 {{operand of stage x2 is tensor<7xi16>, must be tensor<1x8x1x1xi8>}}
  %y = "nvdla.sdp"(%x, %f) {x2 = "kind=1 mode=1 precision=0", operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>} : (tensor<1x8x5x5xi8>, tensor<7xi16>) -> tensor<1x8x5x5xi8>
  return %y : tensor<1x8x5x5xi8>
}

// -----

func.func @no_field(%x: tensor<1x8x5x5xi8>) -> tensor<1x8x5x5xi8> {
  // expected-error @+1 {{has field 'shfit', must be one of}}
  %y = "nvdla.sdp"(%x) {x1 = "shfit=1", operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x8x5x5xi8>) -> tensor<1x8x5x5xi8>
  return %y : tensor<1x8x5x5xi8>
}

// -----

func.func @large_window(%x: tensor<1x8x9x9xi8>) -> tensor<1x8x1x1xi8> {
  // expected-error @+1 {{kernel is (9, 9), must be 8 or less}}
  %y = "nvdla.pdp"(%x) {mode = "average", kernel = array<i64: 9, 9>} : (tensor<1x8x9x9xi8>) -> tensor<1x8x1x1xi8>
  return %y : tensor<1x8x1x1xi8>
}

// -----

func.func @outside(%x: tensor<1x8x4x4xi8>) -> tensor<1x8x3x4xi8> {
  // expected-error @+1 {{has elements 2 to 5, must be in 0 to 4}}
  %y = "nvdla.window"(%x) {start = array<i64: 0, 2, 0>, sizes = array<i64: 8, 3, 4>} : (tensor<1x8x4x4xi8>) -> tensor<1x8x3x4xi8>
  return %y : tensor<1x8x3x4xi8>
}

// -----

func.func @unequal(%x: tensor<1x8x4x4xi8>, %z: tensor<1x8x4x5xi8>) -> tensor<1x16x4x4xi8> {
  // expected-error @+1 {{joins (1, 8, 4, 4) and (1, 8, 4, 5) along axis 1}}
  %y = "nvdla.join"(%x, %z) {axis = 1 : i64} : (tensor<1x8x4x4xi8>, tensor<1x8x4x5xi8>) -> tensor<1x16x4x4xi8>
  return %y : tensor<1x16x4x4xi8>
}

// -----

func.func @channels(%d: tensor<1x24x4x4xi8>) -> tensor<1x3x8x8xi8> {
  // expected-error @+1 {{x has 24 channels, must have 32}}
  %r = "nvdla.contract"(%d) {channels = 3 : i64, atom = 8 : i64, strides = array<i64: 2, 2>} : (tensor<1x24x4x4xi8>) -> tensor<1x3x8x8xi8>
  return %r : tensor<1x3x8x8xi8>
}

// -----

func.func @no_size(%x: tensor<1x8x4x4xi8>, %t: tensor<322xi16>) -> tensor<1x8x4x4xi8> {
  // expected-error @+1 {{has windows of 4 channels}}
  %n = "nvdla.cdp"(%x, %t) {local_size = 4 : i64} : (tensor<1x8x4x4xi8>, tensor<322xi16>) -> tensor<1x8x4x4xi8>
  return %n : tensor<1x8x4x4xi8>
}

// -----

func.func @pixels(%x: tensor<1x2x4x4xi8>, %w: tensor<8x2x1x1xi8>) -> tensor<1x8x4x4xi32> {
  // expected-error @+1 {{x has 2 channels, pixels T_R8 have 1}}
  %s = "nvdla.conv"(%x, %w) {pixels = "R8"} : (tensor<1x2x4x4xi8>, tensor<8x2x1x1xi8>) -> tensor<1x8x4x4xi32>
  return %s : tensor<1x8x4x4xi32>
}

// -----

func.func @planes(%x: tensor<1x3x4x4xi8>, %w: tensor<8x3x1x1xi8>) -> tensor<1x8x4x4xi32> {
  // expected-error @+1 {{pixels are 'Y8___U8V8_N444', must be a format of one plane of bytes}}
  %s = "nvdla.conv"(%x, %w) {pixels = "Y8___U8V8_N444"} : (tensor<1x3x4x4xi8>, tensor<8x3x1x1xi8>) -> tensor<1x8x4x4xi32>
  return %s : tensor<1x8x4x4xi32>
}

// -----

func.func @softmax_of_pixels(%x: tensor<1x5x2x1xf16>) -> tensor<1x5x2x1xf16> {
  // expected-error @+1 {{x is tensor<1x5x2x1xf16>, must have images of one pixel}}
  %y = "nvdla.softmax"(%x) : (tensor<1x5x2x1xf16>) -> tensor<1x5x2x1xf16>
  return %y : tensor<1x5x2x1xf16>
}

// -----

func.func @softmax_of_bytes(%x: tensor<1x5x1x1xi8>) -> tensor<1x5x1x1xi8> {
  // expected-error @+1 {{x is tensor<1x5x1x1xi8>, must be of f16 with rank 4, and not empty}}
  %y = "nvdla.softmax"(%x) : (tensor<1x5x1x1xi8>) -> tensor<1x5x1x1xi8>
  return %y : tensor<1x5x1x1xi8>
}

// -----

func.func @power_of_bytes(%x: tensor<1x5x1x1xi8>) -> tensor<1x5x1x1xi8> {
  // expected-error @+1 {{x is tensor<1x5x1x1xi8>, must be of f16 with rank 4, and not empty}}
  %y = "nvdla.power"(%x) {power = 0.5 : f64} : (tensor<1x5x1x1xi8>) -> tensor<1x5x1x1xi8>
  return %y : tensor<1x5x1x1xi8>
}

// -----

func.func @winograd_of_bytes(%x: tensor<1x8x8x8xi8>, %w: tensor<4x8x4x4xi8>) -> tensor<1x4x4x4xi32> {
  // expected-error @+1 {{x is of i8, must be of f16 with winograd}}
  %s = "nvdla.conv"(%x, %w) {winograd = true} : (tensor<1x8x8x8xi8>, tensor<4x8x4x4xi8>) -> tensor<1x4x4x4xi32>
  return %s : tensor<1x4x4x4xi32>
}

// -----

func.func @winograd_of_taps(%x: tensor<1x8x8x8xf16>, %w: tensor<4x8x3x3xf16>) -> tensor<1x4x4x4xf32> {
  // expected-error @+1 {{weights have 3x3, must have 4x4 with winograd}}
  %s = "nvdla.conv"(%x, %w) {winograd = true} : (tensor<1x8x8x8xf16>, tensor<4x8x3x3xf16>) -> tensor<1x4x4x4xf32>
  return %s : tensor<1x4x4x4xf32>
}

// -----

func.func @winograd_strides(%x: tensor<1x8x8x8xf16>, %w: tensor<4x8x4x4xf16>) -> tensor<1x4x4x4xf32> {
  // expected-error @+1 {{strides are (2, 2), must be (1, 1) with winograd}}
  %s = "nvdla.conv"(%x, %w) {strides = array<i64: 2, 2>, winograd = true} : (tensor<1x8x8x8xf16>, tensor<4x8x4x4xf16>) -> tensor<1x4x4x4xf32>
  return %s : tensor<1x4x4x4xf32>
}

// -----

func.func @winograd_dilations(%x: tensor<1x8x8x8xf16>, %w: tensor<4x8x4x4xf16>) -> tensor<1x4x4x4xf32> {
  // expected-error @+1 {{dilations are (2, 1), must be (1, 1) with winograd}}
  %s = "nvdla.conv"(%x, %w) {dilations = array<i64: 2, 1>, winograd = true} : (tensor<1x8x8x8xf16>, tensor<4x8x4x4xf16>) -> tensor<1x4x4x4xf32>
  return %s : tensor<1x4x4x4xf32>
}

// -----

func.func @winograd_of_parts_of_tiles(%x: tensor<1x8x8x8xf16>, %w: tensor<4x8x4x4xf16>) -> tensor<1x4x4x4xf32> {
  // expected-error @+1 {{the padded image has 8x10, must have multiples of 4 from 8 on with winograd}}
  %s = "nvdla.conv"(%x, %w) {pads = array<i64: 0, 1, 0, 1>, winograd = true} : (tensor<1x8x8x8xf16>, tensor<4x8x4x4xf16>) -> tensor<1x4x4x4xf32>
  return %s : tensor<1x4x4x4xf32>
}

// -----

func.func @winograd_of_one_tile(%x: tensor<1x8x8x4xf16>, %w: tensor<4x8x4x4xf16>) -> tensor<1x4x4x4xf32> {
  // expected-error @+1 {{the padded image has 8x4, must have multiples of 4 from 8 on with winograd}}
  %s = "nvdla.conv"(%x, %w) {winograd = true} : (tensor<1x8x8x4xf16>, tensor<4x8x4x4xf16>) -> tensor<1x4x4x4xf32>
  return %s : tensor<1x4x4x4xf32>
}
