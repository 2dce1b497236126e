// RUN: trivium-opt %s | FileCheck %s

// There is room for all elements, and the number of those that are found is another result.
// CHECK-LABEL: func.func @indices
// CHECK:         "tri.padded_non_zero"(
// CHECK-SAME:      -> (tensor<2x?xi64, ["", "2*N"]>, tensor<i64>)
func.func @indices(%x: tensor<2x?xf32, ["", "N"]>) -> (tensor<2x?xi64, ["", "2*N"]>, tensor<i64>)
    attributes {trivium.symbols = {N = "0.."}} {
  %0:2 = "tri.padded_non_zero"(%x)
      : (tensor<2x?xf32, ["", "N"]>) -> (tensor<2x?xi64, ["", "2*N"]>, tensor<i64>)
  return %0#0, %0#1 : tensor<2x?xi64, ["", "2*N"]>, tensor<i64>
}

// No class has more boxes than there are.
// CHECK-LABEL: func.func @boxes
// CHECK:         "tri.padded_non_max_suppression"
// CHECK-SAME:      -> (tensor<?x3xi64, ["2*min(7, N)", ""]>, tensor<i64>)
func.func @boxes(%boxes: tensor<1x?x4xf32, ["", "N", ""]>,
    %scores: tensor<1x2x?xf32, ["", "", "N"]>)
    -> (tensor<?x3xi64, ["2*min(7, N)", ""]>, tensor<i64>)
    attributes {trivium.symbols = {N = "0.."}} {
  %0:2 = "tri.padded_non_max_suppression"(%boxes, %scores)
      {limit = 7, operandSegmentSizes = array<i32: 1, 1, 0, 0>}
      : (tensor<1x?x4xf32, ["", "N", ""]>, tensor<1x2x?xf32, ["", "", "N"]>)
      -> (tensor<?x3xi64, ["2*min(7, N)", ""]>, tensor<i64>)
  return %0#0, %0#1 : tensor<?x3xi64, ["2*min(7, N)", ""]>, tensor<i64>
}
