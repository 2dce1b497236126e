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

// Activations are rounded by ops of their own; the product that is left has a kernel.
// CHECK-LABEL: func.func @rounded_activations
// CHECK:         "tri.reduce_max"
// CHECK:         %[[A:.*]] = "tri.reshape"{{.*}} -> tensor<2x32xf32>
// CHECK:         "tri.block_quantized_mat_mul"(%[[A]], %{{.*}}, %{{.*}}) {activations = "", bits
func.func @rounded_activations(%a: tensor<2x32xf32>, %w: tensor<5x1x16xui8>, %s: tensor<5x1xf32>) -> tensor<2x5xf32> {
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 32, activations = "i8"}
      : (tensor<2x32xf32>, tensor<5x1x16xui8>, tensor<5x1xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @exact_activations
// CHECK-NEXT:    "tri.block_quantized_mat_mul"
func.func @exact_activations(%a: tensor<2x32xf32>, %w: tensor<5x1x16xui8>, %s: tensor<5x1xf32>) -> tensor<2x5xf32> {
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 32}
      : (tensor<2x32xf32>, tensor<5x1x16xui8>, tensor<5x1xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
