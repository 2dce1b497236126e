// RUN: trivium-opt %s --verify-diagnostics

// A constant has the type of its value.
func.func @constant_of_another_type() {
  // expected-error @below {{'tri.constant' op result is tensor<2xf32>, inferred tensor<3xf32>}}
  %y = "tri.constant"() {value = dense<0.0> : tensor<3xf32>} : () -> tensor<2xf32>
  return
}

// A weight has the type that it names.
func.func @weight_of_another_type() {
  // expected-error @below {{'tri.weight' op result is tensor<2xf32>, inferred tensor<3xf32>}}
  %y = "tri.weight"() {name = "w", type = tensor<3xf32>} : () -> tensor<2xf32>
  return
}

// And a name to find it by.
func.func @weight_without_a_name() {
  // expected-error @below {{'tri.weight' op lacks attribute 'name'}}
  %y = "tri.weight"() {type = tensor<2xf32>} : () -> tensor<2xf32>
  return
}
