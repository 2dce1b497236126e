// RUN: trivium-opt %s --unflatten-gemm | FileCheck %s

// The rows are unflattened before the product instead of after it.
// CHECK-LABEL: func.func @unflattens
// CHECK-SAME:    (%[[X:.*]]: tensor<6x4xf32>)
// CHECK-DAG:     %[[W:.*]] = "tri.weight"() {name = "w"
// CHECK-DAG:     %[[B:.*]] = "tri.weight"() {name = "b"
// CHECK:         %[[R:.*]] = "tri.reshape"(%[[X]]) {shape = array<i64: 2, 3, 4>}
// CHECK-NEXT:    %[[M:.*]] = "tri.mat_mul"(%[[R]], %[[W]])
// CHECK-NEXT:    %[[Y:.*]] = "tri.add"(%[[M]], %[[B]]) : {{.*}} -> tensor<2x3x5xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @unflattens(%x: tensor<6x4xf32>) -> tensor<2x3x5xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<4x5xf32>} : () -> tensor<4x5xf32>
  %b = "tri.weight"() {name = "b", type = tensor<5xf32>} : () -> tensor<5xf32>
  %g = "tri.gemm"(%x, %w, %b) : (tensor<6x4xf32>, tensor<4x5xf32>, tensor<5xf32>) -> tensor<6x5xf32>
  %y = "tri.reshape"(%g) {shape = array<i64: 2, 3, 5>} : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// Weights that Gemm takes transposed are transposed; constant folding will do that.
// CHECK-LABEL: func.func @transposes_weights
// CHECK:         %[[W:.*]] = "tri.weight"
// CHECK:         %[[T:.*]] = "tri.transpose"(%[[W]])
// CHECK:         "tri.mat_mul"(%{{.*}}, %[[T]])
func.func @transposes_weights(%x: tensor<6x4xf32>) -> tensor<2x3x5xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<5x4xf32>} : () -> tensor<5x4xf32>
  %g = "tri.gemm"(%x, %w) {trans_b = true} : (tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
  %y = "tri.reshape"(%g) {shape = array<i64: 2, 3, 5>} : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @keeps_gemm_with_two_users
// CHECK:         "tri.gemm"
func.func @keeps_gemm_with_two_users(%x: tensor<6x4xf32>) -> (tensor<2x3x5xf32>, tensor<6x5xf32>) {
  %w = "tri.weight"() {name = "w", type = tensor<4x5xf32>} : () -> tensor<4x5xf32>
  %g = "tri.gemm"(%x, %w) : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %y = "tri.reshape"(%g) {shape = array<i64: 2, 3, 5>} : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  return %y, %g : tensor<2x3x5xf32>, tensor<6x5xf32>
}

// The reshape mixes columns with rows.
// CHECK-LABEL: func.func @keeps_reshape_of_columns
// CHECK:         "tri.gemm"
func.func @keeps_reshape_of_columns(%x: tensor<6x4xf32>) -> tensor<2x5x3xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<4x5xf32>} : () -> tensor<4x5xf32>
  %g = "tri.gemm"(%x, %w) : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %y = "tri.reshape"(%g) {shape = array<i64: 2, 5, 3>} : (tensor<6x5xf32>) -> tensor<2x5x3xf32>
  return %y : tensor<2x5x3xf32>
}

// Each row has a bias of its own.
// CHECK-LABEL: func.func @keeps_bias_of_rows
// CHECK:         "tri.gemm"
func.func @keeps_bias_of_rows(%x: tensor<6x4xf32>, %b: tensor<6x5xf32>) -> tensor<2x3x5xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<4x5xf32>} : () -> tensor<4x5xf32>
  %g = "tri.gemm"(%x, %w, %b) : (tensor<6x4xf32>, tensor<4x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %y = "tri.reshape"(%g) {shape = array<i64: 2, 3, 5>} : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @keeps_weights_that_are_computed
// CHECK:         "tri.gemm"
func.func @keeps_weights_that_are_computed(%x: tensor<6x4xf32>, %w: tensor<5x4xf32>) -> tensor<2x3x5xf32> {
  %g = "tri.gemm"(%x, %w) {trans_b = true} : (tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
  %y = "tri.reshape"(%g) {shape = array<i64: 2, 3, 5>} : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}
