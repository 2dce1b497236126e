// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @copy
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.copy"(%[[X]]) {to = "gpu"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @copy(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.copy"(%x) {to = "gpu"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
