// RUN: trivium-opt %s --verify-diagnostics

// Sizes are integers.
func.func @a_fraction(%x: tensor<f32>) attributes {trivium.symbols = {u0 = "0.."}} {
  // expected-error @below {{'tri.define_sizes' op element type is f32, must be an integer}}
  %y = "tri.define_sizes"(%x) {sizes = ["u0"]} : (tensor<f32>) -> tensor<i64>
  return
}

// One for each name.
func.func @too_many(%x: tensor<3xi64>) attributes {trivium.symbols = {a = "0..", b = "0.."}} {
  // expected-error @below {{'tri.define_sizes' op input is tensor<3xi64>, must be a list of 2 numbers}}
  %y = "tri.define_sizes"(%x) {sizes = ["a", "b"]} : (tensor<3xi64>) -> tensor<3xi64>
  return
}

func.func @limits_of_some(%x: tensor<2xi64>) attributes {trivium.symbols = {c = "0..", d = "0.."}} {
  // expected-error @below {{'tri.define_sizes' op has 1 limits, must have 2}}
  %y = "tri.define_sizes"(%x) {limits = array<i64: 5>, sizes = ["c", "d"]}
      : (tensor<2xi64>) -> tensor<2xi64>
  return
}
