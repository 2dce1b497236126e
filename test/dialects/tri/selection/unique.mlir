// RUN: trivium-opt %s | FileCheck %s

// Three results have the size that is found, one a place for each slice of the operand.
// CHECK-LABEL: func.func @rows
// CHECK:         "tri.unique"(%{{.*}}) {axis = 0 : i64, count = "u0", sorted = false}
// CHECK-SAME:      (tensor<?x3xf32, ["N", ""]>) -> (tensor<?x3xf32, ["u0", ""]>,
// CHECK-SAME:      tensor<?xi64, ["u0"]>, tensor<?xi64, ["N"]>, tensor<?xi64, ["u0"]>)
func.func @rows(%x: tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["u0", ""]>
    attributes {trivium.symbols = {N = "1..", u0 = "0.."}} {
  %0:4 = "tri.unique"(%x) {axis = 0, count = "u0", sorted = false}
      : (tensor<?x3xf32, ["N", ""]>) -> (tensor<?x3xf32, ["u0", ""]>, tensor<?xi64, ["u0"]>,
                                          tensor<?xi64, ["N"]>, tensor<?xi64, ["u0"]>)
  return %0#0 : tensor<?x3xf32, ["u0", ""]>
}
