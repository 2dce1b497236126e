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

// A large constant does not stand in the IR.
// CHECK-LABEL: func.func @moves_a_large_constant
// CHECK-NEXT:    %[[W:.*]] = "tri.weight"() {name = "places", type = tensor<64x64xf32>}
// CHECK-NEXT:    return %[[W]]
func.func @moves_a_large_constant() -> tensor<64x64xf32> {
  %a = "tri.constant"() {value = dense<1.0> : tensor<64x64xf32>} : () -> tensor<64x64xf32> loc("Constant_1"("places"))
  return %a : tensor<64x64xf32>
}

// A mask that positions make is known to other passes.
// CHECK-LABEL: func.func @folds_a_table_of_few_numbers
// CHECK:         %[[Y:.*]] = "tri.weight"() {{.*}} -> tensor<128x128xi1>
// CHECK-NEXT:    return %[[Y]]
func.func @folds_a_table_of_few_numbers() -> tensor<128x128xi1> {
  %a = "tri.constant"() {value = dense<1> : tensor<128x1xi64>} : () -> tensor<128x1xi64>
  %b = "tri.constant"() {value = dense<2> : tensor<128xi64>} : () -> tensor<128xi64>
  %y = "tri.less"(%a, %b) : (tensor<128x1xi64>, tensor<128xi64>) -> tensor<128x128xi1>
  return %y : tensor<128x128xi1>
}

// A few hundred bytes may take a few times as much.
// CHECK-LABEL: func.func @folds_a_small_cast
// CHECK-NOT:     "tri.cast"
// CHECK:         return
func.func @folds_a_small_cast() -> tensor<300xf32> {
  %q = "tri.constant"() {value = dense<7> : tensor<300xi8>} : () -> tensor<300xi8>
  %y = "tri.cast"(%q) {to = "f32"} : (tensor<300xi8>) -> tensor<300xf32>
  return %y : tensor<300xf32>
}

