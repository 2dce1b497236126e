// RUN: trivium-opt %s --split-input-file | FileCheck %s

// Two pieces may define the same function; their results are separated as they were.
// CHECK-LABEL: func.func @f
// CHECK:         return
// CHECK:       // -----
// CHECK-LABEL: func.func @f
// CHECK:         tri.relu
func.func @f() {
  return
}

// -----

func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
