// RUN: trivium-opt %s --round-activations=to=i8 | FileCheck %s
// RUN: trivium-opt %s --round-activations | FileCheck %s --check-prefix=EXACT

// CHECK-LABEL: func.func @rounds
// CHECK:         tri.block_quantized_mat_mul{{.*}} {activations = "i8"
// EXACT-LABEL: func.func @rounds
// EXACT-NOT:     activations = "i8"
// EXACT:         tri.block_quantized_mat_mul
func.func @rounds(%a: tensor<2x40xf32>, %w: tensor<5x3x8xui8>, %s: tensor<5x3xf32>) -> tensor<2x5xf32> {
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 16}
      : (tensor<2x40xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @is_rounded
// CHECK:         tri.block_quantized_mat_mul{{.*}} {activations = "i8"
// EXACT-LABEL: func.func @is_rounded
// EXACT-NOT:     activations = "i8"
// EXACT:         tri.block_quantized_mat_mul
func.func @is_rounded(%a: tensor<2x40xf32>, %w: tensor<5x3x8xui8>, %s: tensor<5x3xf32>) -> tensor<2x5xf32> {
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 16, activations = "i8"}
      : (tensor<2x40xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// Sums of such blocks may not fit in 32 bits.
// CHECK-LABEL: func.func @keeps_long_blocks
// CHECK-NOT:     activations = "i8"
// CHECK:         tri.block_quantized_mat_mul
func.func @keeps_long_blocks(%a: tensor<2x32xf32>, %w: tensor<5x1x32768xui8>, %s: tensor<5x1xf32>) -> tensor<2x5xf32> {
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 65536}
      : (tensor<2x32xf32>, tensor<5x1x32768xui8>, tensor<5x1xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @rounds_rows_of_experts
// CHECK:         tri.indexed_block_mat_mul{{.*}} {activations = "i8"
// EXACT-LABEL: func.func @rounds_rows_of_experts
// EXACT:         tri.indexed_block_mat_mul{{.*}} {bits
func.func @rounds_rows_of_experts(%a: tensor<5x40xf32>, %w: tensor<4x2x3x8xui8>, %s: tensor<4x2x3xf32>, %index: tensor<5xi32>) -> tensor<5x2xf32> {
  %y = "tri.indexed_block_mat_mul"(%a, %w, %s, %index) {bits = 4, block = 16}
      : (tensor<5x40xf32>, tensor<4x2x3x8xui8>, tensor<4x2x3xf32>, tensor<5xi32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}
