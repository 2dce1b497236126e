// RUN: trivium-opt %s --verify-diagnostics

// The last axis meets the last but one.
func.func @inner_sizes_differ(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @below {{'tri.mat_mul' op contracts 3 with 4}}
  %y = "tri.mat_mul"(%a, %b) : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// Scalars are for `mul`.
func.func @product_of_a_scalar(%a: tensor<f32>, %b: tensor<2x2xf32>) {
  // expected-error @below {{'tri.mat_mul' op operands are tensor<f32> and tensor<2x2xf32>, must have at least one axis}}
  %y = "tri.mat_mul"(%a, %b) : (tensor<f32>, tensor<2x2xf32>) -> tensor<2xf32>
  return
}

// All axes before are batches.
func.func @batches_do_not_broadcast(%a: tensor<2x3x4xf32>, %b: tensor<3x4x5xf32>) {
  // expected-error @below {{'tri.mat_mul' op shapes 2 and 3 do not broadcast}}
  %y = "tri.mat_mul"(%a, %b) : (tensor<2x3x4xf32>, tensor<3x4x5xf32>) -> tensor<3x3x5xf32>
  return
}

// `gemm` is of matrices.
func.func @gemm_of_batches(%a: tensor<1x2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @below {{'tri.gemm' op operands are tensor<1x2x3xf32> and tensor<3x4xf32>, must be matrices}}
  %y = "tri.gemm"(%a, %b) : (tensor<1x2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// Transposed or not.
func.func @gemm_inner_sizes_differ(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @below {{'tri.gemm' op contracts 2 with 3}}
  %y = "tri.gemm"(%a, %b) {trans_a = true} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// The bias broadcasts to the product.
func.func @gemm_bias_is_too_large(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<1x2x4xf32>) {
  // expected-error @below {{'tri.gemm' op bias is tensor<1x2x4xf32>, must broadcast to the product's 2x4}}
  %y = "tri.gemm"(%a, %b, %c)
      : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<1x2x4xf32>) -> tensor<2x4xf32>
  return
}

// Indices are letters.
func.func @term_is_no_word(%a: tensor<2x3xf32>) {
  // expected-error @below {{'tri.einsum' op equation 'i1->1i' has the term 'i1', must be letters}}
  %y = "tri.einsum"(%a) {equation = "i1->1i"} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// Each output index comes once.
func.func @index_comes_twice(%a: tensor<2x3xf32>) {
  // expected-error @below {{'tri.einsum' op equation 'ij->ii' has output index 'i' twice or in no input}}
  %y = "tri.einsum"(%a) {equation = "ij->ii"} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// And from an input.
func.func @index_from_nowhere(%a: tensor<2x3xf32>) {
  // expected-error @below {{'tri.einsum' op equation 'ij->k' has output index 'k' twice or in no input}}
  %y = "tri.einsum"(%a) {equation = "ij->k"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// There is one term for each input.
func.func @one_term_too_many(%a: tensor<2x3xf32>) {
  // expected-error @below {{'tri.einsum' op equation names 2 inputs, there are 1}}
  %y = "tri.einsum"(%a) {equation = "ij,j->i"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// One index for each axis.
func.func @one_index_too_many(%a: tensor<2x3xf32>) {
  // expected-error @below {{'tri.einsum' op term 'ijk' names 3 axes, input has 2}}
  %y = "tri.einsum"(%a) {equation = "ijk->i"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// An index has one size throughout.
func.func @index_of_two_sizes(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @below {{'tri.einsum' op index 'j' has size 3 and 4, must be the same}}
  %y = "tri.einsum"(%a, %b) {equation = "ij,jk->ik"}
      : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// The weights of a layer have a column for each element of the last axis.
func.func @linear_contracts(%x: tensor<2x3xf32>, %w: tensor<4x5xf32>) {
  // expected-error @below {{'tri.linear' op contracts 3 with 5}}
  %0 = "tri.linear"(%x, %w) : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x4xf32>
  return
}

func.func @linear_of_many_matrices(%x: tensor<2x3xf32>, %w: tensor<1x4x3xf32>) {
  // expected-error @below {{'tri.linear' op operands are tensor<2x3xf32> and tensor<1x4x3xf32>, must have at least one axis, and be a matrix}}
  %0 = "tri.linear"(%x, %w) : (tensor<2x3xf32>, tensor<1x4x3xf32>) -> tensor<2x4xf32>
  return
}

func.func @linear_with_another_bias(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<1xf32>) {
  // expected-error @below {{'tri.linear' op bias is tensor<1xf32>, must have one axis of 4 elements}}
  %0 = "tri.linear"(%x, %w, %b) : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<1xf32>) -> tensor<2x4xf32>
  return
}
