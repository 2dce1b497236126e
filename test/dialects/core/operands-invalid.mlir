// RUN: trivium-opt %s --verify-diagnostics

// An op has as many operands as its class has fields.
func.func @too_few_operands(%a: tensor<2xf32>) {
  // expected-error @below {{'tri.add' op has 1 operands, must have 2}}
  %y = "tri.add"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// One more is as wrong.
func.func @too_many_operands(%x: tensor<2xf32>, %a: tensor<2xf32>) {
  // expected-error @below {{'tri.relu' op has 2 operands, must have 1}}
  %y = "tri.relu"(%x, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// An optional operand makes a range of them.
func.func @operands_of_an_optional_field(%x: tensor<1x1x4xf32>) {
  // expected-error @below {{'tri.conv' op has 1 operands, must have 2 to 3}}
  %y = "tri.conv"(%x) {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
      : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  return
}

// Results are counted like operands.
func.func @too_many_results(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.relu' op has 2 results, must have 1}}
  %y:2 = "tri.relu"(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// The declared type is the one that the op infers.
func.func @result_differs(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.relu' op result is tensor<3xf32>, inferred tensor<2xf32>}}
  %y = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// Of several results, the message says which.
func.func @one_of_several_results_differs(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.top_k' op result 1 is tensor<2xi32>, inferred tensor<2xi64>}}
  %y:2 = "tri.top_k"(%x) {k = 2} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return
}

// With several optional operands their sizes say which are there.
func.func @lacks_segment_sizes(%x: tensor<2x4xf32>, %scale: tensor<4xf32>) {
  // expected-error @below {{'tri.layer_norm' op lacks attribute 'operandSegmentSizes'}}
  %y = "tri.layer_norm"(%x, %scale) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// There is one size for each field.
func.func @too_few_segment_sizes(%x: tensor<2x4xf32>, %scale: tensor<4xf32>) {
  // expected-error @below {{'tri.layer_norm' op operandSegmentSizes has 2 entries, must have 3}}
  %y = "tri.layer_norm"(%x, %scale) {operandSegmentSizes = array<i32: 1, 1>}
      : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// The sizes account for all operands.
func.func @segment_sizes_do_not_add_up(%x: tensor<2x4xf32>, %scale: tensor<4xf32>) {
  // expected-error @below {{'tri.layer_norm' op has 2 operands, must have 1 to 3}}
  %y = "tri.layer_norm"(%x, %scale) {operandSegmentSizes = array<i32: 1, 1, 1>}
      : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// An optional operand is there at most once.
func.func @segment_twice(%x: tensor<2x4xf32>, %scale: tensor<4xf32>, %bias: tensor<4xf32>) {
  // expected-error @below {{'tri.layer_norm' op has 3 operands, must have 1 to 3}}
  %y = "tri.layer_norm"(%x, %scale, %bias) {operandSegmentSizes = array<i32: 1, 2, 0>}
      : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}
