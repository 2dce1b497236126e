// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @walks_both_ways
// CHECK:         "tri.quantized_lstm"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {direction = "bidirectional", hidden_size = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0>}
func.func @walks_both_ways(%x: tensor<5x3x16xf32>, %r: tensor<2x2x8xi32>, %s: tensor<2x8xf32>, %h: tensor<2x3x2xf32>) -> tensor<5x2x3x2xf32> {
  %y, %y_h, %y_c = "tri.quantized_lstm"(%x, %r, %s, %h) {hidden_size = 2, direction = "bidirectional", operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0>}
      : (tensor<5x3x16xf32>, tensor<2x2x8xi32>, tensor<2x8xf32>, tensor<2x3x2xf32>) -> (tensor<5x2x3x2xf32>, tensor<2x3x2xf32>, tensor<2x3x2xf32>)
  return %y : tensor<5x2x3x2xf32>
}
