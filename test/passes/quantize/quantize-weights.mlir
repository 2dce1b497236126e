// RUN: trivium-opt %s --quantize-weights="block=16 least=32" | FileCheck %s
// RUN: trivium-opt %s --quantize-weights="block=16 least=32 symmetric" | FileCheck %s --check-prefix=MIDDLE
// RUN: trivium-opt %s --quantize-weights | FileCheck %s --check-prefix=SMALL

// The largest number is 15 steps away from zero, which is always in the range. Each of the two columns
// has a scale and a zero point.
// CHECK-LABEL: func.func @rounds_matrices
// CHECK-SAME:    (%[[X:.*]]: tensor<3x16xf32>)
// CHECK-DAG:     %[[W:.*]] = "tri.constant"() {value = dense<{{.*}}> : tensor<2x1x8xui8>}
// CHECK-DAG:     %[[S:.*]] = "tri.constant"() {value = dense<{{\[\[}}5.000000e-01], [2.500000e-01]]> : tensor<2x1xf32>}
// CHECK-DAG:     %[[Z:.*]] = "tri.constant"() {value = dense<{{\[\[}}0], [15]]> : tensor<2x1xui8>}
// CHECK:         %[[Y:.*]] = "tri.block_quantized_mat_mul"(%[[X]], %[[W]], %[[S]], %[[Z]]) {activations = "", bits = 4 : i64, block = 16 : i64}
// CHECK:         return %[[Y]]
//
// Or the zero point is in the middle, and the largest number is 8 steps below it.
// MIDDLE-LABEL: func.func @rounds_matrices
// MIDDLE:         dense<{{\[\[}}-9.375000e-01], [4.687500e-01]]> : tensor<2x1xf32>
// MIDDLE:         "tri.block_quantized_mat_mul"(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) {activations = "", bits = 4
//
// By default matrices of fewer than 4096 elements are left.
// SMALL-LABEL: func.func @rounds_matrices
// SMALL:         tri.mat_mul
func.func @rounds_matrices(%x: tensor<3x16xf32>) -> tensor<3x2xf32> {
  %w = "tri.constant"() {value = dense<[[7.5, -3.75], [2.5, -1.25], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]> : tensor<16x2xf32>} : () -> tensor<16x2xf32>
  %y = "tri.mat_mul"(%x, %w) : (tensor<3x16xf32>, tensor<16x2xf32>) -> tensor<3x2xf32> loc("product"("y"))
  return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @adds_a_bias_afterwards
// CHECK-SAME:    (%[[X:.*]]: tensor<1x32xf32>, %[[C:.*]]: tensor<2xf32>)
// CHECK:         %[[P:.*]] = "tri.block_quantized_mat_mul"(%[[X]], {{.*}} tensor<2x2x8xui8>
// CHECK:         "tri.add"(%[[P]], %[[C]])
func.func @adds_a_bias_afterwards(%x: tensor<1x32xf32>, %c: tensor<2xf32>) -> tensor<1x2xf32> {
  %w = "tri.constant"() {value = dense<0.5> : tensor<2x32xf32>} : () -> tensor<2x32xf32>
  %y = "tri.gemm"(%x, %w, %c) {operandSegmentSizes = array<i32: 1, 1, 1>, trans_b = true} : (tensor<1x32xf32>, tensor<2x32xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// CHECK-LABEL: func.func @keeps_scaled_products
// CHECK-NOT:     tri.block_quantized_mat_mul
// CHECK:         tri.gemm
func.func @keeps_scaled_products(%x: tensor<1x32xf32>) -> tensor<1x2xf32> {
  %w = "tri.constant"() {value = dense<0.5> : tensor<32x2xf32>} : () -> tensor<32x2xf32>
  %y = "tri.gemm"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0>, alpha = 2.0 : f64} : (tensor<1x32xf32>, tensor<32x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// CHECK-LABEL: func.func @keeps_what_a_run_computes
// CHECK-NOT:     tri.block_quantized_mat_mul
// CHECK:         tri.mat_mul
func.func @keeps_what_a_run_computes(%x: tensor<1x32xf32>, %w: tensor<32x2xf32>) -> tensor<1x2xf32> {
  %y = "tri.mat_mul"(%x, %w) : (tensor<1x32xf32>, tensor<32x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// CHECK-LABEL: func.func @keeps_integers_and_stacks
// CHECK-NOT:     tri.block_quantized_mat_mul
// CHECK:         return
func.func @keeps_integers_and_stacks(%x: tensor<1x32xi32>, %a: tensor<2x1x16xf32>) -> (tensor<1x2xi32>, tensor<2x1x2xf32>) {
  %w = "tri.constant"() {value = dense<1> : tensor<32x2xi32>} : () -> tensor<32x2xi32>
  %s = "tri.constant"() {value = dense<0.5> : tensor<2x16x2xf32>} : () -> tensor<2x16x2xf32>
  %y = "tri.mat_mul"(%x, %w) : (tensor<1x32xi32>, tensor<32x2xi32>) -> tensor<1x2xi32>
  %z = "tri.mat_mul"(%a, %s) : (tensor<2x1x16xf32>, tensor<2x16x2xf32>) -> tensor<2x1x2xf32>
  return %y, %z : tensor<1x2xi32>, tensor<2x1x2xf32>
}

// Scales have the type of what is multiplied.
// CHECK-LABEL: func.func @rounds_matrices_of_half_types
// CHECK:         dense<3.332520e-02> : tensor<1x2xf16>
// CHECK:         "tri.block_quantized_mat_mul"({{.*}} -> tensor<1x1xf16>
func.func @rounds_matrices_of_half_types(%x: tensor<1x32xf16>) -> tensor<1x1xf16> {
  %w = "tri.constant"() {value = dense<0.5> : tensor<32x1xf16>} : () -> tensor<32x1xf16>
  %y = "tri.mat_mul"(%x, %w) : (tensor<1x32xf16>, tensor<32x1xf16>) -> tensor<1x1xf16>
  return %y : tensor<1x1xf16>
}

// Kernels of convolutions become integers of 8 bits, with a scale for each output channel.
// RUN: trivium-opt %s --quantize-weights="bits=8 least=4" | FileCheck %s --check-prefix=KERNEL
// KERNEL-LABEL: func.func @rounds_kernels
// KERNEL-SAME:    (%[[X:.*]]: tensor<1x2x4x4xf32>)
// KERNEL:         %[[I:.*]] = "tri.constant"() {value = dense<{{\[\[\[\[}}127]], {{\[\[}}-64]]], {{\[\[\[}}32]], {{\[\[}}127]]]]> : tensor<2x2x1x1xi8>}
// KERNEL:         %[[C:.*]] = "tri.storage_cast"(%[[I]]) {to = "!quant.uniform<i8:f32:0
// KERNEL:         %[[W:.*]] = "tri.dequantize"(%[[C]])
// KERNEL:         "tri.conv"(%[[X]], %[[W]])
//
// Not those of 4 bits.
// CHECK-LABEL: func.func @rounds_kernels
// CHECK-NOT:     tri.dequantize
// CHECK:         tri.conv
func.func @rounds_kernels(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = "tri.constant"() {value = dense<[[[[1.0]], [[-0.502]]], [[[0.5]], [[2.0]]]]> : tensor<2x2x1x1xf32>} : () -> tensor<2x2x1x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}

// A kernel that a run computes stays.
// KERNEL-LABEL: func.func @keeps_kernels_of_a_run
// KERNEL-NOT:     tri.dequantize
// KERNEL:         tri.conv
func.func @keeps_kernels_of_a_run(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}
