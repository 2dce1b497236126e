// RUN: trivium-opt %s --fold-constants="size-budget=4" --eliminate -canonicalize | FileCheck %s

// Passes run in the order of their flags, ours and MLIR's alike.
// CHECK-LABEL: func.func @folds
// CHECK-NEXT:    %[[C:.*]] = "tri.constant"() {value = dense<3.000000e+00>
// CHECK-NEXT:    return %[[C]]
func.func @folds() -> tensor<4xf32> {
  %unused = arith.constant 1 : i32
  %a = "tri.constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %b = "tri.constant"() {value = dense<2.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %c = "tri.add"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
