// RUN: trivium-opt %s --decompose | FileCheck %s

// What is found is counted; the count is the size of the part that is taken.
// CHECK-LABEL: func.func @lists_indices
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>)
// CHECK:         %[[ALL:.*]]:2 = "tri.padded_non_zero"(%[[X]]) : {{.*}} -> (tensor<2x6xi64>, tensor<i64>)
// CHECK:         "tri.define_sizes"(%[[ALL]]#1) {{{.*}}sizes = ["u0"]}
// CHECK:         %[[Y:.*]] = "tri.slice"(%[[ALL]]#0) {{{.*}}sizes = ["2", "u0"]
// CHECK:         return %[[Y]]
func.func @lists_indices(%x: tensor<2x3xf32>) -> tensor<2x?xi64, ["", "u0"]>
    attributes {trivium.symbols = {u0 = "0..6"}} {
  %0 = "tri.non_zero"(%x) {count = "u0"} : (tensor<2x3xf32>) -> tensor<2x?xi64, ["", "u0"]>
  return %0 : tensor<2x?xi64, ["", "u0"]>
}

// CHECK-LABEL: func.func @takes_slices
// CHECK-SAME:    (%[[X:.*]]: tensor<2x5xf32>, %[[CONDITION:.*]]: tensor<4xi1>)
// CHECK:         %[[ALL:.*]]:2 = "tri.padded_non_zero"(%[[CONDITION]])
// CHECK:         "tri.define_sizes"(%[[ALL]]#1) {{{.*}}sizes = ["u1"]}
// CHECK:         "tri.gather"(%[[X]], %{{.*}}) {axis = 1 : i64}
func.func @takes_slices(%x: tensor<2x5xf32>, %condition: tensor<4xi1>)
    -> tensor<2x?xf32, ["", "u1"]> attributes {trivium.symbols = {u1 = "0..4"}} {
  %0 = "tri.compress"(%x, %condition) {axis = 1, count = "u1"}
      : (tensor<2x5xf32>, tensor<4xi1>) -> tensor<2x?xf32, ["", "u1"]>
  return %0 : tensor<2x?xf32, ["", "u1"]>
}

// CHECK-LABEL: func.func @chooses_boxes
// CHECK:         %[[ALL:.*]]:2 = "tri.padded_non_max_suppression"
// CHECK-SAME:      limit = 3
// CHECK-SAME:      -> (tensor<15x3xi64>, tensor<i64>)
// CHECK:         "tri.define_sizes"(%[[ALL]]#1) {{{.*}}sizes = ["u2"]}
// CHECK:         "tri.slice"(%[[ALL]]#0) {{{.*}}sizes = ["u2", "3"]
func.func @chooses_boxes(%boxes: tensor<1x9x4xf32>, %scores: tensor<1x5x9xf32>)
    -> tensor<?x3xi64, ["u2", ""]> attributes {trivium.symbols = {u2 = "0..15"}} {
  %0 = "tri.non_max_suppression"(%boxes, %scores)
      {count = "u2", limit = 3, operandSegmentSizes = array<i32: 1, 1, 0, 0>}
      : (tensor<1x9x4xf32>, tensor<1x5x9xf32>) -> tensor<?x3xi64, ["u2", ""]>
  return %0 : tensor<?x3xi64, ["u2", ""]>
}

// A size that is promised is checked when it is found: the op stays as it is.
// CHECK-LABEL: func.func @keeps_promises
// CHECK:         "tri.non_zero"(%{{.*}}) {count = 2 : i64}
func.func @keeps_promises(%x: tensor<3xf32>) -> tensor<1x2xi64> {
  %0 = "tri.non_zero"(%x) {count = 2} : (tensor<3xf32>) -> tensor<1x2xi64>
  return %0 : tensor<1x2xi64>
}
