// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @inverse
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.inverse"(%[[X]])
// CHECK-SAME:      : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
func.func @inverse(%x: tensor<2x3x3xf32>) -> tensor<2x3x3xf32> {
  %0 = "tri.inverse"(%x) : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  return %0 : tensor<2x3x3xf32>
}
