// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @rows_of_experts
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[INDEX:.*]]: {{.*}})
// CHECK:         "tri.indexed_mat_mul"(%[[A]], %[[W]], %[[INDEX]])
// CHECK-SAME:      : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<5xi32>) -> tensor<5x4xf32>
func.func @rows_of_experts(%a: tensor<5x3xf32>, %w: tensor<2x3x4xf32>, %index: tensor<5xi32>) -> tensor<5x4xf32> {
  %y = "tri.indexed_mat_mul"(%a, %w, %index) : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<5xi32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// Each matrix has two rows of three blocks, which are 40 numbers and what fills up the last block.
// CHECK-LABEL: func.func @experts_of_few_bits
// CHECK:         "tri.indexed_block_mat_mul"
// CHECK-SAME:      {activations = "i8", bits = 4 : i64, block = 16 : i64}
// CHECK-SAME:      -> tensor<5x2xf32>
func.func @experts_of_few_bits(%a: tensor<5x40xf32>, %w: tensor<4x2x3x8xui8>, %s: tensor<4x2x3xf32>, %index: tensor<5xi32>) -> tensor<5x2xf32> {
  %y = "tri.indexed_block_mat_mul"(%a, %w, %s, %index) {bits = 4, block = 16, activations = "i8"}
      : (tensor<5x40xf32>, tensor<4x2x3x8xui8>, tensor<4x2x3xf32>, tensor<5xi32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}
