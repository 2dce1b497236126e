// RUN: trivium-opt %s --verify-diagnostics

func.func @scalar(%x: tensor<f32>) {
  // expected-error @below {{'tri.unique' op input is a scalar, must have an axis}}
  %y:4 = "tri.unique"(%x) {count = 1}
      : (tensor<f32>) -> (tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
  return
}

func.func @axis_is_outside(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.unique' op axis 1 is outside [-1, 1) of a rank-1 tensor}}
  %y:4 = "tri.unique"(%x) {axis = 1, count = 1}
      : (tensor<4xf32>) -> (tensor<1xf32>, tensor<1xi64>, tensor<4xi64>, tensor<1xi64>)
  return
}
