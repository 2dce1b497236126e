// RUN: trivium-opt %s --verify-diagnostics

// An inverse is of a square matrix.
func.func @matrix_is_not_square(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{'tri.inverse' op input is tensor<2x3x4xf32>, must have square matrices in its last two axes}}
  %y = "tri.inverse"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}
