// RUN: trivium-opt %s --verify-diagnostics

// Each pair of classes has two probabilities.
func.func @matrix_is_not_square(%x: tensor<5x3x4xf32>) {
  // expected-error @below {{'tri.couple_pairs' op pairs are tensor<5x3x4xf32>, must have one square matrix for each row}}
  %y = "tri.couple_pairs"(%x) : (tensor<5x3x4xf32>) -> tensor<5x3xf32>
  return
}
