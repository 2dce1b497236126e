// RUN: trivium-opt %s --verify-diagnostics

// Rows are not batches.
func.func @rows_in_batches(%a: tensor<1x5x3xf32>, %w: tensor<2x3x4xf32>, %index: tensor<5xi32>) {
  // expected-error @below {{'tri.indexed_mat_mul' op multiplies tensor<1x5x3xf32> by tensor<2x3x4xf32>, must be rows [M, K] by matrices [G, K, N]}}
  %y = "tri.indexed_mat_mul"(%a, %w, %index) : (tensor<1x5x3xf32>, tensor<2x3x4xf32>, tensor<5xi32>) -> tensor<5x4xf32>
  return
}

// A row is as long as a matrix is high.
func.func @inner_sizes_differ(%a: tensor<5x4xf32>, %w: tensor<2x3x4xf32>, %index: tensor<5xi32>) {
  // expected-error @below {{'tri.indexed_mat_mul' op contracts 4 with 3}}
  %y = "tri.indexed_mat_mul"(%a, %w, %index) : (tensor<5x4xf32>, tensor<2x3x4xf32>, tensor<5xi32>) -> tensor<5x4xf32>
  return
}

// Each row has an index.
func.func @index_of_each_matrix(%a: tensor<5x3xf32>, %w: tensor<2x3x4xf32>, %index: tensor<2xi32>) {
  // expected-error @below {{'tri.indexed_mat_mul' op has index tensor<2xi32> for rows tensor<5x3xf32>, must have one element for each row}}
  %y = "tri.indexed_mat_mul"(%a, %w, %index) : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  return
}

// Indices are integers.
func.func @index_of_floats(%a: tensor<5x3xf32>, %w: tensor<2x3x4xf32>, %index: tensor<5xf32>) {
  // expected-error @below {{'tri.indexed_mat_mul' op element type of index is 'f32', must be one of i32, i64}}
  %y = "tri.indexed_mat_mul"(%a, %w, %index) : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<5xf32>) -> tensor<5x4xf32>
  return
}

// Rows and matrices have one type.
func.func @types_differ(%a: tensor<5x3xf16>, %w: tensor<2x3x4xf32>, %index: tensor<5xi32>) {
  // expected-error @below {{'tri.indexed_mat_mul' op operands have element types f16, f32, must be the same}}
  %y = "tri.indexed_mat_mul"(%a, %w, %index) : (tensor<5x3xf16>, tensor<2x3x4xf32>, tensor<5xi32>) -> tensor<5x4xf16>
  return
}

// There are several matrices of few bits.
func.func @one_matrix_of_few_bits(%a: tensor<5x40xf32>, %w: tensor<2x3x8xui8>, %s: tensor<2x3xf32>, %index: tensor<5xi32>) {
  // expected-error @below {{'tri.indexed_block_mat_mul' op multiplies tensor<5x40xf32> by tensor<2x3x8xui8>, must be rows [M, K] by bytes [matrices, rows, blocks, bytes of one]}}
  %y = "tri.indexed_block_mat_mul"(%a, %w, %s, %index) {bits = 4, block = 16} : (tensor<5x40xf32>, tensor<2x3x8xui8>, tensor<2x3xf32>, tensor<5xi32>) -> tensor<5x2xf32>
  return
}

// Each matrix has scales.
func.func @scales_of_fewer_matrices(%a: tensor<5x40xf32>, %w: tensor<4x2x3x8xui8>, %s: tensor<3x2x3xf32>, %index: tensor<5xi32>) {
  // expected-error @below {{'tri.indexed_block_mat_mul' op has scales tensor<3x2x3xf32>, must be of 4 matrices}}
  %y = "tri.indexed_block_mat_mul"(%a, %w, %s, %index) {bits = 4, block = 16} : (tensor<5x40xf32>, tensor<4x2x3x8xui8>, tensor<3x2x3xf32>, tensor<5xi32>) -> tensor<5x2xf32>
  return
}
