// RUN: trivium-opt %s --verify-diagnostics

// What an op finds has a name, or is a number.
func.func @finds_an_expression(%x: tensor<4xf32>) attributes {trivium.symbols = {u0 = "0.."}} {
  // expected-error @below {{'tri.non_zero' op finds size u0 + 1, must be one symbol}}
  %y = "tri.non_zero"(%x) {count = "u0 + 1"} : (tensor<4xf32>) -> tensor<1x?xi64, ["", "u0 + 1"]>
  return
}

// A number of elements is not negative.
func.func @finds_less_than_nothing(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.non_zero' op finds size -1, must be at least 0}}
  %y = "tri.non_zero"(%x) {count = -1} : (tensor<4xf32>) -> tensor<1x0xi64>
  return
}

// The result has the size that is found.
func.func @result_has_another_size(%x: tensor<4xf32>) attributes {trivium.symbols = {v0 = "0.."}} {
  // expected-error @below {{'tri.non_zero' op result is tensor<1x4xi64>, inferred tensor<1x?xi64, ["", "v0"]>}}
  %y = "tri.non_zero"(%x) {count = "v0"} : (tensor<4xf32>) -> tensor<1x4xi64>
  return
}

// A condition is a list of bools.
func.func @condition_of_numbers(%x: tensor<4xf32>, %condition: tensor<4xi8>) {
  // expected-error @below {{'tri.compress' op element type is i8, must be i1}}
  %y = "tri.compress"(%x, %condition) {count = 2} : (tensor<4xf32>, tensor<4xi8>) -> tensor<2xf32>
  return
}

func.func @condition_of_two_axes(%x: tensor<4xf32>, %condition: tensor<1x4xi1>) {
  // expected-error @below {{'tri.compress' op condition is tensor<1x4xi1>, must have rank 1}}
  %y = "tri.compress"(%x, %condition) {count = 2}
      : (tensor<4xf32>, tensor<1x4xi1>) -> tensor<2xf32>
  return
}

// No longer than the axis.
func.func @condition_is_too_long(%x: tensor<4xf32>, %condition: tensor<5xi1>) {
  // expected-error @below {{'tri.compress' op condition has 5 elements, must have at most 4}}
  %y = "tri.compress"(%x, %condition) {count = 2} : (tensor<4xf32>, tensor<5xi1>) -> tensor<2xf32>
  return
}
