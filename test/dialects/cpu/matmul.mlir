// RUN: trivium-opt %s | FileCheck %s

// Five columns in two panels of four, of which the last three are filling.
// CHECK-LABEL: func.func @packed_mat_mul
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
// CHECK:         "cpu.packed_mat_mul"(%[[A]], %[[W]]) {columns = 5 : i64}
// CHECK-SAME:      : (tensor<2x3x6xf32>, tensor<2x6x4xf32>) -> tensor<2x3x5xf32>
func.func @packed_mat_mul(%a: tensor<2x3x6xf32>, %w: tensor<2x6x4xf32>) -> tensor<2x3x5xf32> {
  %0 = "cpu.packed_mat_mul"(%a, %w) {columns = 5} : (tensor<2x3x6xf32>, tensor<2x6x4xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}
