// RUN: trivium-opt %s | FileCheck %s

// Two directions of three gates of four units: each of two panels is of two units.
// CHECK-LABEL: func.func @packed_gru
// CHECK:         "cpu.packed_gru"({{.*}}) {direction = "bidirectional", hidden_size = 4 : i64, linear_before_reset = true
// CHECK-SAME:      -> (tensor<5x2x3x4xf32>, tensor<2x3x4xf32>)
func.func @packed_gru(%x: tensor<5x3x24xf32>, %r: tensor<2x2x4x3x2xf32>, %h: tensor<2x3x4xf32>, %b: tensor<2x4xf32>) -> tensor<5x2x3x4xf32> {
  %y, %y_h = "cpu.packed_gru"(%x, %r, %h, %b) {hidden_size = 4, direction = "bidirectional", linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 0, 1, 1>}
      : (tensor<5x3x24xf32>, tensor<2x2x4x3x2xf32>, tensor<2x3x4xf32>, tensor<2x4xf32>) -> (tensor<5x2x3x4xf32>, tensor<2x3x4xf32>)
  return %y : tensor<5x2x3x4xf32>
}

// Two gates of two units are as many columns as one of four: three panels.
// CHECK-LABEL: func.func @packed_gru_in_parts
// CHECK:         "cpu.packed_gru"{{.*}}tensor<1x3x4x2x2xf32>
func.func @packed_gru_in_parts(%x: tensor<5x3x12xf32>, %r: tensor<1x3x4x2x2xf32>) -> tensor<1x3x4xf32> {
  %y, %y_h = "cpu.packed_gru"(%x, %r) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}
      : (tensor<5x3x12xf32>, tensor<1x3x4x2x2xf32>) -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>)
  return %y_h : tensor<1x3x4xf32>
}

// CHECK-LABEL: func.func @packed_lstm
// CHECK:         "cpu.packed_lstm"
func.func @packed_lstm(%x: tensor<5x3x16xf32>, %r: tensor<1x2x4x4x2xf32>, %h: tensor<1x3x4xf32>, %c: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  %y, %y_h, %y_c = "cpu.packed_lstm"(%x, %r, %h, %c) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 0, 1, 1, 0, 0>}
      : (tensor<5x3x16xf32>, tensor<1x2x4x4x2xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>)
  return %y_c : tensor<1x3x4xf32>
}

// Three projected elements are one panel, whose depth is the four units; so deep is a state too.
// CHECK-LABEL: func.func @projected_lstm
// CHECK:         "cpu.packed_lstm"({{.*}}) {clip = 5.000000e-01 : f64, hidden_size = 4 : i64, input_forget = true
// CHECK-SAME:      -> (tensor<5x1x3x3xf32>, tensor<1x3x3xf32>, tensor<1x3x4xf32>)
func.func @projected_lstm(%x: tensor<5x3x16xf32>, %r: tensor<1x2x3x4x2xf32>, %p: tensor<1x12xf32>, %projection: tensor<1x1x4x1x8xf32>) -> tensor<5x1x3x3xf32> {
  %y, %y_h, %y_c = "cpu.packed_lstm"(%x, %r, %p, %projection) {hidden_size = 4, clip = 0.5, input_forget = true, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1, 1>}
      : (tensor<5x3x16xf32>, tensor<1x2x3x4x2xf32>, tensor<1x12xf32>, tensor<1x1x4x1x8xf32>) -> (tensor<5x1x3x3xf32>, tensor<1x3x3xf32>, tensor<1x3x4xf32>)
  return %y : tensor<5x1x3x3xf32>
}

// CHECK-LABEL: func.func @packed_rnn
// CHECK:         "cpu.packed_rnn"({{.*}}) {activations = ["Relu"]
func.func @packed_rnn(%x: tensor<5x3x4xf32>, %r: tensor<1x1x4x1x8xf32>, %n: tensor<3xi32>) -> tensor<1x3x4xf32> {
  %y, %y_h = "cpu.packed_rnn"(%x, %r, %n) {hidden_size = 4, activations = ["Relu"], direction = "reverse", operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (tensor<5x3x4xf32>, tensor<1x1x4x1x8xf32>, tensor<3xi32>) -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>)
  return %y_h : tensor<1x3x4xf32>
}
