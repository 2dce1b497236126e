// RUN: trivium-opt %s --verify-diagnostics

// Axes have one form: sorted.
func.func @axes_are_not_sorted(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{'tri.reduce_sum' op axes are [2, 1], must be sorted and not negative: [1, 2]}}
  %y = "tri.reduce_sum"(%x) {axes = array<i64: 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x1x1xf32>
  return
}

// And counted from the front.
func.func @axes_are_negative(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{'tri.reduce_max' op axes are [-1], must be sorted and not negative: [2]}}
  %y = "tri.reduce_max"(%x) {axes = array<i64: -1>} : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
  return
}

// Sums are of numbers.
func.func @sum_of_bools(%x: tensor<2xi1>) {
  // expected-error @below {{'tri.reduce_sum' op element type is i1, must be a number}}
  %y = "tri.reduce_sum"(%x) {axes = array<i64: 0>} : (tensor<2xi1>) -> tensor<1xi1>
  return
}

// What is to be cast first is not compared either.
func.func @greatest_of_narrow(%x: tensor<2xi4>) {
  // expected-error @below {{'tri.reduce_max' op element type is i4, must be one to compute with: cast it}}
  %y = "tri.reduce_max"(%x) {axes = array<i64: 0>, keepdims = false} : (tensor<2xi4>) -> tensor<i4>
  return
}
