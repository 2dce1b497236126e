// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @weights_lack_words(%x: tensor<5x3x20xf32>, %r: tensor<1x2x1x16xi32>, %s: tensor<1x20xf32>, %z: tensor<1x20xi32>) {
  // expected-error @below {{'cpu.dot_lstm' op weight tensor<1x2x1x16xi32> does not hold 5x20 bytes in panels of VNNI words}}
  %y, %y_h, %y_c = "cpu.dot_lstm"(%x, %r, %s, %z) {hidden_size = 5, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0>}
      : (tensor<5x3x20xf32>, tensor<1x2x1x16xi32>, tensor<1x20xf32>, tensor<1x20xi32>) -> (tensor<5x1x3x5xf32>, tensor<1x3x5xf32>, tensor<1x3x5xf32>)
  return
}

// -----

func.func @sums_are_floats(%x: tensor<5x3x20xf32>, %r: tensor<1x2x2x16xi32>, %s: tensor<1x20xf32>, %z: tensor<1x20xf32>) {
  // expected-error @below {{'cpu.dot_lstm' op weight and sums have element types i32, f32, must be i32}}
  %y, %y_h, %y_c = "cpu.dot_lstm"(%x, %r, %s, %z) {hidden_size = 5, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0>}
      : (tensor<5x3x20xf32>, tensor<1x2x2x16xi32>, tensor<1x20xf32>, tensor<1x20xf32>) -> (tensor<5x1x3x5xf32>, tensor<1x3x5xf32>, tensor<1x3x5xf32>)
  return
}

// -----

func.func @sums_lack_columns(%x: tensor<5x3x20xf32>, %r: tensor<1x2x2x16xi32>, %s: tensor<1x20xf32>, %z: tensor<1x1xi32>) {
  // expected-error @below {{'cpu.dot_lstm' op sums are tensor<1x1xi32>, must have the shape of the scales, tensor<1x20xf32>}}
  %y, %y_h, %y_c = "cpu.dot_lstm"(%x, %r, %s, %z) {hidden_size = 5, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0>}
      : (tensor<5x3x20xf32>, tensor<1x2x2x16xi32>, tensor<1x20xf32>, tensor<1x1xi32>) -> (tensor<5x1x3x5xf32>, tensor<1x3x5xf32>, tensor<1x3x5xf32>)
  return
}
