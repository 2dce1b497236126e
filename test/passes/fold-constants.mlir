// RUN: trivium-opt %s --fold-constants | FileCheck %s

// A chain of ops on constants becomes the constant at its end.
// CHECK-LABEL: func.func @folds_a_chain
// CHECK:         %[[Y:.*]] = "tri.constant"() {value = dense<[2.000000e+00, 3.000000e+00]> : tensor<2xf32>}
// CHECK-NEXT:    return %[[Y]]
func.func @folds_a_chain() -> tensor<2xf32> {
  %a = "tri.constant"() {value = dense<[1.0, 4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = "tri.sqrt"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %one = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %c = "tri.add"(%b, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %c : tensor<2xf32>
}

// Each result of an op that has several is a constant of its own.
// CHECK-LABEL: func.func @folds_all_results
// CHECK-DAG:     %[[A:.*]] = "tri.constant"() {value = dense<1> : tensor<1xi64>}
// CHECK-DAG:     %[[B:.*]] = "tri.constant"() {value = dense<[2, 3]> : tensor<2xi64>}
// CHECK:         return %[[A]], %[[B]]
func.func @folds_all_results() -> (tensor<1xi64>, tensor<2xi64>) {
  %c = "tri.constant"() {value = dense<[1, 2, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  %a, %b = "tri.split"(%c) {axis = 0, sizes = array<i64: 1, 2>} : (tensor<3xi64>) -> (tensor<1xi64>, tensor<2xi64>)
  return %a, %b : tensor<1xi64>, tensor<2xi64>
}

// A result that is too large for the IR becomes a weight.
// CHECK-LABEL: func.func @folds_to_a_weight
// CHECK:         %[[Y:.*]] = "tri.weight"() {name = "table", type = tensor<400xf32>}
// CHECK-NEXT:    return %[[Y]]
func.func @folds_to_a_weight() -> tensor<400xf32> {
  %a = "tri.constant"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %b = "tri.expand"(%a) {shape = array<i64: 400>} : (tensor<1xf32>) -> tensor<400xf32> loc("Expand_1"("table"))
  return %b : tensor<400xf32>
}

// What a weight without data holds is not known.
// CHECK-LABEL: func.func @keeps_op_on_weight_without_data
// CHECK:         %[[W:.*]] = "tri.weight"
// CHECK:         "tri.sqrt"(%[[W]])
func.func @keeps_op_on_weight_without_data() -> tensor<2xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<2xf32>} : () -> tensor<2xf32>
  %y = "tri.sqrt"(%w) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// A megabyte made of four bytes is better made at run time.
// CHECK-LABEL: func.func @keeps_op_that_grows_too_much
// CHECK:         "tri.expand"
func.func @keeps_op_that_grows_too_much() -> tensor<512x512xf32> {
  %a = "tri.constant"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %b = "tri.expand"(%a) {shape = array<i64: 512, 512>} : (tensor<1xf32>) -> tensor<512x512xf32>
  return %b : tensor<512x512xf32>
}

// CHECK-LABEL: func.func @keeps_op_on_input
// CHECK:         "tri.add"
func.func @keeps_op_on_input(%x: tensor<2xf32>) -> tensor<2xf32> {
  %one = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %y = "tri.add"(%x, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