// What is made of all constants together is no larger than these are.
// CHECK-LABEL: func.func @folds_a_product_with_a_table
// CHECK-NOT:     "tri.mul"
// CHECK:         return
func.func @folds_a_product_with_a_table() -> tensor<64x64xf32> {
  %q = "tri.constant"() {value = dense<7> : tensor<64x64xi8>} : () -> tensor<64x64xi8>
  %f = "tri.cast"(%q) {to = "f32"} : (tensor<64x64xi8>) -> tensor<64x64xf32>
  %t = "tri.constant"() {value = dense<1.0> : tensor<64x64xf32>} : () -> tensor<64x64xf32>
  %y = "tri.mul"(%f, %t) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// What is large on the way does not matter.
// CHECK-LABEL: func.func @folds_a_sum_of_widened_numbers
// CHECK-NOT:     "tri.cast"
// CHECK:         %[[Y:.*]] = "tri.constant"() {value = dense<2.867200e+04> : tensor<1x1xf32>}
// CHECK-NEXT:    return %[[Y]]
func.func @folds_a_sum_of_widened_numbers() -> tensor<1x1xf32> {
  %q = "tri.constant"() {value = dense<7> : tensor<64x64xi8>} : () -> tensor<64x64xi8>
  %f = "tri.cast"(%q) {to = "f32"} : (tensor<64x64xi8>) -> tensor<64x64xf32>
  %y = "tri.reduce_sum"(%f) {axes = array<i64: 0, 1>, keepdims = true} : (tensor<64x64xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// Weights that are stored as bytes stay bytes; what only moves them is done.
// CHECK-LABEL: func.func @keeps_weights_narrow
// CHECK-NEXT:    %[[Q:.*]] = "tri.weight"() {name = {{.*}}, type = tensor<64x128xi8>}
// CHECK-NEXT:    %[[F:.*]] = "tri.cast"(%[[Q]])
// CHECK-NEXT:    return %[[F]]
func.func @keeps_weights_narrow() -> tensor<64x128xf32> {
  %q = "tri.constant"() {value = dense<7> : tensor<128x64xi8>} : () -> tensor<128x64xi8>
  %t = "tri.transpose"(%q) {permutation = array<i64: 1, 0>} : (tensor<128x64xi8>) -> tensor<64x128xi8>
  %f = "tri.cast"(%t) {to = "f32"} : (tensor<64x128xi8>) -> tensor<64x128xf32>
  return %f : tensor<64x128xf32>
}

// Halves stay halves, too.
// CHECK-LABEL: func.func @keeps_halves
// CHECK:         "tri.cast"
func.func @keeps_halves() -> tensor<64x64xf32> {
  %q = "tri.constant"() {value = dense<1.0> : tensor<64x64xf16>} : () -> tensor<64x64xf16>
  %f = "tri.cast"(%q) {to = "f32"} : (tensor<64x64xf16>) -> tensor<64x64xf32>
  return %f : tensor<64x64xf32>
}

// Of scales and integers, each in the order of the other, neither is widened.
// CHECK-LABEL: func.func @keeps_scaled_weights
// CHECK:         "tri.cast"({{.*}}) {{.*}} : (tensor<64x64xi8>)
// CHECK:         "tri.mul"({{.*}}) : (tensor<64x64xf32>, tensor<64x1xf32>)
func.func @keeps_scaled_weights() -> tensor<64x64xf32> {
  %q = "tri.constant"() {value = dense<7> : tensor<64x64xi8>} : () -> tensor<64x64xi8>
  %f = "tri.cast"(%q) {to = "f32"} : (tensor<64x64xi8>) -> tensor<64x64xf32>
  %s = "tri.constant"() {value = dense<0.5> : tensor<64xf32>} : () -> tensor<64xf32>
  %r = "tri.reshape"(%s) {shape = array<i64: 64, 1>} : (tensor<64xf32>) -> tensor<64x1xf32>
  %y = "tri.mul"(%f, %r) : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// A megabyte that four bytes stand for is not stored.
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

// What an op finds in a constant is known, and so are sizes that depend on it.
// CHECK-LABEL: func.func @binds_what_is_found
// CHECK-SAME:    (%[[X:.*]]: tensor<1xf32>) -> (tensor<1x2xi64>, tensor<2xf32>)
// CHECK-NOT:     trivium.symbols
// CHECK-NOT:     tri.non_zero
// CHECK-DAG:     %[[PLACES:.*]] = "tri.constant"() {value = dense<{{\[}}[1, 3]]> : tensor<1x2xi64>}
// CHECK-DAG:     %[[Y:.*]] = "tri.tile"(%[[X]]) {repeats = array<i64: 2>}
// CHECK:         return %[[PLACES]], %[[Y]]
func.func @binds_what_is_found(%x: tensor<1xf32>)
    -> (tensor<1x?xi64, ["", "u0"]>, tensor<?xf32, ["u0"]>)
    attributes {trivium.symbols = {u0 = "0.."}} {
  %c = "tri.constant"() {value = dense<[0, 4, 0, 5]> : tensor<4xi64>} : () -> tensor<4xi64>
  %0 = "tri.non_zero"(%c) {count = "u0"} : (tensor<4xi64>) -> tensor<1x?xi64, ["", "u0"]>
  %1 = "tri.tile"(%x) {repeats = ["u0"]} : (tensor<1xf32>) -> tensor<?xf32, ["u0"]>
  return %0, %1 : tensor<1x?xi64, ["", "u0"]>, tensor<?xf32, ["u0"]>
}

// A large result of an operand whose size is a symbol is no constant.
// CHECK-LABEL: func.func @keeps_op_on_symbolic_sizes
// CHECK:         "tri.mat_mul"
func.func @keeps_op_on_symbolic_sizes(%x: tensor<1000x?xf32, ["", "T"]>, %y: tensor<?x100xf32, ["T", ""]>) -> tensor<1000x100xf32>
    attributes {trivium.symbols = {T = "1.."}} {
  %0 = "tri.mat_mul"(%x, %y) : (tensor<1000x?xf32, ["", "T"]>, tensor<?x100xf32, ["T", ""]>) -> tensor<1000x100xf32>
  return %0 : tensor<1000x100xf32>
}

// A result without elements depends on nothing, whatever the operands are.
// CHECK-LABEL: func.func @folds_what_has_no_elements
// CHECK-SAME:    (%[[X:.*]]: tensor<3x4xf32>)
// CHECK-NEXT:    %[[NONE:.*]] = "tri.constant"() {value = dense<> : tensor<0x4xf32>}
// CHECK-NEXT:    return %[[NONE]]
func.func @folds_what_has_no_elements(%x: tensor<3x4xf32>) -> tensor<0x4xf32> {
  %a = "tri.slice"(%x) {sizes = array<i64: 0, 4>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<0x4xf32>
  %y = "tri.exp"(%a) : (tensor<0x4xf32>) -> tensor<0x4xf32>
  return %y : tensor<0x4xf32>
}

// A size that a run finds may be 0 or not.
// CHECK-LABEL: func.func @keeps_sizes_of_runs
// CHECK:         "tri.exp"
func.func @keeps_sizes_of_runs(%x: tensor<?xf32, ["N"]>) -> tensor<?xf32, ["N"]>
    attributes {trivium.symbols = {N = "0.."}} {
  %y = "tri.exp"(%x) : (tensor<?xf32, ["N"]>) -> tensor<?xf32, ["N"]>
  return %y : tensor<?xf32, ["N"]>
}
