// RUN: trivium-opt %s --verify-values | FileCheck %s

// Branches return any size where that of the result is found.
// CHECK-LABEL: func.func @if
// CHECK:         "tri.if"
// CHECK:         {result_sizes = ["u1"]} : (tensor<i1>, tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["u1", ""]>
func.func @if(%c: tensor<i1>, %x: tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["u1", ""]>
    attributes {trivium.inputs = ["c", "x"], trivium.symbols = {N = "0..", u0 = "0..", u1 = "0.."}} {
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<?x3xf32, ["N", ""]>):
    %b = "tri.concat"(%a, %a) {axis = 0 : i64} : (tensor<?x3xf32, ["N", ""]>, tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["2*N", ""]>
    "tri.yield"(%b) : (tensor<?x3xf32, ["2*N", ""]>) -> ()
  }, {
  ^bb0(%a: tensor<?x3xf32, ["N", ""]>):
    "tri.yield"(%a) : (tensor<?x3xf32, ["N", ""]>) -> ()
  }) {result_sizes = ["u1"]} : (tensor<i1>, tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["u1", ""]>
  return %r : tensor<?x3xf32, ["u1", ""]>
}

// A loop carries a size that grows, and puts out as many tensors as it has iterations.
// CHECK-LABEL: func.func @grows
// CHECK:         "tri.loop"
// CHECK:         carried_sizes = ["u0"]
// CHECK-SAME:    result_sizes = ["u1", "u2"]
func.func @grows(%n: tensor<i64>, %x: tensor<1x3xf32>) -> (tensor<?x3xf32, ["u2", ""]>, tensor<?x3xf32, ["u1", ""]>)
    attributes {trivium.inputs = ["n", "x"], trivium.symbols = {u0 = "0..", u1 = "0..", u2 = "0.."}} {
  %r:2 = "tri.loop"(%n, %x, %x) ({
  ^bb0(%i: tensor<i64>, %h: tensor<?x3xf32, ["u0", ""]>, %a: tensor<1x3xf32>):
    %b = "tri.concat"(%h, %a) {axis = 0 : i64} : (tensor<?x3xf32, ["u0", ""]>, tensor<1x3xf32>) -> tensor<?x3xf32, ["u0 + 1", ""]>
    %o = "tri.reshape"(%a) {shape = array<i64: 3>} : (tensor<1x3xf32>) -> tensor<3xf32>
    "tri.yield"(%b, %o) : (tensor<?x3xf32, ["u0 + 1", ""]>, tensor<3xf32>) -> ()
  }) {carried_sizes = ["u0"], operandSegmentSizes = array<i32: 1, 0, 1, 0, 1>, result_sizes = ["u1", "u2"]} : (tensor<i64>, tensor<1x3xf32>, tensor<1x3xf32>) -> (tensor<?x3xf32, ["u2", ""]>, tensor<?x3xf32, ["u1", ""]>)
  return %r#0, %r#1 : tensor<?x3xf32, ["u2", ""]>, tensor<?x3xf32, ["u1", ""]>
}

// What iterations put out may be joined instead of stacked: the size of the whole is found.
// CHECK-LABEL: func.func @joins
// CHECK:         "tri.loop"
// CHECK:         joined = 1
// CHECK-SAME:    result_sizes = ["u1"]
func.func @joins(%n: tensor<i64>, %x: tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["u1", ""]>
    attributes {trivium.inputs = ["n", "x"], trivium.symbols = {N = "0..", u1 = "0.."}} {
  %r = "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<?x3xf32, ["N", ""]>):
    "tri.yield"(%a) : (tensor<?x3xf32, ["N", ""]>) -> ()
  }) {joined = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 1>, result_sizes = ["u1"]} : (tensor<i64>, tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["u1", ""]>
  return %r : tensor<?x3xf32, ["u1", ""]>
}
