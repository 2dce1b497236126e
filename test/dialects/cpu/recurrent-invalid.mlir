// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @inputs_lack_gates(%x: tensor<5x3x8xf32>, %r: tensor<1x2x4x4x2xf32>) {
  // expected-error @below {{'cpu.packed_lstm' op input is tensor<5x3x8xf32>, must have 3 axes, the last one of 16}}
  %y, %y_h, %y_c = "cpu.packed_lstm"(%x, %r) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>}
      : (tensor<5x3x8xf32>, tensor<1x2x4x4x2xf32>) -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>)
  return
}

// -----

func.func @weights_lack_panels(%x: tensor<5x3x12xf32>, %r: tensor<1x1x4x2x4xf32>) {
  // expected-error @below {{'cpu.packed_gru' op weight tensor<1x1x4x2x4xf32> does not hold 2 and 1 gates of 4 units in panels}}
  %y, %y_h = "cpu.packed_gru"(%x, %r) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}
      : (tensor<5x3x12xf32>, tensor<1x1x4x2x4xf32>) -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>)
  return
}

// -----

func.func @bias_is_scaled(%x: tensor<5x3x12xf32>, %r: tensor<1x2x4x2x4xf32>, %b: tensor<1x4xf32>) {
  // expected-error @below {{'cpu.packed_gru' op bias is tensor<1x4xf32>, must be 1x4, for linear_before_reset}}
  %y, %y_h = "cpu.packed_gru"(%x, %r, %b) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>}
      : (tensor<5x3x12xf32>, tensor<1x2x4x2x4xf32>, tensor<1x4xf32>) -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>)
  return
}

// -----

func.func @projection_lacks_panels(%x: tensor<5x3x16xf32>, %r: tensor<1x2x3x4x2xf32>, %p: tensor<1x1x3x1x8xf32>) {
  // expected-error @below {{'cpu.packed_lstm' op projection tensor<1x1x3x1x8xf32> does not hold 1 gates of 3 units in panels}}
  %y, %y_h, %y_c = "cpu.packed_lstm"(%x, %r, %p) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 1>}
      : (tensor<5x3x16xf32>, tensor<1x2x3x4x2xf32>, tensor<1x1x3x1x8xf32>) -> (tensor<5x1x3x3xf32>, tensor<1x3x3xf32>, tensor<1x3x4xf32>)
  return
}
