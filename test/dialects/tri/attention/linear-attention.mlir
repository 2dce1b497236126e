// RUN: trivium-opt %s | FileCheck %s

// Two query heads share a state of keys by values.
// CHECK-LABEL: func.func @linear_attention
// CHECK-SAME:    (%[[Q:.*]]: {{.*}}, %[[K:.*]]: {{.*}}, %[[V:.*]]: {{.*}})
// CHECK:         "tri.linear_attention"(%[[Q]], %[[K]], %[[V]]) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, scale = 1.250000e-01 : f64}
// CHECK-SAME:      : (tensor<2x5x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>) -> (tensor<2x5x4x3xf32>, tensor<2x2x8x3xf32>)
func.func @linear_attention(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>) -> (tensor<2x5x4x3xf32>, tensor<2x2x8x3xf32>) {
  %0:2 = "tri.linear_attention"(%q, %k, %v) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, scale = 1.250000e-01 : f64}
      : (tensor<2x5x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>) -> (tensor<2x5x4x3xf32>, tensor<2x2x8x3xf32>)
  return %0#0, %0#1 : tensor<2x5x4x3xf32>, tensor<2x2x8x3xf32>
}

// The state decays, is corrected rather than added to, and begins somewhere.
// CHECK-LABEL: func.func @delta_rule
// CHECK-SAME:    (%[[Q:.*]]: {{.*}}, %[[K:.*]]: {{.*}}, %[[V:.*]]: {{.*}}, %[[DECAY:.*]]: {{.*}}, %[[BETA:.*]]: {{.*}}, %[[STATE:.*]]: {{.*}})
// CHECK:         "tri.linear_attention"(%[[Q]], %[[K]], %[[V]], %[[DECAY]], %[[BETA]], %[[STATE]]) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>, scale = 1.250000e-01 : f64}
// CHECK-SAME:      : (tensor<2x5x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>, tensor<2x5x2x1xf32>, tensor<2x5x2x1xf32>, tensor<2x2x8x3xf32>) -> (tensor<2x5x4x3xf32>, tensor<2x2x8x3xf32>)
func.func @delta_rule(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %decay: tensor<2x5x2x1xf32>, %beta: tensor<2x5x2x1xf32>, %state: tensor<2x2x8x3xf32>) -> (tensor<2x5x4x3xf32>, tensor<2x2x8x3xf32>) {
  %0:2 = "tri.linear_attention"(%q, %k, %v, %decay, %beta, %state) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>, scale = 1.250000e-01 : f64}
      : (tensor<2x5x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>, tensor<2x5x2x1xf32>, tensor<2x5x2x1xf32>, tensor<2x2x8x3xf32>) -> (tensor<2x5x4x3xf32>, tensor<2x2x8x3xf32>)
  return %0#0, %0#1 : tensor<2x5x4x3xf32>, tensor<2x2x8x3xf32>
}
