// RUN: trivium-opt %s | FileCheck %s

// 5 steps, batch 2, 3 elements in, 4 out in each direction.
// CHECK-LABEL: func.func @lstm_of_two_layers
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W0:.*]]: {{.*}}, %[[W1:.*]]: {{.*}}, %[[R0:.*]]: {{.*}}, %[[R1:.*]]: {{.*}}, %[[B0:.*]]: {{.*}}, %[[B1:.*]]: {{.*}}, %[[H:.*]]: {{.*}}, %[[C:.*]]: {{.*}})
// CHECK:         "tri.recurrent_stack"(%[[X]], %[[W0]], %[[W1]], %[[R0]], %[[R1]], %[[B0]], %[[B1]], %[[H]], %[[C]]) {bidirectional = true, cell = "lstm", hidden_size = 4 : i64, operandSegmentSizes = array<i32: 1, 2, 2, 2, 0, 2>}
// CHECK-SAME:      : (tensor<5x2x3xf32>, tensor<2x16x3xf32>, tensor<2x16x8xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<4x2x4xf32>, tensor<4x2x4xf32>) -> (tensor<5x2x8xf32>, tensor<4x2x4xf32>, tensor<4x2x4xf32>)
func.func @lstm_of_two_layers(%x: tensor<5x2x3xf32>, %w0: tensor<2x16x3xf32>, %w1: tensor<2x16x8xf32>, %r0: tensor<2x16x4xf32>, %r1: tensor<2x16x4xf32>, %b0: tensor<2x32xf32>, %b1: tensor<2x32xf32>, %h: tensor<4x2x4xf32>, %c: tensor<4x2x4xf32>) -> (tensor<5x2x8xf32>, tensor<4x2x4xf32>, tensor<4x2x4xf32>) {
  %0:3 = "tri.recurrent_stack"(%x, %w0, %w1, %r0, %r1, %b0, %b1, %h, %c) {bidirectional = true, cell = "lstm", hidden_size = 4 : i64, operandSegmentSizes = array<i32: 1, 2, 2, 2, 0, 2>}
      : (tensor<5x2x3xf32>, tensor<2x16x3xf32>, tensor<2x16x8xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<4x2x4xf32>, tensor<4x2x4xf32>) -> (tensor<5x2x8xf32>, tensor<4x2x4xf32>, tensor<4x2x4xf32>)
  return %0#0, %0#1, %0#2 : tensor<5x2x8xf32>, tensor<4x2x4xf32>, tensor<4x2x4xf32>
}

// CHECK-LABEL: func.func @gru_batch_first
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[R:.*]]: {{.*}})
// CHECK:         "tri.recurrent_stack"(%[[X]], %[[W]], %[[R]]) {batch_first = true, cell = "gru", hidden_size = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
// CHECK-SAME:      : (tensor<2x5x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> (tensor<2x5x4xf32>, tensor<1x2x4xf32>)
func.func @gru_batch_first(%x: tensor<2x5x3xf32>, %w: tensor<1x12x3xf32>, %r: tensor<1x12x4xf32>) -> (tensor<2x5x4xf32>, tensor<1x2x4xf32>) {
  %0:2 = "tri.recurrent_stack"(%x, %w, %r) {batch_first = true, cell = "gru", hidden_size = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<2x5x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> (tensor<2x5x4xf32>, tensor<1x2x4xf32>)
  return %0#0, %0#1 : tensor<2x5x4xf32>, tensor<1x2x4xf32>
}

// CHECK-LABEL: func.func @lstm_with_projection
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[R:.*]]: {{.*}}, %[[P:.*]]: {{.*}})
// CHECK:         "tri.recurrent_stack"(%[[X]], %[[W]], %[[R]], %[[P]]) {cell = "lstm", hidden_size = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}
// CHECK-SAME:      : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x2xf32>, tensor<1x2x4xf32>) -> (tensor<5x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x4xf32>)
func.func @lstm_with_projection(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<1x16x2xf32>, %p: tensor<1x2x4xf32>) -> (tensor<5x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x4xf32>) {
  %0:3 = "tri.recurrent_stack"(%x, %w, %r, %p) {cell = "lstm", hidden_size = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}
      : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x2xf32>, tensor<1x2x4xf32>) -> (tensor<5x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x4xf32>)
  return %0#0, %0#1, %0#2 : tensor<5x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x4xf32>
}
