// RUN: trivium-opt %s --decompose-refused | FileCheck %s

// CHECK-LABEL: func.func @wide_heads
// CHECK:         "tri.mat_mul"
// CHECK:         "tri.softmax"
// CHECK:         "tri.mat_mul"
// CHECK-NOT:     tri.attention
func.func @wide_heads(%q: tensor<2x4x257xf32>, %k: tensor<2x6x257xf32>, %v: tensor<2x6x8xf32>)
    -> tensor<2x4x8xf32> {
  %y = "tri.attention"(%q, %k, %v) {operandSegmentSizes = array<i32: 1, 1, 1, 0>, scale = 0.5}
      : (tensor<2x4x257xf32>, tensor<2x6x257xf32>, tensor<2x6x8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// CHECK-LABEL: func.func @heads_that_fit
// CHECK-NEXT:    "tri.attention"
func.func @heads_that_fit(%q: tensor<2x4x256xf32>, %k: tensor<2x6x256xf32>, %v: tensor<2x6x8xf32>)
    -> tensor<2x4x8xf32> {
  %y = "tri.attention"(%q, %k, %v) {operandSegmentSizes = array<i32: 1, 1, 1, 0>, scale = 0.5}
      : (tensor<2x4x256xf32>, tensor<2x6x256xf32>, tensor<2x6x8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
