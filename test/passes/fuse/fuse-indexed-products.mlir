// RUN: trivium-opt %s --fuse-indexed-products | FileCheck %s

// An index below 0 counts from the end.
// CHECK-LABEL: func.func @rows
// CHECK-SAME:    (%[[X:.*]]: tensor<6x1x16xf32>, %[[W:.*]]: tensor<5x16x24xf32>)
// CHECK:         %[[N:.*]] = "tri.constant"() {value = dense<[0, 4, -1, -5, 2, 2]>
// CHECK:         %[[NEGATIVE:.*]] = "tri.less"(%[[N]],
// CHECK:         %[[FROM_END:.*]] = "tri.add"(%[[N]],
// CHECK:         %[[INDEX:.*]] = "tri.where"(%[[NEGATIVE]], %[[FROM_END]], %[[N]])
// CHECK:         %[[ROWS:.*]] = "tri.reshape"(%[[X]]) {shape = array<i64: 6, 16>}
// CHECK:         %[[Y:.*]] = "tri.indexed_mat_mul"(%[[ROWS]], %[[W]], %[[INDEX]])
// CHECK:         %[[SHAPED:.*]] = "tri.reshape"(%[[Y]]) {shape = array<i64: 6, 1, 24>}
// CHECK:         return %[[SHAPED]]
func.func @rows(%x: tensor<6x1x16xf32>, %w: tensor<5x16x24xf32>) -> tensor<6x1x24xf32> {
  %n = "tri.constant"() {value = dense<[0, 4, -1, -5, 2, 2]> : tensor<6xi64>} : () -> tensor<6xi64>
  %g = "tri.gather"(%w, %n) {axis = 0} : (tensor<5x16x24xf32>, tensor<6xi64>) -> tensor<6x16x24xf32>
  %y = "tri.mat_mul"(%x, %g) : (tensor<6x1x16xf32>, tensor<6x16x24xf32>) -> tensor<6x1x24xf32>
  return %y : tensor<6x1x24xf32>
}

// Matrices before columns are transposed, once.
// CHECK-LABEL: func.func @columns
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x1xf32>)
// CHECK:         %[[W:.*]] = "tri.constant"() {{.*}}tensor<2x4x3xf32>
// CHECK:         %[[TURNED:.*]] = "tri.transpose"(%[[W]]) {permutation = array<i64: 0, 2, 1>}
// CHECK:         "tri.indexed_mat_mul"(%{{.*}}, %[[TURNED]], %{{.*}})
func.func @columns(%x: tensor<2x3x1xf32>) -> tensor<2x4x1xf32> {
  %n = "tri.constant"() {value = dense<[1, -2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %w = "tri.constant"() {value = dense<2.0> : tensor<2x4x3xf32>} : () -> tensor<2x4x3xf32>
  %g = "tri.gather"(%w, %n) {axis = 0} : (tensor<2x4x3xf32>, tensor<2xi64>) -> tensor<2x4x3xf32>
  %y = "tri.mat_mul"(%g, %x) : (tensor<2x4x3xf32>, tensor<2x3x1xf32>) -> tensor<2x4x1xf32>
  return %y : tensor<2x4x1xf32>
}

// CHECK-LABEL: func.func @transposed_after_they_are_gathered
// CHECK-NOT:     tri.gather
// CHECK:         "tri.indexed_mat_mul"
func.func @transposed_after_they_are_gathered(%x: tensor<2x1x3xf32>) -> tensor<2x1x4xf32> {
  %n = "tri.constant"() {value = dense<[1, -2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %w = "tri.constant"() {value = dense<2.0> : tensor<2x4x3xf32>} : () -> tensor<2x4x3xf32>
  %g = "tri.gather"(%w, %n) {axis = 0} : (tensor<2x4x3xf32>, tensor<2xi64>) -> tensor<2x4x3xf32>
  %t = "tri.transpose"(%g) {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  %y = "tri.mat_mul"(%x, %t) : (tensor<2x1x3xf32>, tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
  return %y : tensor<2x1x4xf32>
}

// Several rows share the copy of a matrix.
// CHECK-LABEL: func.func @keeps_several_rows
// CHECK-NOT:     tri.indexed_mat_mul
// CHECK:         return
func.func @keeps_several_rows(%x: tensor<6x2x16xf32>, %w: tensor<5x16x24xf32>) -> tensor<6x2x24xf32> {
  %n = "tri.constant"() {value = dense<[0, 4, -1, -5, 2, 2]> : tensor<6xi64>} : () -> tensor<6xi64>
  %g = "tri.gather"(%w, %n) {axis = 0} : (tensor<5x16x24xf32>, tensor<6xi64>) -> tensor<6x16x24xf32>
  %y = "tri.mat_mul"(%x, %g) : (tensor<6x2x16xf32>, tensor<6x16x24xf32>) -> tensor<6x2x24xf32>
  return %y : tensor<6x2x24xf32>
}

// All matrices would be transposed in each run.
// CHECK-LABEL: func.func @keeps_columns_of_an_input
// CHECK-NOT:     tri.indexed_mat_mul
// CHECK:         return
func.func @keeps_columns_of_an_input(%x: tensor<2x3x1xf32>, %w: tensor<2x4x3xf32>) -> tensor<2x4x1xf32> {
  %n = "tri.constant"() {value = dense<[1, -2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %g = "tri.gather"(%w, %n) {axis = 0} : (tensor<2x4x3xf32>, tensor<2xi64>) -> tensor<2x4x3xf32>
  %y = "tri.mat_mul"(%g, %x) : (tensor<2x4x3xf32>, tensor<2x3x1xf32>) -> tensor<2x4x1xf32>
  return %y : tensor<2x4x1xf32>
}

// One matrix for all rows is no batch.
// CHECK-LABEL: func.func @keeps_rows_of_a_table
// CHECK-NOT:     tri.indexed_mat_mul
// CHECK:         return
func.func @keeps_rows_of_a_table(%x: tensor<6x1x16xf32>, %w: tensor<5x24xf32>) -> tensor<6x1x24xf32> {
  %n = "tri.constant"() {value = dense<3> : tensor<6x16xi64>} : () -> tensor<6x16xi64>
  %g = "tri.gather"(%w, %n) {axis = 0} : (tensor<5x24xf32>, tensor<6x16xi64>) -> tensor<6x16x24xf32>
  %y = "tri.mat_mul"(%x, %g) : (tensor<6x1x16xf32>, tensor<6x16x24xf32>) -> tensor<6x1x24xf32>
  return %y : tensor<6x1x24xf32>
}
