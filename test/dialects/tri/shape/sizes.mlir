// RUN: trivium-opt %s | FileCheck %s

// Sizes that all are known are integers, as in other attributes.
// CHECK-LABEL: func.func @sizes
// CHECK:         "tri.sizes"() {shape = array<i64: 2>, values = ["N", "4*N + 1"]} : () -> tensor<2xi64>
// CHECK:         "tri.sizes"() {shape = array<i64>, values = array<i64: 3>} : () -> tensor<i64>
func.func @sizes(%x: tensor<?xf32, ["N"]>) -> (tensor<2xi64>, tensor<i64>) attributes {trivium.symbols = {N = "1.."}} {
  %0 = "tri.sizes"() {shape = array<i64: 2>, values = ["N", "4*N + 1"]} : () -> tensor<2xi64>
  %1 = "tri.sizes"() {shape = array<i64>, values = array<i64: 3>} : () -> tensor<i64>
  return %0, %1 : tensor<2xi64>, tensor<i64>
}

// CHECK-LABEL: func.func @iota
// CHECK:         "tri.iota"() {size = "N"} : () -> tensor<?xi64, ["N"]>
// CHECK:         "tri.iota"() {size = 3 : i64} : () -> tensor<3xi64>
func.func @iota(%x: tensor<?xf32, ["N"]>) -> (tensor<?xi64, ["N"]>, tensor<3xi64>) attributes {trivium.symbols = {N = "1.."}} {
  %0 = "tri.iota"() {size = "N"} : () -> tensor<?xi64, ["N"]>
  %1 = "tri.iota"() {size = 3 : i64} : () -> tensor<3xi64>
  return %0, %1 : tensor<?xi64, ["N"]>, tensor<3xi64>
}
