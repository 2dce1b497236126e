// RUN: trivium-opt %s --verify-diagnostics

// All have the same axes.
func.func @ranks_differ(%q: tensor<2x4x5x8xf32>, %k: tensor<4x6x8xf32>, %v: tensor<2x4x6x3xf32>) {
  // expected-error @below {{'tri.attention' op operands have ranks 4, 3, 4, must be the same, 3 or more}}
  %y = "tri.attention"(%q, %k, %v) {scale = 0.5 : f64}
      : (tensor<2x4x5x8xf32>, tensor<4x6x8xf32>, tensor<2x4x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// Queries and keys are compared.
func.func @keys_of_another_width(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x6x7xf32>, %v: tensor<2x4x6x3xf32>) {
  // expected-error @below {{'tri.attention' op queries have 8 elements, keys 7, must be the same}}
  %y = "tri.attention"(%q, %k, %v) {scale = 0.5 : f64}
      : (tensor<2x4x5x8xf32>, tensor<2x4x6x7xf32>, tensor<2x4x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// Each key has a value.
func.func @values_are_fewer(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x5x3xf32>) {
  // expected-error @below {{'tri.attention' op keys are tensor<2x4x6x8xf32>, values tensor<2x4x5x3xf32>, must agree but for the last axis}}
  %y = "tri.attention"(%q, %k, %v) {scale = 0.5 : f64}
      : (tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// Batches go together.
func.func @batches_differ(%q: tensor<1x4x5x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x3xf32>) {
  // expected-error @below {{'tri.attention' op queries are tensor<1x4x5x8xf32>, keys tensor<2x4x6x8xf32>, must agree in the axes before the heads}}
  %y = "tri.attention"(%q, %k, %v) {scale = 0.5 : f64}
      : (tensor<1x4x5x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// Query heads share key heads evenly.
func.func @heads_do_not_share(%q: tensor<2x4x5x8xf32>, %k: tensor<2x3x6x8xf32>, %v: tensor<2x3x6x3xf32>) {
  // expected-error @below {{'tri.attention' op 4 query heads do not share 3 key heads evenly}}
  %y = "tri.attention"(%q, %k, %v) {scale = 0.5 : f64}
      : (tensor<2x4x5x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// A mask is added to scores, or says which to keep.
func.func @mask_of_integers(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x3xf32>, %mask: tensor<5x6xi64>) {
  // expected-error @below {{'tri.attention' op mask has element type i64, must be f32 or i1}}
  %y = "tri.attention"(%q, %k, %v, %mask) {scale = 0.5 : f64}
      : (tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x3xf32>, tensor<5x6xi64>) -> tensor<2x4x5x3xf32>
  return
}

// And broadcasts to them.
func.func @mask_of_another_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x3xf32>, %mask: tensor<1x2x4x5x6xi1>) {
  // expected-error @below {{'tri.attention' op mask is tensor<1x2x4x5x6xi1>, must broadcast to scores of (2, 4, 5, 6)}}
  %y = "tri.attention"(%q, %k, %v, %mask) {scale = 0.5 : f64}
      : (tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x3xf32>, tensor<1x2x4x5x6xi1>) -> tensor<2x4x5x3xf32>
  return
}

// A mask has at most one number for the scores that it drops.
func.func @more_fills_than_masks(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x3xf32>, %mask: tensor<5x6xi1>) {
  // expected-error @below {{'tri.attention' op has 2 fills, must have at most one for each mask}}
  %y = "tri.attention"(%q, %k, %v, %mask) {fills = array<f64: -1.0, -2.0>, scale = 0.5 : f64}
      : (tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x3xf32>, tensor<5x6xi1>) -> tensor<2x4x5x3xf32>
  return
}
