// RUN: trivium-opt %s | FileCheck %s

// Five columns in a panel of eight; each of three blocks has 8 * (8 + 4 + 1) bytes.
// CHECK-LABEL: func.func @packed_block_mat_mul
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
// CHECK:         "cpu.packed_block_mat_mul"(%[[A]], %[[W]])
// CHECK-SAME:      {bits = 4 : i64, block = 16 : i64, columns = 5 : i64, zero_points = "ui8"}
// CHECK-SAME:      : (tensor<2x40xf32>, tensor<1x3x104xui8>) -> tensor<2x5xf32>
func.func @packed_block_mat_mul(%a: tensor<2x40xf32>, %w: tensor<1x3x104xui8>) -> tensor<2x5xf32> {
  %0 = "cpu.packed_block_mat_mul"(%a, %w) {bits = 4, block = 16, columns = 5, zero_points = "ui8"}
      : (tensor<2x40xf32>, tensor<1x3x104xui8>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
