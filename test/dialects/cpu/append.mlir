// RUN: trivium-opt %s | FileCheck %s

// Two tensors are stored behind the three rows that are there.
// CHECK-LABEL: func.func @rows
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "cpu.append"(%[[X]], %[[A]], %[[B]]) {axis = 1 : i64}
// CHECK-SAME:      : (tensor<1x3x4xf32>, tensor<1x1x4xf32>, tensor<1x2x4xf32>) -> tensor<1x6x4xf32>
func.func @rows(%x: tensor<1x3x4xf32>, %a: tensor<1x1x4xf32>, %b: tensor<1x2x4xf32>) -> tensor<1x6x4xf32> {
  %0 = "cpu.append"(%x, %a, %b) {axis = 1} : (tensor<1x3x4xf32>, tensor<1x1x4xf32>, tensor<1x2x4xf32>) -> tensor<1x6x4xf32>
  return %0 : tensor<1x6x4xf32>
}
