// RUN: trivium-opt %s --append-in-place | FileCheck %s

// What is added is stored behind what is carried: axes before that of the rows have size 1.
// CHECK-LABEL: func.func @rows
// CHECK:         ^bb0({{.*}}, %[[H:.*]]: tensor<1x?x3xf32, ["", "u0", ""]>, %[[NEW:.*]]: tensor<1x1x3xf32>):
// CHECK:         "tri.group"(%[[H]], %[[NEW]])
// CHECK-NEXT:    ^bb0(%[[X:.*]]: tensor<1x?x3xf32, ["", "u0", ""]>, %[[ADDED:.*]]: tensor<1x1x3xf32>):
// CHECK-NEXT:      %[[Y:.*]] = "cpu.append"(%[[X]], %[[ADDED]]) {axis = 1 : i64}
// CHECK-NEXT:      "tri.yield"(%[[Y]])
func.func @rows(%m: tensor<i64>, %x: tensor<1x1x3xf32>) -> tensor<1x?x3xf32, ["", "u1", ""]> attributes {trivium.symbols = {u0 = "1..", u1 = "1.."}} {
  %0 = "tri.loop"(%m, %x, %x) ({
  ^bb0(%i: tensor<i64>, %h: tensor<1x?x3xf32, ["", "u0", ""]>, %new: tensor<1x1x3xf32>):
    %1 = "tri.group"(%h, %new) ({
    ^bb0(%a: tensor<1x?x3xf32, ["", "u0", ""]>, %b: tensor<1x1x3xf32>):
      %2 = "tri.concat"(%a, %b) {axis = 1 : i64} : (tensor<1x?x3xf32, ["", "u0", ""]>, tensor<1x1x3xf32>) -> tensor<1x?x3xf32, ["", "u0 + 1", ""]>
      "tri.yield"(%2) : (tensor<1x?x3xf32, ["", "u0 + 1", ""]>) -> ()
    }) {target = "cpu"} : (tensor<1x?x3xf32, ["", "u0", ""]>, tensor<1x1x3xf32>) -> tensor<1x?x3xf32, ["", "u0 + 1", ""]>
    "tri.yield"(%1) : (tensor<1x?x3xf32, ["", "u0 + 1", ""]>) -> ()
  }) {carried_sizes = ["u0"], iterations = -1 : i64, joined = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 1, 0, 1>, result_sizes = ["u1"]} : (tensor<i64>, tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x?x3xf32, ["", "u1", ""]>
  return %0 : tensor<1x?x3xf32, ["", "u1", ""]>
}

// A cache of two heads grows inside: all of it moves. So does what another target joins.
// CHECK-LABEL: func.func @heads
// CHECK-NOT:     "cpu.append"
func.func @heads(%m: tensor<i64>, %x: tensor<2x1x3xf32>) -> tensor<2x?x3xf32, ["", "u1", ""]> attributes {trivium.symbols = {u0 = "1..", u1 = "1.."}} {
  %0 = "tri.loop"(%m, %x, %x) ({
  ^bb0(%i: tensor<i64>, %h: tensor<2x?x3xf32, ["", "u0", ""]>, %new: tensor<2x1x3xf32>):
    %1 = "tri.group"(%h, %new) ({
    ^bb0(%a: tensor<2x?x3xf32, ["", "u0", ""]>, %b: tensor<2x1x3xf32>):
      %2 = "tri.concat"(%a, %b) {axis = 1 : i64} : (tensor<2x?x3xf32, ["", "u0", ""]>, tensor<2x1x3xf32>) -> tensor<2x?x3xf32, ["", "u0 + 1", ""]>
      "tri.yield"(%2) : (tensor<2x?x3xf32, ["", "u0 + 1", ""]>) -> ()
    }) {target = "cpu"} : (tensor<2x?x3xf32, ["", "u0", ""]>, tensor<2x1x3xf32>) -> tensor<2x?x3xf32, ["", "u0 + 1", ""]>
    "tri.yield"(%1) : (tensor<2x?x3xf32, ["", "u0 + 1", ""]>) -> ()
  }) {carried_sizes = ["u0"], iterations = -1 : i64, joined = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 1, 0, 1>, result_sizes = ["u1"]} : (tensor<i64>, tensor<2x1x3xf32>, tensor<2x1x3xf32>) -> tensor<2x?x3xf32, ["", "u1", ""]>
  return %0 : tensor<2x?x3xf32, ["", "u1", ""]>
}

func.func @host(%m: tensor<i64>, %x: tensor<1x3xf32>) -> tensor<?x3xf32, ["u1", ""]> attributes {trivium.symbols = {u0 = "1..", u1 = "1.."}} {
  %0 = "tri.loop"(%m, %x, %x) ({
  ^bb0(%i: tensor<i64>, %h: tensor<?x3xf32, ["u0", ""]>, %new: tensor<1x3xf32>):
    %1 = "tri.group"(%h, %new) ({
    ^bb0(%a: tensor<?x3xf32, ["u0", ""]>, %b: tensor<1x3xf32>):
      %2 = "tri.concat"(%a, %b) {axis = 0 : i64} : (tensor<?x3xf32, ["u0", ""]>, tensor<1x3xf32>) -> tensor<?x3xf32, ["u0 + 1", ""]>
      "tri.yield"(%2) : (tensor<?x3xf32, ["u0 + 1", ""]>) -> ()
    }) {target = "host"} : (tensor<?x3xf32, ["u0", ""]>, tensor<1x3xf32>) -> tensor<?x3xf32, ["u0 + 1", ""]>
    "tri.yield"(%1) : (tensor<?x3xf32, ["u0 + 1", ""]>) -> ()
  }) {carried_sizes = ["u0"], iterations = -1 : i64, joined = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 1, 0, 1>, result_sizes = ["u1"]} : (tensor<i64>, tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32, ["u1", ""]>
  return %0 : tensor<?x3xf32, ["u1", ""]>
}
