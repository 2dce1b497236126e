// RUN: trivium-opt %s | FileCheck %s

// Rows go into the second axis from the end.
// CHECK-LABEL: func.func @rows
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[NEW:.*]]: {{.*}}, %[[STARTS:.*]]: {{.*}})
// CHECK:         "tri.tensor_scatter"(%[[X]], %[[NEW]], %[[STARTS]]) {operandSegmentSizes
// CHECK-SAME:      : (tensor<2x8x4xf32>, tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x8x4xf32>
func.func @rows(%x: tensor<2x8x4xf32>, %new: tensor<2x3x4xf32>, %starts: tensor<2xi64>) -> tensor<2x8x4xf32> {
  %0 = "tri.tensor_scatter"(%x, %new, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (tensor<2x8x4xf32>, tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}

// Some of the rows of each entry, around the end of another axis.
// CHECK-LABEL: func.func @counted
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[NEW:.*]]: {{.*}}, %[[STARTS:.*]]: {{.*}}, %[[COUNTS:.*]]: {{.*}})
// CHECK:         "tri.tensor_scatter"(%[[X]], %[[NEW]], %[[STARTS]], %[[COUNTS]]) {axis = 1 : i64, circular = true
func.func @counted(%x: tensor<?x8x4xi8, ["N", "", ""]>, %new: tensor<?x?x4xi8, ["N", "T", ""]>, %starts: tensor<?xi64, ["N"]>, %counts: tensor<?xi32, ["N"]>)
    -> tensor<?x8x4xi8, ["N", "", ""]> attributes {trivium.symbols = {N = "1..", T = "1..8"}} {
  %0 = "tri.tensor_scatter"(%x, %new, %starts, %counts) {axis = 1, circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 1>}
      : (tensor<?x8x4xi8, ["N", "", ""]>, tensor<?x?x4xi8, ["N", "T", ""]>, tensor<?xi64, ["N"]>, tensor<?xi32, ["N"]>) -> tensor<?x8x4xi8, ["N", "", ""]>
  return %0 : tensor<?x8x4xi8, ["N", "", ""]>
}
