// RUN: trivium-opt %s --pack-recurrent=machine=x86-64-v4 | FileCheck %s

// Weights that are bytes become VNNI words of four rows, in panels of vectors; their sums are
// constants.
// CHECK-LABEL: func.func @packs_bytes
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[S:.*]]: {{.*}})
// CHECK-DAG:     %[[R:.*]] = "tri.constant"() {value = {{.*}} : tensor<1x1x2x32xi32>}
// CHECK-DAG:     %[[SUMS:.*]] = "tri.constant"() {value = dense<-640> : tensor<1x20xi32>}
// CHECK:         "cpu.dot_lstm"(%[[X]], %[[R]], %[[S]], %[[SUMS]]) {{.*}}hidden_size = 5
// CHECK-NOT:     tri.quantized_lstm
func.func @packs_bytes(%x: tensor<5x1x20xf32>, %s: tensor<1x20xf32>) -> tensor<1x1x5xf32> {
  %r = "tri.constant"() {value = dense<-128> : tensor<1x5x20xi32>} : () -> tensor<1x5x20xi32>
  %y, %y_h, %y_c = "tri.quantized_lstm"(%x, %r, %s) {hidden_size = 5, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}
      : (tensor<5x1x20xf32>, tensor<1x5x20xi32>, tensor<1x20xf32>) -> (tensor<5x1x1x5xf32>, tensor<1x1x5xf32>, tensor<1x1x5xf32>)
  return %y_h : tensor<1x1x5xf32>
}

// Weights that need a ninth bit stay as they are.
// CHECK-LABEL: func.func @keeps_more_than_bytes
// CHECK:         tri.quantized_lstm
func.func @keeps_more_than_bytes(%x: tensor<5x1x20xf32>, %s: tensor<1x20xf32>) -> tensor<1x1x5xf32> {
  %r = "tri.constant"() {value = dense<-129> : tensor<1x5x20xi32>} : () -> tensor<1x5x20xi32>
  %y, %y_h, %y_c = "tri.quantized_lstm"(%x, %r, %s) {hidden_size = 5, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}
      : (tensor<5x1x20xf32>, tensor<1x5x20xi32>, tensor<1x20xf32>) -> (tensor<5x1x1x5xf32>, tensor<1x1x5xf32>, tensor<1x1x5xf32>)
  return %y_h : tensor<1x1x5xf32>
}
