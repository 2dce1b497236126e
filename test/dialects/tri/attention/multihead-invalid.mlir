// RUN: trivium-opt %s --verify-diagnostics

// Heads have as many elements each.
func.func @heads_do_not_split(%q: tensor<1x5x4xf32>, %k: tensor<1x7x4xf32>, %w: tensor<12x4xf32>, %out: tensor<4x4xf32>, %more: tensor<4xf32>) {
  // expected-error @below {{'tri.multihead_attention' op 4 elements do not split in 3 heads}}
  %y:2 = "tri.multihead_attention"(%q, %k, %k, %w, %out) {batch_first = true, heads = 3, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>}
      : (tensor<1x5x4xf32>, tensor<1x7x4xf32>, tensor<1x7x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>) -> (tensor<1x5x4xf32>, tensor<1x5x7xf32>)
  return
}

// Keys and values belong together.
func.func @values_of_other_keys(%q: tensor<1x5x4xf32>, %k: tensor<1x7x4xf32>, %w: tensor<12x4xf32>, %out: tensor<4x4xf32>, %more: tensor<1x5x4xf32>) {
  // expected-error @below {{'tri.multihead_attention' op queries are tensor<1x5x4xf32>, keys tensor<1x7x4xf32>, values tensor<1x5x4xf32>, which do not fit}}
  %y:2 = "tri.multihead_attention"(%q, %k, %q, %w, %out) {batch_first = true, heads = 2, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>}
      : (tensor<1x5x4xf32>, tensor<1x7x4xf32>, tensor<1x5x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>) -> (tensor<1x5x4xf32>, tensor<1x5x7xf32>)
  return
}

func.func @two_weights(%q: tensor<1x5x4xf32>, %k: tensor<1x7x4xf32>, %w: tensor<12x4xf32>, %out: tensor<4x4xf32>, %more: tensor<4xf32>) {
  // expected-error @below {{'tri.multihead_attention' op has 2 weights, must have 1 or 3}}
  %y:2 = "tri.multihead_attention"(%q, %k, %k, %w, %w, %out) {batch_first = true, heads = 2, operandSegmentSizes = array<i32: 1, 1, 1, 2, 1, 0, 0, 0, 0, 0>}
      : (tensor<1x5x4xf32>, tensor<1x7x4xf32>, tensor<1x7x4xf32>, tensor<12x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>) -> (tensor<1x5x4xf32>, tensor<1x5x7xf32>)
  return
}

func.func @bias_of_another_size(%q: tensor<1x5x4xf32>, %k: tensor<1x7x4xf32>, %w: tensor<12x4xf32>, %out: tensor<4x4xf32>, %more: tensor<4xf32>) {
  // expected-error @below {{'tri.multihead_attention' op b is tensor<4xf32>, must have shape 12}}
  %y:2 = "tri.multihead_attention"(%q, %k, %k, %w, %out, %more) {batch_first = true, heads = 2, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0>}
      : (tensor<1x5x4xf32>, tensor<1x7x4xf32>, tensor<1x7x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> (tensor<1x5x4xf32>, tensor<1x5x7xf32>)
  return
}

// A learned key comes with its value.
func.func @key_without_a_value(%q: tensor<1x5x4xf32>, %k: tensor<1x7x4xf32>, %w: tensor<12x4xf32>, %out: tensor<4x4xf32>, %more: tensor<4xf32>) {
  // expected-error @below {{'tri.multihead_attention' op has one of bias_k and bias_v, must have both or neither}}
  %y:2 = "tri.multihead_attention"(%q, %k, %k, %w, %out, %more) {batch_first = true, heads = 2, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 1, 0, 0>}
      : (tensor<1x5x4xf32>, tensor<1x7x4xf32>, tensor<1x7x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> (tensor<1x5x4xf32>, tensor<1x5x7xf32>)
  return
}

func.func @mask_of_other_keys(%q: tensor<1x5x4xf32>, %k: tensor<1x7x4xf32>, %w: tensor<12x4xf32>, %out: tensor<4x4xf32>, %more: tensor<5x5xi1>) {
  // expected-error @below {{'tri.multihead_attention' op shapes 5x5 and 1x2x5x7 do not broadcast}}
  %y:2 = "tri.multihead_attention"(%q, %k, %k, %w, %out, %more) {batch_first = true, heads = 2, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 1>}
      : (tensor<1x5x4xf32>, tensor<1x7x4xf32>, tensor<1x7x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>, tensor<5x5xi1>) -> (tensor<1x5x4xf32>, tensor<1x5x7xf32>)
  return
}

// A mask of three axes has a matrix for each head of each sample.
func.func @mask_of_other_heads(%q: tensor<1x5x4xf32>, %w: tensor<12x4xf32>, %out: tensor<4x4xf32>, %mask: tensor<1x5x5xi1>) {
  // expected-error @below {{'tri.multihead_attention' op mask is tensor<1x5x5xi1>, must have shape 2x5x5}}
  %y:2 = "tri.multihead_attention"(%q, %q, %q, %w, %out, %mask) {batch_first = true, heads = 2, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 1>}
      : (tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>, tensor<1x5x5xi1>) -> (tensor<1x5x4xf32>, tensor<1x5x5xf32>)
  return
}

func.func @inputs_without_a_batch(%q: tensor<5x4xf32>, %w: tensor<12x4xf32>, %out: tensor<4x4xf32>) {
  // expected-error @below {{'tri.multihead_attention' op operands have ranks 2, 2, 2, must have 3}}
  %y:2 = "tri.multihead_attention"(%q, %q, %q, %w, %out) {batch_first = true, heads = 2, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>}
      : (tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>) -> (tensor<5x4xf32>, tensor<5x5xf32>)
  return
}

// One weight is for queries, keys and values alike.
func.func @one_weight_for_other_keys(%q: tensor<1x5x4xf32>, %k: tensor<1x5x3xf32>, %w: tensor<12x4xf32>, %out: tensor<4x4xf32>) {
  // expected-error @below {{'tri.multihead_attention' op inputs have 4, 3 and 3 elements, one weight takes one}}
  %y:2 = "tri.multihead_attention"(%q, %k, %k, %w, %out) {batch_first = true, heads = 2, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>}
      : (tensor<1x5x4xf32>, tensor<1x5x3xf32>, tensor<1x5x3xf32>, tensor<12x4xf32>, tensor<4x4xf32>) -> (tensor<1x5x4xf32>, tensor<1x5x5xf32>)
  return
}
