// RUN: trivium-opt %s --fold-constants --eliminate | FileCheck %s

// One size that is found may make the next one known.
// CHECK-LABEL: func.func @finds_one_after_another
// CHECK-NOT:     trivium.symbols
// CHECK:         "tri.tile"(%{{.*}}) {repeats = array<i64: 3>}
func.func @finds_one_after_another(%x: tensor<1xf32>) -> tensor<?xf32, ["u1"]>
    attributes {trivium.symbols = {u0 = "0..", u1 = "0.."}} {
  %c = "tri.constant"() {value = dense<3> : tensor<i64>} : () -> tensor<i64>
  %one = "tri.constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %n = "tri.define_sizes"(%c) {sizes = ["u0"]} : (tensor<i64>) -> tensor<i64>
  %0 = "tri.tile"(%one) {repeats = ["u0"]} : (tensor<1xi64>) -> tensor<?xi64, ["u0"]>
  %1 = "tri.non_zero"(%0) {count = "u1"} : (tensor<?xi64, ["u0"]>) -> tensor<1x?xi64, ["", "u1"]>
  %2 = "tri.tile"(%x) {repeats = ["u1"]} : (tensor<1xf32>) -> tensor<?xf32, ["u1"]>
  return %2 : tensor<?xf32, ["u1"]>
}

// What depends on an input is found when the model runs.
// CHECK-LABEL: func.func @keeps_what_is_not_known
// CHECK-SAME:    trivium.symbols = {v0 = "0.."}
// CHECK:         "tri.non_zero"(%{{.*}}) {count = "v0"}
func.func @keeps_what_is_not_known(%x: tensor<4xi64>) -> tensor<1x?xi64, ["", "v0"]>
    attributes {trivium.symbols = {v0 = "0.."}} {
  %0 = "tri.non_zero"(%x) {count = "v0"} : (tensor<4xi64>) -> tensor<1x?xi64, ["", "v0"]>
  return %0 : tensor<1x?xi64, ["", "v0"]>
}
