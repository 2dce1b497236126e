// RUN: trivium-opt %s --hoist-rows | FileCheck %s

// The logits of some tokens are the products of their rows; what normalises them works on these.
// CHECK-LABEL: func.func @gathers_rows_of_a_product
// CHECK-SAME:    (%[[X:.*]]: tensor<1x100x4xf32>, %[[W:.*]]: tensor<4x16xf32>, %[[I:.*]]: tensor<1xi64>)
// CHECK:         %[[ROW:.*]] = "tri.gather"(%[[X]], %[[I]]) {{.*}} -> tensor<1x1x4xf32>
// CHECK:         %[[Y:.*]] = "tri.mat_mul"(%[[ROW]], %[[W]]) : {{.*}} -> tensor<1x1x16xf32>
// CHECK:         %[[T:.*]] = "tri.tanh"(%[[Y]])
// CHECK-NEXT:    return %[[T]]
func.func @gathers_rows_of_a_product(%x: tensor<1x100x4xf32>, %w: tensor<4x16xf32>, %i: tensor<1xi64>) -> tensor<1x1x16xf32> {
  %p = "tri.mat_mul"(%x, %w) : (tensor<1x100x4xf32>, tensor<4x16xf32>) -> tensor<1x100x16xf32>
  %t = "tri.tanh"(%p) : (tensor<1x100x16xf32>) -> tensor<1x100x16xf32>
  %y = "tri.gather"(%t, %i) {axis = 1 : i64} : (tensor<1x100x16xf32>, tensor<1xi64>) -> tensor<1x1x16xf32>
  return %y : tensor<1x1x16xf32>
}

