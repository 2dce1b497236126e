// RUN: trivium-opt %s --verify-diagnostics

// An attribute without a default must be there.
func.func @lacks_an_attribute(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.reduce_sum' op lacks attribute 'axes'}}
  %y = "tri.reduce_sum"(%x) : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// One that no field declares is refused, with the nearest that is.
func.func @misspells_an_attribute(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.softmax' op has no attribute 'axes', did you mean 'axis'}}
  %y = "tri.softmax"(%x) {axes = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// Or without, when none is near. Those with a dialect's prefix are anybody's.
func.func @has_an_unknown_attribute(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.relu' op has no attribute 'alpha'}}
  %y = "tri.relu"(%x) {alpha = 1.0 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// Values have the type of the field.
func.func @integer_is_a_float(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.softmax' op attribute 'axis' is 1.000000e+00 : f64, must be an i64 integer}}
  %y = "tri.softmax"(%x) {axis = 1.0 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// An integer is no bool.
func.func @bool_is_an_integer(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.reduce_sum' op attribute 'keepdims' is 1 : i64, must be a bool}}
  %y = "tri.reduce_sum"(%x) {axes = array<i64: 0>, keepdims = 1} : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// And no float.
func.func @float_is_an_integer(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.leaky_relu' op attribute 'alpha' is 1 : i64, must be an f64 float}}
  %y = "tri.leaky_relu"(%x) {alpha = 1} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// And no string.
func.func @string_is_an_integer(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.gelu' op attribute 'approximate' is 1 : i64, must be a string}}
  %y = "tri.gelu"(%x) {approximate = 1} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// Several integers are an array<i64>, of one element, too.
func.func @integers_are_an_array_attribute(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.reduce_sum' op attribute 'axes' is [0], must be an array<i64>}}
  %y = "tri.reduce_sum"(%x) {axes = [0]} : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// Several floats are an array<f64>.
func.func @floats_are_integers(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.resize' op attribute 'scales' is array<i64: 2>, must be an array<f64>}}
  %y = "tri.resize"(%x) {sizes = array<i64: 4>, scales = array<i64: 2>}
      : (tensor<2xf32>) -> tensor<4xf32>
  return
}

// A constant's value is dense elements.
func.func @value_is_a_number() {
  // expected-error @below {{'tri.constant' op attribute 'value' is 1.000000e+00 : f32, must be a dense elements attribute}}
  %y = "tri.constant"() {value = 1.0 : f32} : () -> f32
  return
}

// A weight's type is a tensor type.
func.func @type_is_a_string() {
  // expected-error @below {{'tri.weight' op attribute 'type' is "tensor<2xf32>", must be a ranked tensor type}}
  %y = "tri.weight"() {name = "w", type = "tensor<2xf32>"} : () -> tensor<2xf32>
  return
}
// Also of ops with a region.
func.func @target_is_a_float(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.group' op attribute 'target' is 2.500000e+00 : f64, must be a string}}
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) {target = 2.5 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// The bindings hand out no locations, so an attribute must not be one.
func.func @axis_is_a_location(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.softmax' op attribute 'axis' is a location, must be something else}}
  %y = "tri.softmax"(%x) {axis = loc("a")} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// How many values each field has is an array of integers.
func.func @sizes_are_a_string(%x: tensor<1x2x4xf32>) {
  // expected-error @below {{'tri.layer_norm' op attribute 'operandSegmentSizes' is "a", must be an array<i32>}}
  %y = "tri.layer_norm"(%x) {operandSegmentSizes = "a", axis = 2 : i64, epsilon = 0.1 : f64}
      : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return
}

// No address space holds it.
func.func @tensor_is_too_large(%x: tensor<1099511627776x1099511627776xf32>) {
  // expected-error @below {{'tri.relu' op needs tensor<1099511627776x1099511627776xf32>, must have at most 2^47 bytes}}
  %y = "tri.relu"(%x) : (tensor<1099511627776x1099511627776xf32>) -> tensor<1099511627776x1099511627776xf32>
  return
}
