// RUN: trivium-opt %s --pass-pipeline='builtin.module(func.func(canonicalize,fold-constants{size-budget=4 table-budget=35},cse),eliminate)' | FileCheck %s

// Passes of MLIR and of ours take turns in one pipeline.
// CHECK-LABEL: func.func @mixes_passes
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>)
// CHECK-NOT:     arith.constant
// CHECK:         %[[C:.*]] = "tri.constant"() {value = dense<3.000000e+00> : tensor<4xf32>}
// CHECK-NEXT:    %[[Y:.*]] = "tri.add"(%[[X]], %[[C]])
// CHECK-NEXT:    return %[[Y]], %[[Y]]
func.func @mixes_passes(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %unused = arith.constant 1 : i32
  %a = "tri.constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %b = "tri.constant"() {value = dense<2.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %c = "tri.add"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = "tri.add"(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "tri.add"(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// The options allow 4 bytes more than the constant has, and 35 for a table: 36 are too many.
// CHECK-LABEL: func.func @keeps_what_exceeds_the_budget
// CHECK:         "tri.expand"
func.func @keeps_what_exceeds_the_budget() -> tensor<9xf32> {
  %a = "tri.constant"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %b = "tri.expand"(%a) {shape = array<i64: 9>} : (tensor<1xf32>) -> tensor<9xf32>
  return %b : tensor<9xf32>
}
