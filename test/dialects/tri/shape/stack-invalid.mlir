// RUN: trivium-opt %s --verify-diagnostics

func.func @stack_of_nothing() {
  // expected-error @below {{'tri.stack' op has no operands, must have at least 1}}
  %y = "tri.stack"() {axis = 0} : () -> tensor<0xf32>
  return
}

// Axes of size 1 do not broadcast.
func.func @stack_of_shapes_that_differ(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) {
  // expected-error @below {{'tri.stack' op joins tensor<2x3xf32> and tensor<1x3xf32>, must be the same}}
  %y = "tri.stack"(%a, %b) {axis = 0} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x2x3xf32>
  return
}

// The new axis may be the last one, and no further.
func.func @stack_beyond_the_end(%a: tensor<2x3xf32>) {
  // expected-error @below {{'tri.stack' op axis 3 is outside [-3, 3) of a rank-3 tensor}}
  %y = "tri.stack"(%a) {axis = 3} : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  return
}

func.func @unbind_of_too_few_results(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.unbind' op has 1 results, must have 2}}
  %y = "tri.unbind"(%x) {axis = 0} : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}
