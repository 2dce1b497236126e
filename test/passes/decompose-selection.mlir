// RUN: trivium-opt %s --decompose | FileCheck %s

// What is found is counted; the count is the size of the part that is taken.
// CHECK-LABEL: func.func @lists_indices
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>)
// CHECK:         %[[ALL:.*]]:2 = "tri.padded_non_zero"(%[[X]]) : {{.*}} -> (tensor<2x6xi64>, tensor<i64>)
// CHECK:         "tri.define_sizes"(%[[ALL]]#1) {{{.*}}sizes = ["nonzeros"]}
// CHECK:         %[[Y:.*]] = "tri.slice"(%[[ALL]]#0) {{{.*}}sizes = ["2", "nonzeros"]
// CHECK:         return %[[Y]]
func.func @lists_indices(%x: tensor<2x3xf32>) -> tensor<2x?xi64, ["", "nonzeros"]>
    attributes {trivium.symbols = {nonzeros = "0..6"}} {
  %0 = "tri.non_zero"(%x) {count = "nonzeros"} : (tensor<2x3xf32>) -> tensor<2x?xi64, ["", "nonzeros"]>
  return %0 : tensor<2x?xi64, ["", "nonzeros"]>
}

// CHECK-LABEL: func.func @takes_slices
// CHECK-SAME:    (%[[X:.*]]: tensor<2x5xf32>, %[[CONDITION:.*]]: tensor<4xi1>)
// CHECK:         %[[ALL:.*]]:2 = "tri.padded_non_zero"(%[[CONDITION]])
// CHECK:         "tri.define_sizes"(%[[ALL]]#1) {{{.*}}sizes = ["trues"]}
// CHECK:         "tri.gather"(%[[X]], %{{.*}}) {axis = 1 : i64}
func.func @takes_slices(%x: tensor<2x5xf32>, %condition: tensor<4xi1>)
    -> tensor<2x?xf32, ["", "trues"]> attributes {trivium.symbols = {trues = "0..4"}} {
  %0 = "tri.compress"(%x, %condition) {axis = 1, count = "trues"}
      : (tensor<2x5xf32>, tensor<4xi1>) -> tensor<2x?xf32, ["", "trues"]>
  return %0 : tensor<2x?xf32, ["", "trues"]>
}

// CHECK-LABEL: func.func @chooses_boxes
// CHECK:         %[[ALL:.*]]:2 = "tri.padded_non_max_suppression"
// CHECK-SAME:      limit = 3
// CHECK-SAME:      -> (tensor<15x3xi64>, tensor<i64>)
// CHECK:         "tri.define_sizes"(%[[ALL]]#1) {{{.*}}sizes = ["boxes"]}
// CHECK:         "tri.slice"(%[[ALL]]#0) {{{.*}}sizes = ["boxes", "3"]
func.func @chooses_boxes(%boxes: tensor<1x9x4xf32>, %scores: tensor<1x5x9xf32>)
    -> tensor<?x3xi64, ["boxes", ""]> attributes {trivium.symbols = {boxes = "0..15"}} {
  %0 = "tri.non_max_suppression"(%boxes, %scores)
      {count = "boxes", limit = 3, operandSegmentSizes = array<i32: 1, 1, 0, 0>}
      : (tensor<1x9x4xf32>, tensor<1x5x9xf32>) -> tensor<?x3xi64, ["boxes", ""]>
  return %0 : tensor<?x3xi64, ["boxes", ""]>
}

// A size that is promised is checked when it is found: the op stays as it is.
// CHECK-LABEL: func.func @keeps_promises
// CHECK:         "tri.non_zero"(%{{.*}}) {count = 3 : i64}
func.func @keeps_promises(%x: tensor<3xf32>) -> tensor<1x3xi64> {
  %0 = "tri.non_zero"(%x) {count = 3} : (tensor<3xf32>) -> tensor<1x3xi64>
  return %0 : tensor<1x3xi64>
}
