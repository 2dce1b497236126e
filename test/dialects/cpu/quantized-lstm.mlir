// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @dot_lstm
// CHECK:         "cpu.dot_lstm"
func.func @dot_lstm(%x: tensor<5x3x20xf32>, %r: tensor<1x2x2x16xi32>, %s: tensor<1x20xf32>, %z: tensor<1x20xi32>) -> tensor<1x3x5xf32> {
  %y, %y_h, %y_c = "cpu.dot_lstm"(%x, %r, %s, %z) {hidden_size = 5, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0>}
      : (tensor<5x3x20xf32>, tensor<1x2x2x16xi32>, tensor<1x20xf32>, tensor<1x20xi32>) -> (tensor<5x1x3x5xf32>, tensor<1x3x5xf32>, tensor<1x3x5xf32>)
  return %y_h : tensor<1x3x5xf32>
}
