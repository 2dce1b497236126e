// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @rows_of_experts
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[INDEX:.*]]: {{.*}})
// CHECK:         "tri.indexed_mat_mul"(%[[A]], %[[W]], %[[INDEX]])
// CHECK-SAME:      : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<5xi32>) -> tensor<5x4xf32>
func.func @rows_of_experts(%a: tensor<5x3xf32>, %w: tensor<2x3x4xf32>, %index: tensor<5xi32>) -> tensor<5x4xf32> {
  %y = "tri.indexed_mat_mul"(%a, %w, %index) : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<5xi32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}
