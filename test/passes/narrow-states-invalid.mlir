// RUN: not trivium-opt %s --narrow-states='to=i8' 2>&1 | FileCheck %s

// CHECK: error: 'past.scales' is an input, which is the name of scales of a state
func.func @name_is_taken(%past: tensor<1x8x4xf32>, %new: tensor<1x1x4xf32>, %at: tensor<1xi64>, %other: tensor<1xf32>) -> tensor<1x8x4xf32>
    attributes {trivium.inputs = ["past", "new", "at", "past.scales"], trivium.outputs = ["present"], trivium.updates = {present = "past"}} {
  %0 = "tri.tensor_scatter"(%past, %new, %at) {axis = 1, circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
  return %0 : tensor<1x8x4xf32>
}
