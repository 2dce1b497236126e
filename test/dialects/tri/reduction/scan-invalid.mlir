// RUN: trivium-opt %s --verify-diagnostics

// The largest of no elements is nowhere.
func.func @searches_nothing(%x: tensor<2x0xf32>) {
  // expected-error @below {{'tri.arg_max' op searches axis 1 of tensor<2x0xf32>, which has size 0}}
  %y = "tri.arg_max"(%x) {axis = 1} : (tensor<2x0xf32>) -> tensor<2x1xi64>
  return
}

// The best five of four.
func.func @takes_more_than_there_are(%x: tensor<2x4xf32>) {
  // expected-error @below {{'tri.top_k' op takes 5 of the 4 elements of axis 1}}
  %y:2 = "tri.top_k"(%x) {k = 5} : (tensor<2x4xf32>) -> (tensor<2x5xf32>, tensor<2x5xi64>)
  return
}

// Sums are of numbers.
func.func @sums_bools(%x: tensor<4xi1>) {
  // expected-error @below {{'tri.cum_sum' op element type is i1, must be a number}}
  %y = "tri.cum_sum"(%x) {axis = 0} : (tensor<4xi1>) -> tensor<4xi1>
  return
}
