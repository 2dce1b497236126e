// RUN: trivium-opt %s --verify-diagnostics

// Batch, sequence, heads, elements.
func.func @ranks_differ(%q: tensor<2x5x4x8xf32>, %k: tensor<5x2x8xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error @below {{'tri.linear_attention' op operands have ranks 4, 3, 4, must all have 4}}
  %y:2 = "tri.linear_attention"(%q, %k, %v)
      {scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<2x5x4x8xf32>, tensor<5x2x8xf32>, tensor<2x5x2x3xf32>) -> (tensor<2x5x4x3xf32>, tensor<2x2x8x3xf32>)
  return
}

// Each query has a key, each key a value.
func.func @keys_are_fewer(%q: tensor<2x5x4x8xf32>, %k: tensor<2x6x2x8xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error @below {{'tri.linear_attention' op queries are tensor<2x5x4x8xf32>, keys tensor<2x6x2x8xf32>, values tensor<2x5x2x3xf32>, which do not fit each other}}
  %y:2 = "tri.linear_attention"(%q, %k, %v)
      {scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<2x5x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x5x2x3xf32>) -> (tensor<2x5x4x3xf32>, tensor<2x2x8x3xf32>)
  return
}

// Query heads share states evenly.
func.func @heads_do_not_share(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x3x8xf32>, %v: tensor<2x5x3x3xf32>) {
  // expected-error @below {{'tri.linear_attention' op 4 query heads do not share 3 key heads evenly}}
  %y:2 = "tri.linear_attention"(%q, %k, %v)
      {scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<2x5x4x8xf32>, tensor<2x5x3x8xf32>, tensor<2x5x3x3xf32>) -> (tensor<2x5x4x3xf32>, tensor<2x2x8x3xf32>)
  return
}

// Decay is of keys, or broadcasts to them.
func.func @decay_of_another_shape(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %decay: tensor<1x2x5x2x8xf32>) {
  // expected-error @below {{'tri.linear_attention' op decay is tensor<1x2x5x2x8xf32>, must broadcast to}}
  %y:2 = "tri.linear_attention"(%q, %k, %v, %decay)
      {scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}
      : (tensor<2x5x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>, tensor<1x2x5x2x8xf32>) -> (tensor<2x5x4x3xf32>, tensor<2x2x8x3xf32>)
  return
}

// A state is keys by values.
func.func @state_of_another_shape(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %state: tensor<2x2x3x8xf32>) {
  // expected-error @below {{'tri.linear_attention' op state is tensor<2x2x3x8xf32>, must be tensor<2x2x8x3xf32>}}
  %y:2 = "tri.linear_attention"(%q, %k, %v, %state)
      {scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1>}
      : (tensor<2x5x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>, tensor<2x2x3x8xf32>) -> (tensor<2x5x4x3xf32>, tensor<2x2x8x3xf32>)
  return
}
