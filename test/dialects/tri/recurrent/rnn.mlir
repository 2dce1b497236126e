// RUN: trivium-opt %s | FileCheck %s

// 5 steps, batch 2, 3 elements in, 4 out.
// CHECK-LABEL: func.func @rnn
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[R:.*]]: {{.*}})
// CHECK:         "tri.rnn"(%[[X]], %[[W]], %[[R]]) {hidden_size = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
// CHECK-SAME:      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
func.func @rnn(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>) {
  %0:2 = "tri.rnn"(%x, %w, %r) {hidden_size = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return %0#0, %0#1 : tensor<5x1x2x4xf32>, tensor<1x2x4xf32>
}

// CHECK-LABEL: func.func @batch_first
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[R:.*]]: {{.*}}, %[[SEQUENCE_LENS:.*]]: {{.*}})
// CHECK:         "tri.rnn"(%[[X]], %[[W]], %[[R]], %[[SEQUENCE_LENS]]) {activations = ["LeakyRelu"], alphas = array<f64: 5.000000e-01>, clip = 3.000000e+00 : f64, direction = "reverse", hidden_size = 4 : i64, layout = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}
// CHECK-SAME:      : (tensor<2x5x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, tensor<2xi32>) -> (tensor<2x5x1x4xf32>, tensor<2x1x4xf32>)
func.func @batch_first(%x: tensor<2x5x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>, %sequence_lens: tensor<2xi32>) -> (tensor<2x5x1x4xf32>, tensor<2x1x4xf32>) {
  %0:2 = "tri.rnn"(%x, %w, %r, %sequence_lens) {activations = ["LeakyRelu"], alphas = array<f64: 5.000000e-01>, clip = 3.000000e+00 : f64, direction = "reverse", hidden_size = 4 : i64, layout = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}
      : (tensor<2x5x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, tensor<2xi32>) -> (tensor<2x5x1x4xf32>, tensor<2x1x4xf32>)
  return %0#0, %0#1 : tensor<2x5x1x4xf32>, tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @gru
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[R:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.gru"(%[[X]], %[[W]], %[[R]], %[[B]]) {direction = "bidirectional", hidden_size = 4 : i64, linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}
// CHECK-SAME:      : (tensor<5x2x3xf32>, tensor<2x12x3xf32>, tensor<2x12x4xf32>, tensor<2x24xf32>) -> (tensor<5x2x2x4xf32>, tensor<2x2x4xf32>)
func.func @gru(%x: tensor<5x2x3xf32>, %w: tensor<2x12x3xf32>, %r: tensor<2x12x4xf32>, %b: tensor<2x24xf32>) -> (tensor<5x2x2x4xf32>, tensor<2x2x4xf32>) {
  %0:2 = "tri.gru"(%x, %w, %r, %b) {direction = "bidirectional", hidden_size = 4 : i64, linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<2x12x3xf32>, tensor<2x12x4xf32>, tensor<2x24xf32>) -> (tensor<5x2x2x4xf32>, tensor<2x2x4xf32>)
  return %0#0, %0#1 : tensor<5x2x2x4xf32>, tensor<2x2x4xf32>
}

// CHECK-LABEL: func.func @lstm
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[R:.*]]: {{.*}}, %[[B:.*]]: {{.*}}, %[[SEQUENCE_LENS:.*]]: {{.*}}, %[[INITIAL_H:.*]]: {{.*}}, %[[INITIAL_C:.*]]: {{.*}}, %[[P:.*]]: {{.*}})
// CHECK:         "tri.lstm"(%[[X]], %[[W]], %[[R]], %[[B]], %[[SEQUENCE_LENS]], %[[INITIAL_H]], %[[INITIAL_C]], %[[P]]) {hidden_size = 4 : i64, input_forget = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0>}
// CHECK-SAME:      : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, tensor<1x32xf32>, tensor<2xi64>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x12xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
func.func @lstm(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<1x16x4xf32>, %b: tensor<1x32xf32>, %sequence_lens: tensor<2xi64>, %initial_h: tensor<1x2x4xf32>, %initial_c: tensor<1x2x4xf32>, %p: tensor<1x12xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
  %0:3 = "tri.lstm"(%x, %w, %r, %b, %sequence_lens, %initial_h, %initial_c, %p) {hidden_size = 4 : i64, input_forget = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0>}
      : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, tensor<1x32xf32>, tensor<2xi64>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x12xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  return %0#0, %0#1, %0#2 : tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
}

// The output and the first state have the size of the projection.
// CHECK-LABEL: func.func @lstm_with_projection
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[R:.*]]: {{.*}}, %[[PROJECTION:.*]]: {{.*}})
// CHECK:         "tri.lstm"(%[[X]], %[[W]], %[[R]], %[[PROJECTION]]) {hidden_size = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1>}
// CHECK-SAME:      : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x2xf32>, tensor<1x2x4xf32>) -> (tensor<5x1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x4xf32>)
func.func @lstm_with_projection(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<1x16x2xf32>, %projection: tensor<1x2x4xf32>) -> (tensor<5x1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x4xf32>) {
  %0:3 = "tri.lstm"(%x, %w, %r, %projection) {hidden_size = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1>}
      : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x2xf32>, tensor<1x2x4xf32>) -> (tensor<5x1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x4xf32>)
  return %0#0, %0#1, %0#2 : tensor<5x1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x4xf32>
}
