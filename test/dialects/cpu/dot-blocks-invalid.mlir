// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @rounds_integers(%x: tensor<2x32xi32>) {
  // expected-error @below {{'cpu.quantize_blocks' op element type of x is 'i32', must be one of f32, f16, bf16}}
  %n, %s, %t = "cpu.quantize_blocks"(%x) {block = 32} : (tensor<2x32xi32>) -> (tensor<1x2x32xi8>, tensor<1x2xf32>, tensor<1x2xi32>)
  return
}

// -----

func.func @rounds_odd_blocks(%x: tensor<2x32xf32>) {
  // expected-error @below {{'cpu.quantize_blocks' op has blocks of 24, must be a power of two from 16 on}}
  %n, %s, %t = "cpu.quantize_blocks"(%x) {block = 24} : (tensor<2x32xf32>) -> (tensor<2x2x24xi8>, tensor<2x2xf32>, tensor<2x2xi32>)
  return
}

// -----

func.func @rounds_long_blocks(%x: tensor<2x32xf32>) {
  // expected-error @below {{'cpu.quantize_blocks' op rounds blocks of 65536, must be of at most 32768}}
  %n, %s, %t = "cpu.quantize_blocks"(%x) {block = 65536} : (tensor<2x32xf32>) -> (tensor<1x2x65536xi8>, tensor<1x2xf32>, tensor<1x2xi32>)
  return
}

// -----

func.func @rounds_a_number(%x: tensor<f32>) {
  // expected-error @below {{'cpu.quantize_blocks' op rounds blocks of tensor<f32>, must have an axis}}
  %n, %s, %t = "cpu.quantize_blocks"(%x) {block = 32} : (tensor<f32>) -> (tensor<1x32xi8>, tensor<1xf32>, tensor<1xi32>)
  return
}

// -----

func.func @multiplies_unsigned_bytes(%a: tensor<3x2x16xui8>, %s: tensor<3x2xf32>, %t: tensor<3x2xi32>, %w: tensor<1x3x96xui8>) {
  // expected-error @below {{'cpu.dot_block_mat_mul' op multiplies tensor<3x2x16xui8>, must be i8 [blocks, …, elements of one]}}
  %0 = "cpu.dot_block_mat_mul"(%a, %s, %t, %w) {bits = 4, block = 16, columns = 5} : (tensor<3x2x16xui8>, tensor<3x2xf32>, tensor<3x2xi32>, tensor<1x3x96xui8>) -> tensor<2x5xf32>
  return
}

// -----

func.func @blocks_differ(%a: tensor<3x2x32xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xi32>, %w: tensor<1x3x96xui8>) {
  // expected-error @below {{'cpu.dot_block_mat_mul' op has blocks of 16, tensor<3x2x32xi8> has others}}
  %0 = "cpu.dot_block_mat_mul"(%a, %s, %t, %w) {bits = 4, block = 16, columns = 5} : (tensor<3x2x32xi8>, tensor<3x2xf32>, tensor<3x2xi32>, tensor<1x3x96xui8>) -> tensor<2x5xf32>
  return
}

// -----

func.func @a_scale_is_missing(%a: tensor<3x2x16xi8>, %s: tensor<3x1xf32>, %t: tensor<3x2xi32>, %w: tensor<1x3x96xui8>) {
  // expected-error @below {{'cpu.dot_block_mat_mul' op has scales tensor<3x1xf32> of a, must be tensor<3x2xf32>}}
  %0 = "cpu.dot_block_mat_mul"(%a, %s, %t, %w) {bits = 4, block = 16, columns = 5} : (tensor<3x2x16xi8>, tensor<3x1xf32>, tensor<3x2xi32>, tensor<1x3x96xui8>) -> tensor<2x5xf32>
  return
}

// -----

func.func @sums_are_floats(%a: tensor<3x2x16xi8>, %s: tensor<3x2xf32>, %t: tensor<3x2xf32>, %w: tensor<1x3x96xui8>) {
  // expected-error @below {{'cpu.dot_block_mat_mul' op has sums tensor<3x2xf32> of a, must be tensor<3x2xi32>}}
  %0 = "cpu.dot_block_mat_mul"(%a, %s, %t, %w) {bits = 4, block = 16, columns = 5} : (tensor<3x2x16xi8>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<1x3x96xui8>) -> tensor<2x5xf32>
  return
}

// -----

func.func @a_block_is_missing(%a: tensor<4x2x16xi8>, %s: tensor<4x2xf32>, %t: tensor<4x2xi32>, %w: tensor<1x3x96xui8>) {
  // expected-error @below {{'cpu.dot_block_mat_mul' op has 3 blocks of 16, tensor<4x2x16xi8> needs 4}}
  %0 = "cpu.dot_block_mat_mul"(%a, %s, %t, %w) {bits = 4, block = 16, columns = 5} : (tensor<4x2x16xi8>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<1x3x96xui8>) -> tensor<2x5xf32>
  return
}

// -----

func.func @one_matrix_by_index(%a: tensor<3x7x16xi8>, %s: tensor<3x7xf32>, %t: tensor<3x7xi32>, %w: tensor<1x3x80xui8>, %i: tensor<7xi64>) {
  // expected-error @below {{'cpu.dot_indexed_block_mat_mul' op multiplies tensor<3x7x16xi8> by tensor<1x3x80xui8>, must be [blocks, rows, elements of one] by bytes [matrices, panels, blocks, bytes of one]}}
  %0 = "cpu.dot_indexed_block_mat_mul"(%a, %s, %t, %w, %i) {bits = 4, block = 16, columns = 5, scales = "f16"} : (tensor<3x7x16xi8>, tensor<3x7xf32>, tensor<3x7xi32>, tensor<1x3x80xui8>, tensor<7xi64>) -> tensor<7x5xf32>
  return
}

// -----

func.func @index_of_fewer_rows(%a: tensor<3x7x16xi8>, %s: tensor<3x7xf32>, %t: tensor<3x7xi32>, %w: tensor<2x1x3x80xui8>, %i: tensor<6xi64>) {
  // expected-error @below {{'cpu.dot_indexed_block_mat_mul' op has index tensor<6xi64> for rows tensor<7x16xi8>, must have one element for each row}}
  %0 = "cpu.dot_indexed_block_mat_mul"(%a, %s, %t, %w, %i) {bits = 4, block = 16, columns = 5, scales = "f16"} : (tensor<3x7x16xi8>, tensor<3x7xf32>, tensor<3x7xi32>, tensor<2x1x3x80xui8>, tensor<6xi64>) -> tensor<7x5xf32>
  return
}
