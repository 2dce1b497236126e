// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @det
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.det"(%[[X]])
// CHECK-SAME:      : (tensor<2x3x3xf32>) -> tensor<2xf32>
func.func @det(%x: tensor<2x3x3xf32>) -> tensor<2xf32> {
  %0 = "tri.det"(%x) : (tensor<2x3x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
