// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @multiplies_integers(%a: tensor<2x40xi32>, %w: tensor<1x3x96xui8>) {
  // expected-error @below {{'cpu.packed_block_mat_mul' op element type of a is 'i32', must be one of f32, f16, bf16}}
  %0 = "cpu.packed_block_mat_mul"(%a, %w) {bits = 4, block = 16, columns = 5} : (tensor<2x40xi32>, tensor<1x3x96xui8>) -> tensor<2x5xi32>
  return
}

// -----

func.func @three_bits(%a: tensor<2x40xf32>, %w: tensor<1x3x96xui8>) {
  // expected-error @below {{'cpu.packed_block_mat_mul' op has elements of 3 bits, must be of 2, 4, 8}}
  %0 = "cpu.packed_block_mat_mul"(%a, %w) {bits = 3, block = 16, columns = 5} : (tensor<2x40xf32>, tensor<1x3x96xui8>) -> tensor<2x5xf32>
  return
}

// -----

func.func @scales_are_integers(%a: tensor<2x40xf32>, %w: tensor<1x3x96xui8>) {
  // expected-error @below {{'cpu.packed_block_mat_mul' op scales is 'i32', must be one of f32, f16, bf16}}
  %0 = "cpu.packed_block_mat_mul"(%a, %w) {bits = 4, block = 16, columns = 5, scales = "i32"} : (tensor<2x40xf32>, tensor<1x3x96xui8>) -> tensor<2x5xf32>
  return
}

// -----

func.func @zero_points_are_signed(%a: tensor<2x40xf32>, %w: tensor<1x3x104xui8>) {
  // expected-error @below {{'cpu.packed_block_mat_mul' op zero_points is 'i8', must be one of ui8, f32, f16, bf16}}
  %0 = "cpu.packed_block_mat_mul"(%a, %w) {bits = 4, block = 16, columns = 5, zero_points = "i8"} : (tensor<2x40xf32>, tensor<1x3x104xui8>) -> tensor<2x5xf32>
  return
}

// -----

func.func @words_are_flat(%a: tensor<2x40xf32>, %w: tensor<3x96xui8>) {
  // expected-error @below {{'cpu.packed_block_mat_mul' op multiplies tensor<2x40xf32> by tensor<3x96xui8>, must be by bytes [panels, blocks, bytes of one]}}
  %0 = "cpu.packed_block_mat_mul"(%a, %w) {bits = 4, block = 16, columns = 5} : (tensor<2x40xf32>, tensor<3x96xui8>) -> tensor<2x5xf32>
  return
}

// -----

func.func @a_block_is_missing(%a: tensor<2x50xf32>, %w: tensor<1x3x96xui8>) {
  // expected-error @below {{'cpu.packed_block_mat_mul' op has 3 blocks of 16, tensor<2x50xf32> needs 4}}
  %0 = "cpu.packed_block_mat_mul"(%a, %w) {bits = 4, block = 16, columns = 5} : (tensor<2x50xf32>, tensor<1x3x96xui8>) -> tensor<2x5xf32>
  return
}

// -----

func.func @a_column_is_cut(%a: tensor<2x40xf32>, %w: tensor<1x3x95xui8>) {
  // expected-error @below {{'cpu.packed_block_mat_mul' op has blocks of 95 bytes, must be of 12 for each column}}
  %0 = "cpu.packed_block_mat_mul"(%a, %w) {bits = 4, block = 16, columns = 5} : (tensor<2x40xf32>, tensor<1x3x95xui8>) -> tensor<2x5xf32>
  return
}

// -----

func.func @columns_are_missing(%a: tensor<2x40xf32>, %w: tensor<1x3x96xui8>) {
  // expected-error @below {{'cpu.packed_block_mat_mul' op weight tensor<1x3x96xui8> does not hold 9 columns}}
  %0 = "cpu.packed_block_mat_mul"(%a, %w) {bits = 4, block = 16, columns = 9} : (tensor<2x40xf32>, tensor<1x3x96xui8>) -> tensor<2x9xf32>
  return
}

// -----

func.func @multiplies_a_number(%a: tensor<f32>, %w: tensor<1x3x96xui8>) {
  // expected-error @below {{'cpu.packed_block_mat_mul' op multiplies tensor<f32> by tensor<1x3x96xui8>, must have an axis}}
  %0 = "cpu.packed_block_mat_mul"(%a, %w) {bits = 4, block = 16, columns = 5} : (tensor<f32>, tensor<1x3x96xui8>) -> tensor<5xf32>
  return
}
