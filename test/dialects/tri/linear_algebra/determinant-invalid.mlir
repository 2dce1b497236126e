// RUN: trivium-opt %s --verify-diagnostics

// A determinant is of a square matrix.
func.func @matrix_is_not_square(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{'tri.det' op input is tensor<2x3x4xf32>, must have square matrices in its last two axes}}
  %y = "tri.det"(%x) : (tensor<2x3x4xf32>) -> tensor<2xf32>
  return
}
