// RUN: trivium-opt %s --verify-diagnostics

// Begins, then ends, of all axes.
func.func @pads_of_fewer_axes(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.pad' op pads has 2 entries, must have 4}}
  %y = "tri.pad"(%x) {pads = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// There are four ways to make up elements.
func.func @mode_is_unknown(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.pad' op mode is 'mirror', must be one of constant, reflect, edge, wrap}}
  %y = "tri.pad"(%x) {pads = array<i64: 1, 1>, mode = "mirror"} : (tensor<4xf32>) -> tensor<6xf32>
  return
}

// The value is one of the type.
func.func @value_is_no_integer(%x: tensor<4xi32>) {
  // expected-error @below {{'tri.pad' op pads with 0.5, which is no i32}}
  %y = "tri.pad"(%x) {pads = array<i64: 1, 1>, value = 0.5 : f64}
      : (tensor<4xi32>) -> tensor<6xi32>
  return
}

// Nothing is cut that is not there.
func.func @cuts_too_much(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.pad' op cuts 5 elements off axis 0, which has 4}}
  %y = "tri.pad"(%x) {pads = array<i64: -3, -2>} : (tensor<4xf32>) -> tensor<0xf32>
  return
}

// Nor repeated.
func.func @repeats_nothing(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.pad' op pads axis 0 by mode 'edge' from 0 elements}}
  %y = "tri.pad"(%x) {pads = array<i64: -2, 1>, mode = "edge"} : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// What is to be cast first has no numbers to pad with.
func.func @pads_narrow(%x: tensor<2xf8E4M3FN>) {
  // expected-error @below {{'tri.pad' op element type is f8E4M3FN, must be one to compute with: cast it}}
  %y = "tri.pad"(%x) {pads = array<i64: 1, 1>} : (tensor<2xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}
