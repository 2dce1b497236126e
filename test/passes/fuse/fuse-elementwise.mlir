// RUN: trivium-opt %s --fuse-elementwise | FileCheck %s

// CHECK-LABEL: func.func @fuses_graph
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>, %[[Z:.*]]: tensor<1xf32>)
// CHECK-NEXT:    %[[Y:.*]] = "tri.group"(%[[X]], %[[Z]])
// CHECK:           "tri.exp"
// CHECK-NEXT:      "tri.mul"
// CHECK-NEXT:      "tri.add"
// CHECK-NEXT:      "tri.yield"
// CHECK:         return %[[Y]]
func.func @fuses_graph(%x: tensor<2xf32>, %z: tensor<1xf32>) -> tensor<2xf32> {
  %e = "tri.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %m = "tri.mul"(%e, %z) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  %y = "tri.add"(%m, %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// A value that others use ends a group; what follows is another one.
// CHECK-LABEL: func.func @splits_at_value_with_other_users
// CHECK:         %[[A:.*]] = "tri.group"
// CHECK:           "tri.exp"
// CHECK-NEXT:      "tri.neg"
// CHECK:         %[[B:.*]] = "tri.group"(%[[A]])
// CHECK:           "tri.relu"
// CHECK-NEXT:      "tri.tanh"
// CHECK:         return %[[A]], %[[B]]
func.func @splits_at_value_with_other_users(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %e = "tri.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %n = "tri.neg"(%e) : (tensor<2xf32>) -> tensor<2xf32>
  %r = "tri.relu"(%n) : (tensor<2xf32>) -> tensor<2xf32>
  %t = "tri.tanh"(%r) : (tensor<2xf32>) -> tensor<2xf32>
  return %n, %t : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @keeps_single_op
// CHECK-NOT:     tri.group
func.func @keeps_single_op(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tri.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// One element is computed once, not for each element of the sum.
// CHECK-LABEL: func.func @keeps_smaller_value_out
// CHECK-NOT:     tri.group
func.func @keeps_smaller_value_out(%x: tensor<2xf32>, %z: tensor<1xf32>) -> tensor<2xf32> {
  %e = "tri.exp"(%z) : (tensor<1xf32>) -> tensor<1xf32>
  %y = "tri.add"(%x, %e) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// The way through the reshape would lead out of the group and into it again.
// CHECK-LABEL: func.func @keeps_cycle_apart
// CHECK-NOT:     tri.group
func.func @keeps_cycle_apart(%x: tensor<2xf32>) -> tensor<2xf32> {
  %e = "tri.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %r = "tri.slice"(%e) {starts = array<i64: 1>, sizes = array<i64: 2>, steps = array<i64: -1>} : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.add"(%e, %r) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
