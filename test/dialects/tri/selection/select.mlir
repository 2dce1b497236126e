// RUN: trivium-opt %s | FileCheck %s

// The op names the size that its operand's elements decide; sizes below depend on it.
// CHECK-LABEL: func.func @indices
// CHECK-SAME:    (%[[X:.*]]: tensor<2x?xf32, ["", "N"]>)
// CHECK:         %[[Y:.*]] = "tri.non_zero"(%[[X]]) {count = "u0"}
// CHECK-SAME:      -> tensor<2x?xi64, ["", "u0"]>
// CHECK:         "tri.reshape"(%[[Y]]) {shape = ["2*u0"]}
func.func @indices(%x: tensor<2x?xf32, ["", "N"]>) -> tensor<?xi64, ["2*u0"]>
    attributes {trivium.symbols = {N = "1..", u0 = "0.."}} {
  %0 = "tri.non_zero"(%x) {count = "u0"}
      : (tensor<2x?xf32, ["", "N"]>) -> tensor<2x?xi64, ["", "u0"]>
  %1 = "tri.reshape"(%0) {shape = ["2*u0"]}
      : (tensor<2x?xi64, ["", "u0"]>) -> tensor<?xi64, ["2*u0"]>
  return %1 : tensor<?xi64, ["2*u0"]>
}

// A size that is known is a promise about the elements.
// CHECK-LABEL: func.func @as_many_as_known
// CHECK:         "tri.non_zero"(%{{.*}}) {count = 3 : i64} : (tensor<4xi1>) -> tensor<1x3xi64>
func.func @as_many_as_known(%x: tensor<4xi1>) -> tensor<1x3xi64> {
  %0 = "tri.non_zero"(%x) {count = 3} : (tensor<4xi1>) -> tensor<1x3xi64>
  return %0 : tensor<1x3xi64>
}

// CHECK-LABEL: func.func @slices
// CHECK:         "tri.compress"(%{{.*}}, %{{.*}}) {axis = 1 : i64, count = "u1"}
// CHECK-SAME:      -> tensor<2x?x3xf32, ["", "u1", ""]>
func.func @slices(%x: tensor<2x5x3xf32>, %condition: tensor<4xi1>)
    -> tensor<2x?x3xf32, ["", "u1", ""]> attributes {trivium.symbols = {u1 = "0..4"}} {
  %0 = "tri.compress"(%x, %condition) {axis = 1, count = "u1"}
      : (tensor<2x5x3xf32>, tensor<4xi1>) -> tensor<2x?x3xf32, ["", "u1", ""]>
  return %0 : tensor<2x?x3xf32, ["", "u1", ""]>
}
