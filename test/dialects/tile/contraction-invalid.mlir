// RUN: trivium-opt %s --verify-diagnostics

// Matrices have one size in common.
func.func @depths_differ(%a: tensor<4x8xf32>, %b: tensor<?x4xf32, ["BK", ""]>, %acc: tensor<4x4xf32>) {
  // expected-error @below {{'tile.dot' op multiplies tile<4x8xf32> by tile<BKx4xf32>, must be matrices with one size in common}}
  %0 = "tile.dot"(%a, %b, %acc) : (tensor<4x8xf32>, tensor<?x4xf32, ["BK", ""]>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// They are of one type.
func.func @factors_differ(%a: tensor<4x8xi8>, %b: tensor<8x4xui8>, %acc: tensor<4x4xi32>) {
  // expected-error @below {{'tile.dot' op multiplies i8 by ui8, must be two of one type: f64, f32, f16, bf16, i8, ui8, f8E4M3FN, f8E5M2}}
  %0 = "tile.dot"(%a, %b, %acc) : (tensor<4x8xi8>, tensor<8x4xui8>, tensor<4x4xi32>) -> tensor<4x4xi32>
  return
}

// One that products are defined for.
func.func @factors_are_wide(%a: tensor<4x8xi32>, %b: tensor<8x4xi32>, %acc: tensor<4x4xi32>) {
  // expected-error @below {{'tile.dot' op multiplies i32 by i32, must be two of one type: f64, f32, f16, bf16, i8, ui8, f8E4M3FN, f8E5M2}}
  %0 = "tile.dot"(%a, %b, %acc) : (tensor<4x8xi32>, tensor<8x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  return
}

// Floats of 8 bits, too, are of one type.
func.func @floats_of_8_bits_differ(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x4xf8E5M2>, %acc: tensor<4x4xf32>) {
  // expected-error @below {{'tile.dot' op multiplies f8E4M3FN by f8E5M2, must be two of one type}}
  %0 = "tile.dot"(%a, %b, %acc) : (tensor<4x8xf8E4M3FN>, tensor<8x4xf8E5M2>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// Their sums are of f32.
func.func @sums_are_no_f32(%a: tensor<4x8xf8E5M2>, %b: tensor<8x4xf8E5M2>, %acc: tensor<4x4xf16>) {
  // expected-error @below {{'tile.dot' op adds to tile<4x4xf16>, must be tile<4x4xf32>}}
  %0 = "tile.dot"(%a, %b, %acc) : (tensor<4x8xf8E5M2>, tensor<8x4xf8E5M2>, tensor<4x4xf16>) -> tensor<4x4xf16>
  return
}

// Matrix units have no other floats of 8 bits, which tiles do not hold.
func.func @floats_are_without_negative_zero(%a: tensor<4x4xf8E4M3FNUZ>, %acc: tensor<4x4xf32>) {
  // expected-error @below {{'tile.dot' op tensor<4x4xf8E4M3FNUZ> has element type f8E4M3FNUZ, must be one of f64, f32,}}
  %0 = "tile.dot"(%a, %a, %acc) : (tensor<4x4xf8E4M3FNUZ>, tensor<4x4xf8E4M3FNUZ>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// Floats of 8 bits are multiplied, not combined.
func.func @reduces_floats_of_8_bits(%x: tensor<4xf8E4M3FN>) {
  // expected-error @below {{'tile.reduce' op takes elements of f8E4M3FN, which must be cast first}}
  %0 = "tile.reduce"(%x) {axis = 0, kind = "max"} : (tensor<4xf8E4M3FN>) -> tensor<f8E4M3FN>
  return
}

// Nor summed up.
func.func @scans_floats_of_8_bits(%x: tensor<4xf8E5M2>) {
  // expected-error @below {{'tile.scan' op takes elements of f8E5M2, which must be cast first}}
  %0 = "tile.scan"(%x) {axis = 0, kind = "sum"} : (tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  return
}

// Sums are wider than factors.
func.func @sums_are_narrow(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %acc: tensor<4x4xf16>) {
  // expected-error @below {{'tile.dot' op adds to tile<4x4xf16>, must be tile<4x4xf32>}}
  %0 = "tile.dot"(%a, %b, %acc) : (tensor<4x8xf16>, tensor<8x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  return
}

// Precision has a name.
func.func @precision_is_unknown(%a: tensor<4x4xf32>) {
  // expected-error @below {{'tile.dot' op precision is 'fp8', must be one of ieee, tf32}}
  %0 = "tile.dot"(%a, %a, %a) {precision = "fp8"} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// So has a reduction.
func.func @reduction_is_unknown(%x: tensor<4x4xf32>) {
  // expected-error @below {{'tile.reduce' op kind is 'mean', must be one of sum, prod, max, min, argmax, argmin}}
  %0 = "tile.reduce"(%x) {axis = 0, kind = "mean"} : (tensor<4x4xf32>) -> tensor<4xf32>
  return
}

// It is of numbers.
func.func @reduces_bools(%x: tensor<4x4xi1>) {
  // expected-error @below {{'tile.reduce' op kind max takes numbers, not i1}}
  %0 = "tile.reduce"(%x) {axis = 0, kind = "max"} : (tensor<4x4xi1>) -> tensor<4xi1>
  return
}

// Along a dimension that there is.
func.func @reduces_a_scalar(%x: tensor<f32>) {
  // expected-error @below {{'tile.reduce' op axis is 0, must be in [0, 0)}}
  %0 = "tile.reduce"(%x) {axis = 0, kind = "sum"} : (tensor<f32>) -> tensor<f32>
  return
}

// Axes do not count backwards.
func.func @expands_before_the_last(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.expand' op axis is -1, must be in [0, 2)}}
  %0 = "tile.expand"(%x) {axis = -1} : (tensor<4xf32>) -> tensor<4x1xf32>
  return
}

// Not every reduction is a scan.
func.func @scan_is_unknown(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.scan' op kind is 'max', must be one of sum, prod}}
  %0 = "tile.scan"(%x) {axis = 0, kind = "max"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// Only matrices are turned.
func.func @turns_a_row(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.transpose' op transposes tile<4xf32>, must be a matrix}}
  %0 = "tile.transpose"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
