// RUN: trivium-opt %s | FileCheck %s

// Rows lie side by side in each of three blocks.
// CHECK-LABEL: func.func @rounds
// CHECK:         "cpu.quantize_blocks"(%{{.*}}) {block = 16 : i64}
// CHECK-SAME:      : (tensor<2x40xf32>) -> (tensor<3x2x16xi8>, tensor<3x2xf32>, tensor<3x2xi32>)
func.func @rounds(%x: tensor<2x40xf32>) -> (tensor<3x2x16xi8>, tensor<3x2xf32>, tensor<3x2xi32>) {
  %n, %s, %t = "cpu.quantize_blocks"(%x) {block = 16}
      : (tensor<2x40xf32>) -> (tensor<3x2x16xi8>, tensor<3x2xf32>, tensor<3x2xi32>)
  return %n, %s, %t : tensor<3x2x16xi8>, tensor<3x2xf32>, tensor<3x2xi32>
}

// Five columns in a panel of eight; a block has 8 * (8 + 2) bytes.
// CHECK-LABEL: func.func @multiplies
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[S:.*]]: {{.*}}, %[[T:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
// CHECK:         "cpu.dot_block_mat_mul"(%[[A]], %[[S]], %[[T]], %[[W]])
// CHECK-SAME:      {bits = 4 : i64, block = 16 : i64, columns = 5 : i64, scales = "f16", to = "bf16"}
// CHECK-SAME:      -> tensor<2x7x5xbf16>
func.func @multiplies(%a: tensor<3x2x7x16xi8>, %s: tensor<3x2x7xf32>, %t: tensor<3x2x7xi32>, %w: tensor<1x3x80xui8>) -> tensor<2x7x5xbf16> {
  %0 = "cpu.dot_block_mat_mul"(%a, %s, %t, %w) {bits = 4, block = 16, columns = 5, scales = "f16", to = "bf16"}
      : (tensor<3x2x7x16xi8>, tensor<3x2x7xf32>, tensor<3x2x7xi32>, tensor<1x3x80xui8>) -> tensor<2x7x5xbf16>
  return %0 : tensor<2x7x5xbf16>
}

// Two matrices, of which each row is multiplied by one.
// CHECK-LABEL: func.func @multiplies_by_index
// CHECK:         "cpu.dot_indexed_block_mat_mul"
// CHECK-SAME:      {bits = 4 : i64, block = 16 : i64, columns = 5 : i64, scales = "f16"}
// CHECK-SAME:      -> tensor<7x5xf32>
func.func @multiplies_by_index(%a: tensor<3x7x16xi8>, %s: tensor<3x7xf32>, %t: tensor<3x7xi32>, %w: tensor<2x1x3x80xui8>, %i: tensor<7xi64>) -> tensor<7x5xf32> {
  %0 = "cpu.dot_indexed_block_mat_mul"(%a, %s, %t, %w, %i) {bits = 4, block = 16, columns = 5, scales = "f16"}
      : (tensor<3x7x16xi8>, tensor<3x7xf32>, tensor<3x7xi32>, tensor<2x1x3x80xui8>, tensor<7xi64>) -> tensor<7x5xf32>
  return %0 : tensor<7x5xf32>
}
