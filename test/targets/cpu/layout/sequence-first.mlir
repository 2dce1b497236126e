// RUN: trivium-opt %s --sequence-first | FileCheck %s

// Layers whose batch is in front get inputs and states with the sequence in front.
// CHECK-LABEL: func.func @batch_first
// CHECK-SAME:    (%[[X:.*]]: tensor<2x7x3xf32>, %[[W:.*]]: tensor<1x12x3xf32>, %[[R:.*]]: tensor<1x12x4xf32>, %[[H:.*]]: tensor<2x1x4xf32>)
// CHECK-DAG:     %[[T:.*]] = "tri.transpose"(%[[X]]) {permutation = array<i64: 1, 0, 2>}
// CHECK-DAG:     %[[S:.*]] = "tri.transpose"(%[[H]]) {permutation = array<i64: 1, 0, 2>}
// CHECK:         %[[G:.*]]:2 = "tri.gru"(%[[T]], %[[W]], %[[R]], %[[S]])
// CHECK-NOT:     layout = 1
// CHECK-DAG:     %[[Y:.*]] = "tri.transpose"(%[[G]]#0) {permutation = array<i64: 2, 0, 1, 3>}
// CHECK-DAG:     %[[L:.*]] = "tri.transpose"(%[[G]]#1) {permutation = array<i64: 1, 0, 2>}
// CHECK:         return %[[Y]], %[[L]]
func.func @batch_first(%x: tensor<2x7x3xf32>, %w: tensor<1x12x3xf32>, %r: tensor<1x12x4xf32>, %h: tensor<2x1x4xf32>)
    -> (tensor<2x7x1x4xf32>, tensor<2x1x4xf32>) {
  %y, %y_h = "tri.gru"(%x, %w, %r, %h) {hidden_size = 4, layout = 1, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1>}
      : (tensor<2x7x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<2x1x4xf32>) -> (tensor<2x7x1x4xf32>, tensor<2x1x4xf32>)
  return %y, %y_h : tensor<2x7x1x4xf32>, tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @sequence_first
// CHECK-NOT:     tri.transpose
func.func @sequence_first(%x: tensor<7x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>)
    -> (tensor<7x1x2x4xf32>, tensor<1x2x4xf32>) {
  %y, %y_h = "tri.rnn"(%x, %w, %r) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<7x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<7x1x2x4xf32>, tensor<1x2x4xf32>)
  return %y, %y_h : tensor<7x1x2x4xf32>, tensor<1x2x4xf32>
}
