// RUN: trivium-opt %s --cse | FileCheck %s

// Equal ops become one, and then ops on them are equal, too.
// CHECK-LABEL: func.func @merges_equal_ops
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT:    %[[A:.*]] = "tri.relu"(%[[X]])
// CHECK-NEXT:    %[[E:.*]] = "tri.exp"(%[[A]])
// CHECK-NEXT:    "tri.add"(%[[E]], %[[E]])
func.func @merges_equal_ops(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %b = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %c = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %d = "tri.exp"(%b) : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.add"(%c, %d) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// Constants are equal when their numbers are; weights without data, when their names are.
// CHECK-LABEL: func.func @merges_constants_and_weights
// CHECK:         %[[C:.*]] = "tri.constant"
// CHECK-NEXT:    %[[W:.*]] = "tri.weight"() {name = "w"
// CHECK-NEXT:    return %[[C]], %[[C]], %[[W]], %[[W]]
func.func @merges_constants_and_weights() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = "tri.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = "tri.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %c = "tri.weight"() {name = "w", type = tensor<2xf32>} : () -> tensor<2xf32>
  %d = "tri.weight"() {name = "w", type = tensor<2xf32>} : () -> tensor<2xf32>
  return %a, %b, %c, %d : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Ops of MLIR's own dialects are merged by MLIR.
// CHECK-LABEL: func.func @merges_ops_of_mlir
// CHECK:         %[[A:.*]] = arith.addi
// CHECK-NEXT:    return %[[A]], %[[A]]
func.func @merges_ops_of_mlir(%x: i32) -> (i32, i32) {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  return %a, %b : i32, i32
}

// CHECK-LABEL: func.func @merges_inside_of_groups
// CHECK:         %[[E:.*]] = "tri.exp"
// CHECK-NEXT:    "tri.add"(%[[E]], %[[E]])
func.func @merges_inside_of_groups(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %b = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %c = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %d = "tri.add"(%b, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%d) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @keeps_ops_that_differ_in_an_attribute
// CHECK:         "tri.reduce_sum"{{.*}} {axes = array<i64: 0>
// CHECK:         "tri.reduce_sum"{{.*}} {axes = array<i64: 1>
func.func @keeps_ops_that_differ_in_an_attribute(%x: tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = "tri.reduce_sum"(%x) {axes = array<i64: 0>, keepdims = false} : (tensor<2x2xf32>) -> tensor<2xf32>
  %b = "tri.reduce_sum"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<2x2xf32>) -> tensor<2xf32>
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}

// Operands in another order make another op.
// CHECK-LABEL: func.func @keeps_ops_with_swapped_operands
// CHECK:         "tri.sub"
// CHECK:         "tri.sub"
func.func @keeps_ops_with_swapped_operands(%x: tensor<2xf32>, %z: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = "tri.sub"(%x, %z) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b = "tri.sub"(%z, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @keeps_equal_numbers_of_other_types
// CHECK:         tensor<1xf32>
// CHECK:         tensor<1xf16>
func.func @keeps_equal_numbers_of_other_types() -> (tensor<1xf32>, tensor<1xf16>) {
  %a = "tri.constant"() {value = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %b = "tri.constant"() {value = dense<0.0> : tensor<1xf16>} : () -> tensor<1xf16>
  return %a, %b : tensor<1xf32>, tensor<1xf16>
}

// Two ops that find sizes under two names stay two: which of the names is meant is not known.
// CHECK-LABEL: func.func @keeps_two_names_of_sizes
// CHECK:         "tri.non_zero"(%{{.*}}) {count = "u0"}
// CHECK:         "tri.non_zero"(%{{.*}}) {count = "u1"}
func.func @keeps_two_names_of_sizes(%x: tensor<4xf32>)
    -> (tensor<1x?xi64, ["", "u0"]>, tensor<1x?xi64, ["", "u1"]>)
    attributes {trivium.symbols = {u0 = "0..", u1 = "0.."}} {
  %0 = "tri.non_zero"(%x) {count = "u0"} : (tensor<4xf32>) -> tensor<1x?xi64, ["", "u0"]>
  %1 = "tri.non_zero"(%x) {count = "u1"} : (tensor<4xf32>) -> tensor<1x?xi64, ["", "u1"]>
  return %0, %1 : tensor<1x?xi64, ["", "u0"]>, tensor<1x?xi64, ["", "u1"]>
}
