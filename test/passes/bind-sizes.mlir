// RUN: trivium-opt %s -p 'bind-sizes{N=2 T=16 B=16}' | FileCheck %s

// Sizes take the place of symbols in types, in attributes and in sizes that are numbers.
// CHECK-LABEL: func.func @binds_types_and_attributes
// CHECK-SAME:    (%[[X:.*]]: tensor<2x16x6xf32>) -> (tensor<2x17x6xf32>, tensor<3xi64>) {
// CHECK-NEXT:    %[[P:.*]] = "tri.pad"(%[[X]])
// CHECK-NEXT:    %[[R:.*]] = "tri.reshape"(%[[P]]) {shape = array<i64: 34, 6>} : (tensor<2x17x6xf32>) -> tensor<34x6xf32>
// CHECK-NEXT:    %[[Y:.*]] = "tri.reshape"(%[[R]]) {shape = array<i64: 2, 17, 6>}
// CHECK-NEXT:    %[[S:.*]] = "tri.sizes"() {shape = array<i64: 3>, values = array<i64: 2, 17, 6>}
// CHECK-NEXT:    return %[[Y]], %[[S]]
func.func @binds_types_and_attributes(%x: tensor<?x?x6xf32, ["N", "T", ""]>) -> (tensor<?x?x6xf32, ["N", "T + 1", ""]>, tensor<3xi64>) attributes {trivium.symbols = {N = "1..:1", T = "1..512"}} {
  %p = "tri.pad"(%x) {pads = array<i64: 0, 0, 0, 0, 1, 0>} : (tensor<?x?x6xf32, ["N", "T", ""]>) -> tensor<?x?x6xf32, ["N", "T + 1", ""]>
  %r = "tri.reshape"(%p) {shape = ["N*T + N", "6"]} : (tensor<?x?x6xf32, ["N", "T + 1", ""]>) -> tensor<?x6xf32, ["N*T + N", ""]>
  %y = "tri.reshape"(%r) {shape = ["N", "T + 1", "6"]} : (tensor<?x6xf32, ["N*T + N", ""]>) -> tensor<?x?x6xf32, ["N", "T + 1", ""]>
  %s = "tri.sizes"() {shape = array<i64: 3>, values = ["N", "T + 1", "6"]} : () -> tensor<3xi64>
  return %y, %s : tensor<?x?x6xf32, ["N", "T + 1", ""]>, tensor<3xi64>
}

// Of sizes that a check says are equal, the one that is known is chosen; the check is of the other.
// CHECK-LABEL: func.func @binds_one_of_two_sizes
// CHECK-SAME:    (%[[X:.*]]: tensor<16xf32>, %[[Y:.*]]: tensor<?xf32, ["M"]>) -> tensor<16xf32>
// CHECK-SAME:    trivium.checks = [{expression = "-M + 16", message = "'Add' node has sizes T and M", node = "sum", relation = "=="}]
// CHECK-SAME:    trivium.symbols = {M = "1.."}
// CHECK-NEXT:    "tri.add"(%[[Y]], %[[X]]) : (tensor<?xf32, ["M"]>, tensor<16xf32>) -> tensor<16xf32>
func.func @binds_one_of_two_sizes(%x: tensor<?xf32, ["T"]>, %y: tensor<?xf32, ["M"]>) -> tensor<?xf32, ["M"]> attributes {trivium.checks = [{expression = "-M + T", message = "'Add' node has sizes T and M", node = "sum", relation = "=="}], trivium.symbols = {M = "1..", T = "1..512"}} {
  %0 = "tri.add"(%y, %x) : (tensor<?xf32, ["M"]>, tensor<?xf32, ["T"]>) -> tensor<?xf32, ["M"]>
  return %0 : tensor<?xf32, ["M"]>
}

// A check that holds is dropped.
// CHECK-LABEL: func.func @drops_checks_that_hold
// CHECK-NOT:     trivium.checks
// CHECK:         return
func.func @drops_checks_that_hold(%x: tensor<?xf32, ["T"]>) -> tensor<?xf32, ["T"]> attributes {trivium.checks = [{expression = "T - 8", message = "'Slice' node has size T, must be at least 8", node = "cut", relation = ">="}], trivium.symbols = {T = "1..512"}} {
  return %x : tensor<?xf32, ["T"]>
}

// The types inside of a group are bound, too.
// CHECK-LABEL: func.func @binds_groups
// CHECK:         "tri.group"(%{{.*}}) ({
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<2x3xf32>):
// CHECK-NEXT:      %[[R:.*]] = "tri.relu"(%[[A]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK:         }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @binds_groups(%x: tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["N", ""]> attributes {trivium.symbols = {N = "1..:1"}} {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<?x3xf32, ["N", ""]>):
    %r = "tri.relu"(%a) : (tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["N", ""]>
    "tri.yield"(%r) : (tensor<?x3xf32, ["N", ""]>) -> ()
  }) : (tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["N", ""]>
  return %y : tensor<?x3xf32, ["N", ""]>
}

// A type keeps the order of its axes in memory.
// CHECK-LABEL: func.func @binds_types_with_orders
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x4xf32, [0, 2, 1]>) -> tensor<2x3x4xf32, [0, 2, 1]> {
func.func @binds_types_with_orders(%x: tensor<?x3x4xf32, {order = [0, 2, 1], sizes = ["N", "", ""]}>) -> tensor<?x3x4xf32, {order = [0, 2, 1], sizes = ["N", "", ""]}> attributes {trivium.symbols = {N = "1..:1"}} {
  return %x : tensor<?x3x4xf32, {order = [0, 2, 1], sizes = ["N", "", ""]}>
}

// A symbol with a step is a multiple of another one, which is bound with it.
// CHECK-LABEL: func.func @binds_multiples
// CHECK-SAME:    (%[[X:.*]]: tensor<16x8xf32>) -> tensor<2x8x8xf32>
// CHECK-NEXT:    "tri.reshape"(%[[X]]) {shape = array<i64: 2, 8, 8>}
func.func @binds_multiples(%x: tensor<?x8xf32, ["8*B_8", ""]>) -> tensor<?x8x8xf32, ["B_8", "", ""]> attributes {trivium.symbols = {B = "8..64/8"}} {
  %y = "tri.reshape"(%x) {shape = ["B_8", "8", "8"]} : (tensor<?x8xf32, ["8*B_8", ""]>) -> tensor<?x8x8xf32, ["B_8", "", ""]>
  return %y : tensor<?x8x8xf32, ["B_8", "", ""]>
}

// Other symbols stay, and so do static functions.
// CHECK-LABEL: func.func @keeps_other_symbols
// CHECK-SAME:    (%[[X:.*]]: tensor<?xf32, ["K"]>) -> tensor<?xf32, ["K"]> attributes {trivium.symbols = {K = "1.."}}
func.func @keeps_other_symbols(%x: tensor<?xf32, ["K"]>) -> tensor<?xf32, ["K"]> attributes {trivium.symbols = {K = "1.."}} {
  return %x : tensor<?xf32, ["K"]>
}
