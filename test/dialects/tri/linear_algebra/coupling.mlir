// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @couple
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.couple_pairs"(%[[X]])
// CHECK-SAME:      : (tensor<5x3x3xf32>) -> tensor<5x3xf32>
func.func @couple(%x: tensor<5x3x3xf32>) -> tensor<5x3xf32> {
  %0 = "tri.couple_pairs"(%x) : (tensor<5x3x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
