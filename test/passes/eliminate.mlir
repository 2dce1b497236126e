// RUN: trivium-opt %s --eliminate | FileCheck %s

// Ops that only move elements disappear when they move none.
// CHECK-LABEL: func.func @drops_moves_that_move_nothing
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @drops_moves_that_move_nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = "tri.reshape"(%x) {shape = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = "tri.transpose"(%a) {permutation = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "tri.slice"(%b) {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = "tri.pad"(%c) {pads = array<i64: 0, 0, 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = "tri.expand"(%d) {shape = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %f = "tri.tile"(%e) {repeats = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %g = "tri.concat"(%f) {axis = 0} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %h = "tri.split"(%g) {axis = 1, sizes = array<i64: 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %h : tensor<2x3xf32>
}

// So do casts to the type that is there, limits that limit nothing, and sums over no axis.
// CHECK-LABEL: func.func @drops_conversions_that_convert_nothing
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @drops_conversions_that_convert_nothing(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = "tri.cast"(%x) {to = "f32"} : (tensor<2xf32>) -> tensor<2xf32>
  %b = "tri.clip"(%a) {min = 0xFFF0000000000000 : f64, max = 0x7FF0000000000000 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %c = "tri.reduce_sum"(%b) {axes = array<i64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %c : tensor<2xf32>
}

// Adding zero and multiplying by one change nothing, from either side.
// CHECK-LABEL: func.func @drops_neutral_numbers
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @drops_neutral_numbers(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = "tri.constant"() {value = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %one = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %a = "tri.add"(%zero, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b = "tri.sub"(%a, %zero) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %c = "tri.mul"(%one, %b) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %d = "tri.div"(%c, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %e = "tri.pow"(%d, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %e : tensor<2xf32>
}

// A condition that is known chooses.
// CHECK-LABEL: func.func @drops_where_of_known_condition
// CHECK-SAME:    (%[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>)
// CHECK-NEXT:    return %[[B]]
func.func @drops_where_of_known_condition(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %false = "tri.constant"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %y = "tri.where"(%false, %a, %b) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// What nobody uses goes, and what only that used, too.
// CHECK-LABEL: func.func @drops_unused_ops
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @drops_unused_ops(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<2xf32>} : () -> tensor<2xf32>
  %a = "tri.add"(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b = "tri.relu"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %x : tensor<2xf32>
}

// Unused ops inside of a group go, too; its inputs stay.
// CHECK-LABEL: func.func @drops_unused_ops_in_groups
// CHECK-NOT:     tri.exp
// CHECK:         "tri.relu"
func.func @drops_unused_ops_in_groups(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %e = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %r = "tri.relu"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%r) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// Adding zeros still changes something where it broadcasts.
// CHECK-LABEL: func.func @keeps_zeros_that_broadcast
// CHECK:         "tri.add"
func.func @keeps_zeros_that_broadcast(%x: tensor<1xf32>) -> tensor<2xf32> {
  %zero = "tri.constant"() {value = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "tri.add"(%x, %zero) : (tensor<1xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// A slice that goes backwards has the type of its operand, and is not the same.
// CHECK-LABEL: func.func @keeps_slice_that_reverses
// CHECK:         "tri.slice"
func.func @keeps_slice_that_reverses(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = "tri.slice"(%x) {starts = array<i64: 2>, sizes = array<i64: 3>, steps = array<i64: -1>} : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @resamples_nothing
// CHECK-SAME:    (%[[X:.*]]: tensor<1x2x3xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @resamples_nothing(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  %y = "tri.resize"(%x) {mode = "linear", scales = array<f64: 1.0, 1.0, 1.0>, sizes = array<i64: 1, 2, 3>} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  return %y : tensor<1x2x3xf32>
}

// As many elements may be others: these lie closer together.
// CHECK-LABEL: func.func @resamples_as_many
// CHECK:         "tri.resize"
func.func @resamples_as_many(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  %y = "tri.resize"(%x) {mode = "linear", scales = array<f64: 1.0, 1.0, 1.25>, sizes = array<i64: 1, 2, 3>} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  return %y : tensor<1x2x3xf32>
}

// A pad that crops on one side as much as it adds on the other has the type of its operand.
// CHECK-LABEL: func.func @keeps_pad_that_shifts
// CHECK:         "tri.pad"
func.func @keeps_pad_that_shifts(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = "tri.pad"(%x) {pads = array<i64: 1, -1>} : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// Zero minus x is not x, and one over x is not x.
// CHECK-LABEL: func.func @keeps_neutral_numbers_on_the_left
// CHECK:         "tri.sub"
// CHECK:         "tri.div"
func.func @keeps_neutral_numbers_on_the_left(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = "tri.constant"() {value = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %one = "tri.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %a = "tri.sub"(%zero, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b = "tri.div"(%one, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %b : tensor<2xf32>
}

// The square of a single element is not the element.
// CHECK-LABEL: func.func @keeps_sum_of_squares_over_no_axis
// CHECK:         "tri.reduce_sum_square"
func.func @keeps_sum_of_squares_over_no_axis(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tri.reduce_sum_square"(%x) {axes = array<i64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// An op stays while a size depends on what it finds, and goes with its symbol when none does.
// CHECK-LABEL: func.func @keeps_what_defines_sizes
// CHECK-SAME:    attributes {trivium.symbols = {u0 = "0.."}}
// CHECK-NEXT:    "tri.non_zero"(%{{.*}}) {count = "u0"}
// CHECK-NEXT:    "tri.tile"(%{{.*}}) {repeats = ["u0"]}
// CHECK-NEXT:    return
func.func @keeps_what_defines_sizes(%x: tensor<4xf32>, %y: tensor<1xf32>) -> tensor<?xf32, ["u0"]>
    attributes {trivium.symbols = {u0 = "0..", u1 = "0.."}} {
  %0 = "tri.non_zero"(%x) {count = "u0"} : (tensor<4xf32>) -> tensor<1x?xi64, ["", "u0"]>
  %1 = "tri.tile"(%y) {repeats = ["u0"]} : (tensor<1xf32>) -> tensor<?xf32, ["u0"]>
  %2 = "tri.non_zero"(%1) {count = "u1"} : (tensor<?xf32, ["u0"]>) -> tensor<1x?xi64, ["", "u1"]>
  %3 = "tri.reshape"(%2) {shape = ["u1"]} : (tensor<1x?xi64, ["", "u1"]>) -> tensor<?xi64, ["u1"]>
  return %1 : tensor<?xf32, ["u0"]>
}

// Inside of a group, too.
// CHECK-LABEL: func.func @keeps_groups_that_define_sizes
// CHECK:         "tri.group"
// CHECK:           "tri.non_zero"(%{{.*}}) {count = "v0"}
// CHECK:         "tri.tile"
func.func @keeps_groups_that_define_sizes(%x: tensor<4xf32>, %y: tensor<1xf32>)
    -> tensor<?xf32, ["v0"]> attributes {trivium.symbols = {v0 = "0.."}} {
  %0 = "tri.group"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %1 = "tri.non_zero"(%a) {count = "v0"} : (tensor<4xf32>) -> tensor<1x?xi64, ["", "v0"]>
    "tri.yield"(%1) : (tensor<1x?xi64, ["", "v0"]>) -> ()
  }) {target = ""} : (tensor<4xf32>) -> tensor<1x?xi64, ["", "v0"]>
  %2 = "tri.tile"(%y) {repeats = ["v0"]} : (tensor<1xf32>) -> tensor<?xf32, ["v0"]>
  return %2 : tensor<?xf32, ["v0"]>
}

// What is checked is needed.
// CHECK-LABEL: func.func @keeps_what_is_checked
// CHECK:         "tri.non_zero"
func.func @keeps_what_is_checked(%x: tensor<4xf32>) attributes {
    trivium.checks = [{expression = "w0 - 1", message = "", node = "", relation = ">="}],
    trivium.symbols = {w0 = "0.."}} {
  %0 = "tri.non_zero"(%x) {count = "w0"} : (tensor<4xf32>) -> tensor<1x?xi64, ["", "w0"]>
  return
}
