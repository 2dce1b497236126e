// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @weights_are_bytes(%x: tensor<5x3x8xf32>, %r: tensor<1x2x8xi8>, %s: tensor<1x8xf32>) {
  // expected-error @below {{'tri.quantized_lstm' op r has element type i8, must be i32}}
  %y, %y_h, %y_c = "tri.quantized_lstm"(%x, %r, %s) {hidden_size = 2, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}
      : (tensor<5x3x8xf32>, tensor<1x2x8xi8>, tensor<1x8xf32>) -> (tensor<5x1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>)
  return
}

// -----

func.func @scales_are_halves(%x: tensor<5x3x8xf32>, %r: tensor<1x2x8xi32>, %s: tensor<1x8xf16>) {
  // expected-error @below {{'tri.quantized_lstm' op input and scales have element types f32, f16, must be f32}}
  %y, %y_h, %y_c = "tri.quantized_lstm"(%x, %r, %s) {hidden_size = 2, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}
      : (tensor<5x3x8xf32>, tensor<1x2x8xi32>, tensor<1x8xf16>) -> (tensor<5x1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>)
  return
}

// -----

func.func @inputs_lack_gates(%x: tensor<5x3x4xf32>, %r: tensor<1x2x8xi32>, %s: tensor<1x8xf32>) {
  // expected-error @below {{'tri.quantized_lstm' op input is tensor<5x3x4xf32>, must have 3 axes, the last one of 8}}
  %y, %y_h, %y_c = "tri.quantized_lstm"(%x, %r, %s) {hidden_size = 2, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}
      : (tensor<5x3x4xf32>, tensor<1x2x8xi32>, tensor<1x8xf32>) -> (tensor<5x1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>)
  return
}

// -----

func.func @scales_lack_columns(%x: tensor<5x3x8xf32>, %r: tensor<1x2x8xi32>, %s: tensor<1x1xf32>) {
  // expected-error @below {{'tri.quantized_lstm' op r_scale is tensor<1x1xf32>, must have shape 1x8}}
  %y, %y_h, %y_c = "tri.quantized_lstm"(%x, %r, %s) {hidden_size = 2, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}
      : (tensor<5x3x8xf32>, tensor<1x2x8xi32>, tensor<1x1xf32>) -> (tensor<5x1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>)
  return
}
