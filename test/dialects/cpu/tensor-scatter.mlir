// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @in_place
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[NEW:.*]]: {{.*}}, %[[STARTS:.*]]: {{.*}}, %[[COUNTS:.*]]: {{.*}})
// CHECK:         "cpu.tensor_scatter"(%[[X]], %[[NEW]], %[[STARTS]], %[[COUNTS]]) {axis = 1 : i64
func.func @in_place(%x: tensor<2x8x4xf32>, %new: tensor<2x3x4xf32>, %starts: tensor<2xi64>, %counts: tensor<2xi64>) -> tensor<2x8x4xf32> {
  %0 = "cpu.tensor_scatter"(%x, %new, %starts, %counts) {axis = 1, operandSegmentSizes = array<i32: 1, 1, 1, 1>}
      : (tensor<2x8x4xf32>, tensor<2x3x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}
