// RUN: trivium-opt %s --verify-diagnostics

// `gelu` is exact or by tanh.
func.func @gelu_by_guess(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.gelu' op approximate is 'sigmoid', must be one of none, tanh}}
  %y = "tri.gelu"(%x) {approximate = "sigmoid"} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// `clip` has float bounds; integers go by minimum and maximum.
func.func @clips_integers(%x: tensor<2xi32>) {
  // expected-error @below {{'tri.clip' op element type is i32, must be a float}}
  %y = "tri.clip"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// A slope broadcasts to the input, never the other way.
func.func @slope_adds_an_axis(%x: tensor<3xf32>, %slope: tensor<2x3xf32>) {
  // expected-error @below {{'tri.prelu' op slope is tensor<2x3xf32>, must broadcast to tensor<3xf32>}}
  %y = "tri.prelu"(%x, %slope) : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
