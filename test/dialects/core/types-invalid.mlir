// RUN: trivium-opt %s --verify-diagnostics

// Operands are tensors.
func.func @not_a_tensor(%x: f32) {
  // expected-error @below {{'tri.relu' op operand or result has type f32, must be a ranked tensor}}
  %y = "tri.relu"(%x) : (f32) -> f32
  return
}

// Of a known rank.
func.func @unranked(%x: tensor<*xf32>) {
  // expected-error @below {{'tri.relu' op operand or result has type tensor<*xf32>, must be a ranked tensor}}
  %y = "tri.relu"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  return
}

// And of sizes that are known, or expressions of symbols.
func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error @below {{'tri.relu' op tensor<?xf32> has dynamic sizes, must have the expression of each in its type}}
  %y = "tri.relu"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// Their elements are of a type that numpy has.
func.func @element_type_is_unknown(%x: tensor<2xf80>) {
  // expected-error @below {{'tri.relu' op tensor<2xf80> has element type f80, must be one of f64, f32,}}
  %y = "tri.relu"(%x) : (tensor<2xf80>) -> tensor<2xf80>
  return
}

// Sizes that differ must be 1.
func.func @shapes_do_not_broadcast(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{'tri.add' op shapes 2x3 and 2 do not broadcast}}
  %y = "tri.add"(%a, %b) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// There are no conversions by the way.
func.func @element_types_differ(%a: tensor<2xf32>, %b: tensor<2xf16>) {
  // expected-error @below {{'tri.add' op operands have element types f32, f16, must be the same}}
  %y = "tri.add"(%a, %b) : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  return
}

// An axis counts from 0, or backwards from -1.
func.func @axis_is_outside(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.softmax' op axis 2 is outside [-2, 2) of a rank-2 tensor}}
  %y = "tri.softmax"(%x) {axis = 2} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// In both directions no further than there are axes.
func.func @axis_is_too_far_back(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.softmax' op axis -3 is outside [-2, 2) of a rank-2 tensor}}
  %y = "tri.softmax"(%x) {axis = -3} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Several axes are different ones.
func.func @axis_comes_twice(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.reduce_sum' op axes (0, -2) name an axis twice}}
  %y = "tri.reduce_sum"(%x) {axes = array<i64: 0, -2>} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return
}

// What an encoding says is known.
func.func @unknown_key(%x: tensor<2x3xf32, {bank = "odd"}>) {
  // expected-error @below {{'tri.relu' op tensor<2x3xf32, {bank = "odd"}> has key 'bank', must have some of order, sizes}}
  %y = "tri.relu"(%x) : (tensor<2x3xf32, {bank = "odd"}>) -> tensor<2x3xf32>
  return
}

// An encoding says something.
func.func @empty_encoding(%x: tensor<2x3xf32, {}>) {
  // expected-error @below {{'tri.relu' op tensor<2x3xf32, {}> has an empty encoding, must have none}}
  %y = "tri.relu"(%x) : (tensor<2x3xf32, {}>) -> tensor<2x3xf32>
  return
}
