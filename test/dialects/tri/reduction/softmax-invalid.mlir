// RUN: trivium-opt %s --verify-diagnostics

// Probabilities are floats.
func.func @softmax_of_integers(%x: tensor<2x4xi32>) {
  // expected-error @below {{'tri.softmax' op element type is i32, must be a float}}
  %y = "tri.softmax"(%x) : (tensor<2x4xi32>) -> tensor<2x4xi32>
  return
}

// The axis is one of the input's.
func.func @axis_is_outside(%x: tensor<2x4xf32>) {
  // expected-error @below {{'tri.log_softmax' op axis 2 is outside [-2, 2) of a rank-2 tensor}}
  %y = "tri.log_softmax"(%x) {axis = 2} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