// Both products of a residual stream, and the norm, take the one row; the bias has none.
// CHECK-LABEL: func.func @slices_a_residual_stream
// CHECK-SAME:    (%[[X:[^:]*]]: tensor<1x100x4xf32>, %[[H:[^:]*]]: tensor<1x100x6xf32>
// CHECK-DAG:     %[[XROW:.*]] = "tri.slice"(%[[X]]) {{.*}} -> tensor<1x1x4xf32>
// CHECK-DAG:     %[[HROW:.*]] = "tri.slice"(%[[H]]) {{.*}} -> tensor<1x1x6xf32>
// CHECK:         %[[DOWN:.*]] = "tri.mat_mul"(%[[HROW]]
// CHECK:         "tri.add"(%[[DOWN]], %{{.*}}) : (tensor<1x1x4xf32>, tensor<4xf32>)
// CHECK:         "tri.rms_norm"({{.*}}) {{.*}} -> tensor<1x1x4xf32>
// CHECK-NEXT:    return
func.func @slices_a_residual_stream(%x: tensor<1x100x4xf32>, %h: tensor<1x100x6xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<1x1x4xf32> {
  %p = "tri.mat_mul"(%h, %w) : (tensor<1x100x6xf32>, tensor<6x4xf32>) -> tensor<1x100x4xf32>
  %a = "tri.add"(%p, %b) : (tensor<1x100x4xf32>, tensor<4xf32>) -> tensor<1x100x4xf32>
  %r = "tri.add"(%x, %a) : (tensor<1x100x4xf32>, tensor<1x100x4xf32>) -> tensor<1x100x4xf32>
  %n = "tri.rms_norm"(%r, %s) {axis = -1 : i64, epsilon = 1.0e-6 : f64} : (tensor<1x100x4xf32>, tensor<4xf32>) -> tensor<1x100x4xf32>
  %y = "tri.slice"(%n) {starts = array<i64: 0, 7, 0>, sizes = array<i64: 1, 1, 4>, steps = array<i64: 1, 1, 1>} : (tensor<1x100x4xf32>) -> tensor<1x1x4xf32>
  return %y : tensor<1x1x4xf32>
}

// Another op needs all rows: the product would be computed twice.
// CHECK-LABEL: func.func @keeps_a_product_with_two_users
// CHECK:         "tri.mat_mul"({{.*}}) : {{.*}} -> tensor<1x100x16xf32>
// CHECK:         "tri.gather"
func.func @keeps_a_product_with_two_users(%x: tensor<1x100x4xf32>, %w: tensor<4x16xf32>, %i: tensor<1xi64>) -> (tensor<1x1x16xf32>, tensor<1x100x16xf32>) {
  %p = "tri.mat_mul"(%x, %w) : (tensor<1x100x4xf32>, tensor<4x16xf32>) -> tensor<1x100x16xf32>
  %y = "tri.gather"(%p, %i) {axis = 1 : i64} : (tensor<1x100x16xf32>, tensor<1xi64>) -> tensor<1x1x16xf32>
  return %y, %p : tensor<1x1x16xf32>, tensor<1x100x16xf32>
}

// Columns are no rows of the first operand.
// CHECK-LABEL: func.func @keeps_columns
// CHECK:         "tri.mat_mul"({{.*}}) : {{.*}} -> tensor<1x100x16xf32>
// CHECK-NEXT:    "tri.slice"
func.func @keeps_columns(%x: tensor<1x100x4xf32>, %w: tensor<4x16xf32>) -> tensor<1x100x2xf32> {
  %p = "tri.mat_mul"(%x, %w) : (tensor<1x100x4xf32>, tensor<4x16xf32>) -> tensor<1x100x16xf32>
  %y = "tri.slice"(%p) {starts = array<i64: 0, 0, 4>, sizes = array<i64: 1, 100, 2>, steps = array<i64: 1, 1, 1>} : (tensor<1x100x16xf32>) -> tensor<1x100x2xf32>
  return %y : tensor<1x100x2xf32>
}

// More rows are taken than there are.
// CHECK-LABEL: func.func @keeps_rows_that_are_repeated
// CHECK:         "tri.mat_mul"({{.*}}) : {{.*}} -> tensor<1x100x16xf32>
// CHECK-NEXT:    "tri.gather"
func.func @keeps_rows_that_are_repeated(%x: tensor<1x100x4xf32>, %w: tensor<4x16xf32>, %i: tensor<101xi64>) -> tensor<1x101x16xf32> {
  %p = "tri.mat_mul"(%x, %w) : (tensor<1x100x4xf32>, tensor<4x16xf32>) -> tensor<1x100x16xf32>
  %y = "tri.gather"(%p, %i) {axis = 1 : i64} : (tensor<1x100x16xf32>, tensor<101xi64>) -> tensor<1x101x16xf32>
  return %y : tensor<1x101x16xf32>
}

// An op joined with what follows it is one kernel: without a product before it, it stays.
// CHECK-LABEL: func.func @keeps_elementwise_ops_of_inputs
// CHECK:         "tri.tanh"(%{{.*}}) : (tensor<1x100x4xf32>)
// CHECK-NEXT:    "tri.gather"
func.func @keeps_elementwise_ops_of_inputs(%x: tensor<1x100x4xf32>, %i: tensor<1xi64>) -> tensor<1x1x4xf32> {
  %t = "tri.tanh"(%x) : (tensor<1x100x4xf32>) -> tensor<1x100x4xf32>
  %y = "tri.gather"(%t, %i) {axis = 1 : i64} : (tensor<1x100x4xf32>, tensor<1xi64>) -> tensor<1x1x4xf32>
  return %y : tensor<1x1x4xf32>
}

// How many rows are taken is known when the model runs: fewer than there are, perhaps.
// CHECK-LABEL: func.func @gathers_rows_of_any_number
// CHECK:         %[[ROWS:.*]] = "tri.gather"({{.*}}) {{.*}} -> tensor<1x?x4xf32, ["", "rows", ""]>
// CHECK:         "tri.mat_mul"(%[[ROWS]], %{{.*}}) {{.*}} -> tensor<1x?x16xf32, ["", "rows", ""]>
// CHECK-NEXT:    return
func.func @gathers_rows_of_any_number(%x: tensor<1x?x4xf32, ["", "length", ""]>, %w: tensor<4x16xf32>, %i: tensor<?xi64, ["rows"]>) -> tensor<1x?x16xf32, ["", "rows", ""]> attributes {trivium.symbols = {length = "1..256:100", rows = "1..256:100"}} {
  %p = "tri.mat_mul"(%x, %w) : (tensor<1x?x4xf32, ["", "length", ""]>, tensor<4x16xf32>) -> tensor<1x?x16xf32, ["", "length", ""]>
  %y = "tri.gather"(%p, %i) {axis = 1 : i64} : (tensor<1x?x16xf32, ["", "length", ""]>, tensor<?xi64, ["rows"]>) -> tensor<1x?x16xf32, ["", "rows", ""]>
  return %y : tensor<1x?x16xf32, ["", "rows", ""]>
}

// As many rows are taken as there are, whatever their number.
// CHECK-LABEL: func.func @keeps_as_many_rows
// CHECK:         "tri.mat_mul"
// CHECK-NEXT:    "tri.gather"
func.func @keeps_as_many_rows(%x: tensor<1x?x4xf32, ["", "length", ""]>, %w: tensor<4x16xf32>, %i: tensor<?xi64, ["length"]>) -> tensor<1x?x16xf32, ["", "length", ""]> attributes {trivium.symbols = {length = "1..256:100", rows = "1..256:100"}} {
  %p = "tri.mat_mul"(%x, %w) : (tensor<1x?x4xf32, ["", "length", ""]>, tensor<4x16xf32>) -> tensor<1x?x16xf32, ["", "length", ""]>
  %y = "tri.gather"(%p, %i) {axis = 1 : i64} : (tensor<1x?x16xf32, ["", "length", ""]>, tensor<?xi64, ["length"]>) -> tensor<1x?x16xf32, ["", "length", ""]>
  return %y : tensor<1x?x16xf32, ["", "length", ""]>
}
