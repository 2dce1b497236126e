// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @quantises_half_floats_as_others(%x: tensor<3xf16>) {
  // expected-error @below {{'tri.quantize' op quantises tensor<3xf16> to numbers that stand for f32}}
  %0 = "tri.quantize"(%x) {to = "!quant.uniform<i8:f32, 1.0>"} : (tensor<3xf16>) -> tensor<3xi8>
  return
}

// -----

func.func @quantises_to_wide_integers(%x: tensor<3xf32>) {
  // expected-error @below {{'tri.quantize' op quantises to i32, must be an integer of at most 16 bits}}
  %0 = "tri.quantize"(%x) {to = "!quant.uniform<i32:f32, 1.0>"} : (tensor<3xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @dequantises_as_another_type(%x: tensor<3xi8>) {
  // expected-error @below {{'tri.dequantize' op dequantises !quant.uniform<i8:f32, 1.000000e+00>, its operand is i8}}
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 1.0>"} : (tensor<3xi8>) -> tensor<3xf32>
  return
}

// -----

func.func @casts_integers_to_integers(%x: tensor<3xi8>) {
  // expected-error @below {{'tri.storage_cast' op casts i8 to ui8, one of them must be quantised}}
  %0 = "tri.storage_cast"(%x) {to = "ui8"} : (tensor<3xi8>) -> tensor<3xui8>
  return
}

// -----

func.func @casts_other_integers(%x: tensor<3xui8>) {
  // expected-error @below {{'tri.storage_cast' op casts between ui8 and !quant.uniform<i8:f32, 1.000000e+00>, which is held in i8}}
  %0 = "tri.storage_cast"(%x) {to = "!quant.uniform<i8:f32, 1.0>"} : (tensor<3xui8>) -> tensor<3xi8>
  return
}

// -----

func.func @requantises_bytes(%x: tensor<3xi8>) {
  // expected-error @below {{'tri.requantize' op requantises i8, must be i32}}
  %0 = "tri.requantize"(%x) {multiplier = array<i64: 5>, shift = array<i64: 3>, low = 0, high = 1, to = "i8"} : (tensor<3xi8>) -> tensor<3xi8>
  return
}

// -----

func.func @unknown_rounding(%x: tensor<3xi32>) {
  // expected-error @below {{'tri.requantize' op rounding is 'down', must be one of half_away, half_even, half_up}}
  %0 = "tri.requantize"(%x) {multiplier = array<i64: 5>, shift = array<i64: 3>, low = 0, high = 1, rounding = "down", to = "i8"} : (tensor<3xi32>) -> tensor<3xi8>
  return
}

// -----

func.func @clamps_beyond_the_type(%x: tensor<3xi32>) {
  // expected-error @below {{'tri.requantize' op clamps to 0:300, must be in -128:127 of i8}}
  %0 = "tri.requantize"(%x) {multiplier = array<i64: 5>, shift = array<i64: 3>, low = 0, high = 300, to = "i8"} : (tensor<3xi32>) -> tensor<3xi8>
  return
}

// -----

func.func @far_zero_point(%x: tensor<3xi32>) {
  // expected-error @below {{'tri.requantize' op zero_point is 4294967296, must fit in i32}}
  %0 = "tri.requantize"(%x) {multiplier = array<i64: 5>, shift = array<i64: 3>, low = 0, high = 1, zero_point = 4294967296, to = "i8"} : (tensor<3xi32>) -> tensor<3xi8>
  return
}

// -----

func.func @shifts_for_some(%x: tensor<3xi32>) {
  // expected-error @below {{'tri.requantize' op has 3 multipliers and 1 shifts, must be as many}}
  %0 = "tri.requantize"(%x) {multiplier = array<i64: 5, 6, 7>, shift = array<i64: 3>, low = 0, high = 1, to = "i8"} : (tensor<3xi32>) -> tensor<3xi8>
  return
}

// -----

func.func @multipliers_for_some(%x: tensor<3xi32>) {
  // expected-error @below {{'tri.requantize' op has 2 multipliers for axis 0 of [3]}}
  %0 = "tri.requantize"(%x) {multiplier = array<i64: 5, 6>, shift = array<i64: 3, 4>, low = 0, high = 1, to = "i8"} : (tensor<3xi32>) -> tensor<3xi8>
  return
}

// -----

func.func @large_multiplier(%x: tensor<3xi32>) {
  // expected-error @below {{'tri.requantize' op multiplier is 2147483648, must be in [0, 2^31)}}
  %0 = "tri.requantize"(%x) {multiplier = array<i64: 2147483648>, shift = array<i64: 3>, low = 0, high = 1, to = "i8"} : (tensor<3xi32>) -> tensor<3xi8>
  return
}

// -----

func.func @shifts_left(%x: tensor<3xi32>) {
  // expected-error @below {{'tri.requantize' op shift is -1, must be 0 to 62}}
  %0 = "tri.requantize"(%x) {multiplier = array<i64: 5>, shift = array<i64: -1>, low = 0, high = 1, to = "i8"} : (tensor<3xi32>) -> tensor<3xi8>
  return
}

// -----

func.func @mean_of_bytes(%x: tensor<3xi8>, %n: tensor<3xi32>) {
  // expected-error @below {{'tri.requantize_mean' op requantises tensor<3xi8> divided by tensor<3xi32>, both must be of i32}}
  %0 = "tri.requantize_mean"(%x, %n) {multiplier = 5, shift = 3, low = 0, high = 1, to = "i8"} : (tensor<3xi8>, tensor<3xi32>) -> tensor<3xi8>
  return
}

// -----

func.func @more_counts_than_sums(%x: tensor<3xi32>, %n: tensor<2x3xi32>) {
  // expected-error @below {{'tri.requantize_mean' op divides tensor<3xi32> by tensor<2x3xi32>, which must broadcast to it}}
  %0 = "tri.requantize_mean"(%x, %n) {multiplier = 5, shift = 3, low = 0, high = 1, to = "i8"} : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<3xi8>
  return
}

func.func @rows_of_doubles(%x: tensor<2x8xf64>) {
  // expected-error @below {{'tri.quantize_rows' op rounds rows of tensor<2x8xf64>, must have an axis, and be of f32 or less}}
  %0:2 = "tri.quantize_rows"(%x) : (tensor<2x8xf64>) -> (tensor<2x8xi8>, tensor<2xf32>)
  return
}
