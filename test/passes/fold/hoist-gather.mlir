// RUN: trivium-opt %s --hoist-gather | FileCheck %s

// Rows of integers are taken, and widened with their own scales.
// CHECK-LABEL: func.func @gathers_integers_and_scales
// CHECK-SAME:    (%[[I:.*]]: tensor<2x3xi64>)
// CHECK-DAG:     %[[Q:.*]] = "tri.constant"() {{.*}} -> tensor<128x8xi8>
// CHECK-DAG:     %[[S:.*]] = "tri.constant"() {{.*}} -> tensor<128x1xf32>
// CHECK:         %[[ROWS:.*]] = "tri.gather"(%[[Q]], %[[I]]) {axis = 0 : i64}
// CHECK:         %[[WIDE:.*]] = "tri.cast"(%[[ROWS]]) {{.*}} -> tensor<2x3x8xf32>
// CHECK:         %[[SCALES:.*]] = "tri.gather"(%[[S]], %[[I]]) {{.*}} -> tensor<2x3x1xf32>
// CHECK:         %[[Y:.*]] = "tri.mul"(%[[WIDE]], %[[SCALES]])
// CHECK-NEXT:    return %[[Y]]
func.func @gathers_integers_and_scales(%i: tensor<2x3xi64>) -> tensor<2x3x8xf32> {
  %q = "tri.constant"() {value = dense<7> : tensor<128x8xi8>} : () -> tensor<128x8xi8>
  %s = "tri.constant"() {value = dense<0.5> : tensor<128x1xf32>} : () -> tensor<128x1xf32>
  %f = "tri.cast"(%q) {to = "f32"} : (tensor<128x8xi8>) -> tensor<128x8xf32>
  %t = "tri.mul"(%f, %s) : (tensor<128x8xf32>, tensor<128x1xf32>) -> tensor<128x8xf32>
  %y = "tri.gather"(%t, %i) {axis = 0 : i64} : (tensor<128x8xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// Scales that are the same for all rows are not taken.
// CHECK-LABEL: func.func @keeps_scales_of_columns
// CHECK:         %[[S:.*]] = "tri.constant"() {{.*}} -> tensor<8xf32>
// CHECK-COUNT-1: "tri.gather"
// CHECK:         %[[SCALES:.*]] = "tri.reshape"(%[[S]]) {shape = array<i64: 1, 1, 8>}
// CHECK-NEXT:    "tri.mul"({{.*}}, %[[SCALES]])
func.func @keeps_scales_of_columns(%i: tensor<2x3xi64>) -> tensor<2x3x8xf32> {
  %q = "tri.constant"() {value = dense<7> : tensor<128x8xi8>} : () -> tensor<128x8xi8>
  %s = "tri.constant"() {value = dense<0.5> : tensor<8xf32>} : () -> tensor<8xf32>
  %f = "tri.cast"(%q) {to = "f32"} : (tensor<128x8xi8>) -> tensor<128x8xf32>
  %t = "tri.mul"(%f, %s) : (tensor<128x8xf32>, tensor<8xf32>) -> tensor<128x8xf32>
  %y = "tri.gather"(%t, %i) {axis = 0 : i64} : (tensor<128x8xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// Columns are taken likewise.
// CHECK-LABEL: func.func @gathers_columns
// CHECK:         "tri.gather"({{.*}}) {axis = -1 : i64} : (tensor<8x128xi8>, tensor<3xi64>)
// CHECK-NEXT:    "tri.cast"
func.func @gathers_columns(%i: tensor<3xi64>) -> tensor<8x3xf32> {
  %q = "tri.constant"() {value = dense<7> : tensor<8x128xi8>} : () -> tensor<8x128xi8>
  %t = "tri.cast"(%q) {to = "f32"} : (tensor<8x128xi8>) -> tensor<8x128xf32>
  %y = "tri.gather"(%t, %i) {axis = -1 : i64} : (tensor<8x128xf32>, tensor<3xi64>) -> tensor<8x3xf32>
  return %y : tensor<8x3xf32>
}

// More rows are taken than there are: widening all of them is less work.
// CHECK-LABEL: func.func @keeps_a_small_table
// CHECK:         %[[T:.*]] = "tri.cast"
// CHECK:         "tri.gather"(%[[T]]
func.func @keeps_a_small_table(%i: tensor<200xi64>) -> tensor<200x8xf32> {
  %q = "tri.constant"() {value = dense<7> : tensor<128x8xi8>} : () -> tensor<128x8xi8>
  %t = "tri.cast"(%q) {to = "f32"} : (tensor<128x8xi8>) -> tensor<128x8xf32>
  %y = "tri.gather"(%t, %i) {axis = 0 : i64} : (tensor<128x8xf32>, tensor<200xi64>) -> tensor<200x8xf32>
  return %y : tensor<200x8xf32>
}

// A table that becomes no smaller is a constant, by folding.
// CHECK-LABEL: func.func @keeps_a_table_of_its_own_size
// CHECK:         %[[T:.*]] = "tri.exp"
// CHECK:         "tri.gather"(%[[T]]
func.func @keeps_a_table_of_its_own_size(%i: tensor<3xi64>) -> tensor<3x8xf32> {
  %q = "tri.constant"() {value = dense<7.0> : tensor<128x8xf32>} : () -> tensor<128x8xf32>
  %t = "tri.exp"(%q) : (tensor<128x8xf32>) -> tensor<128x8xf32>
  %y = "tri.gather"(%t, %i) {axis = 0 : i64} : (tensor<128x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// CHECK-LABEL: func.func @keeps_a_table_of_inputs
// CHECK:         %[[T:.*]] = "tri.cast"
// CHECK:         "tri.gather"(%[[T]]
func.func @keeps_a_table_of_inputs(%q: tensor<128x8xi8>, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  %t = "tri.cast"(%q) {to = "f32"} : (tensor<128x8xi8>) -> tensor<128x8xf32>
  %y = "tri.gather"(%t, %i) {axis = 0 : i64} : (tensor<128x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}
