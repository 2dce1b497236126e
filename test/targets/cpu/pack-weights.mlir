// RUN: trivium-opt %s --pack-weights=machine=x86-64-v4 | FileCheck %s
// RUN: trivium-opt %s --pack-weights=machine=x86-64-v3 | FileCheck %s --check-prefix=NARROW

// The constant right-hand side of a product comes in panels, which zeros fill up: here to one
// vector of the machine.
// CHECK-LABEL: func.func @packs_matrices
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[W:.*]] = "tri.constant"() {value = {{.*}} : tensor<1x2x16xf32>}
// CHECK:         "cpu.packed_mat_mul"(%[[X]], %[[W]]) {columns = 3 : i64}
// CHECK-NOT:     "tri.mat_mul"
// NARROW-LABEL: func.func @packs_matrices
// NARROW:        "tri.constant"() {value = {{.*}} : tensor<1x2x8xf32>}
func.func @packs_matrices(%x: tensor<5x4x2xf32>) -> tensor<5x4x3xf32> {
  %w = "tri.constant"() {value = dense<[[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %y = "tri.mat_mul"(%x, %w) : (tensor<5x4x2xf32>, tensor<2x3xf32>) -> tensor<5x4x3xf32>
  return %y : tensor<5x4x3xf32>
}

// A linear layer is a product and a sum; its weight is turned and packed.
// CHECK-LABEL: func.func @packs_linear_weights
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         %[[W:.*]] = "tri.constant"() {value = dense<{{.*}}1.0{{.*}}3.0{{.*}}5.0{{.*}}2.0{{.*}}4.0{{.*}}6.0{{.*}}> : tensor<1x2x16xf32>}
// CHECK:         %[[P:.*]] = "cpu.packed_mat_mul"(%[[X]], %[[W]]) {columns = 3 : i64}
// CHECK:         "tri.add"(%[[P]], %[[B]])
func.func @packs_linear_weights(%x: tensor<4x2xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  %w = "tri.constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>} : () -> tensor<3x2xf32>
  %y = "tri.gemm"(%x, %w, %b) {trans_b = true} : (tensor<4x2xf32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// With a scale, the weight is only turned.
// CHECK-LABEL: func.func @turns_linear_weights
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[W:.*]] = "tri.constant"() {value = dense<{{.*}}1.0{{.*}}3.0{{.*}}5.0{{.*}}2.0{{.*}}4.0{{.*}}6.0{{.*}}> : tensor<2x3xf32>}
// CHECK:         "tri.gemm"(%[[X]], %[[W]]) {{.*}}trans_b = false
func.func @turns_linear_weights(%x: tensor<4x2xf32>) -> tensor<4x3xf32> {
  %w = "tri.constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>} : () -> tensor<3x2xf32>
  %y = "tri.gemm"(%x, %w) {alpha = 2.0, trans_b = true} : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// What is not a constant cannot be turned now.
// CHECK-LABEL: func.func @keeps_variable_weights
// CHECK:         "tri.gemm"({{.*}}) {trans_b = true}
func.func @keeps_variable_weights(%x: tensor<4x2xf32>, %w: tensor<3x2xf32>) -> tensor<4x3xf32> {
  %y = "tri.gemm"(%x, %w) {trans_b = true} : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// Two outputs that see two channels: their kernels come to lie side by side.
// CHECK-LABEL: func.func @packs_kernels
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[W:.*]] = "tri.constant"() {value = dense<{{.*}}1.0{{.*}}3.0{{.*}}2.0{{.*}}4.0{{.*}}> : tensor<1x4xf32>}
// CHECK:         "cpu.packed_conv"(%[[X]], %[[W]]) {{.*}}kernel = array<i64: 1>, outputs = 2
// CHECK-NOT:     "tri.conv"
func.func @packs_kernels(%x: tensor<1x2x5xf32>) -> tensor<1x2x5xf32> {
  %w = "tri.constant"() {value = dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf32>} : () -> tensor<2x2x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x5xf32>, tensor<2x2x1xf32>) -> tensor<1x2x5xf32>
  return %y : tensor<1x2x5xf32>
}

// A depthwise convolution reads one kernel at a time.
// CHECK-LABEL: func.func @keeps_depthwise
// CHECK:         "tri.conv"
func.func @keeps_depthwise(%x: tensor<1x2x5xf32>) -> tensor<1x2x5xf32> {
  %w = "tri.constant"() {value = dense<[[[1.0]], [[3.0]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1>, group = 2, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x5xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5xf32>
  return %y : tensor<1x2x5xf32>
}

// Nine pixels leave lanes of vectors empty, thirty-two outputs do not.
// CHECK-LABEL: func.func @packs_panels_for_small_maps
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[W:.*]] = "tri.constant"() {value = dense<2.000000e+00> : tensor<1x2x32xf32>}
// CHECK:         "cpu.panel_conv"(%[[X]], %[[W]]) {{.*}}kernel = array<i64: 1, 1>, outputs = 32
func.func @packs_panels_for_small_maps(%x: tensor<1x2x3x3xf32>) -> tensor<1x32x3x3xf32> {
  %w = "tri.constant"() {value = dense<2.0> : tensor<32x2x1x1xf32>} : () -> tensor<32x2x1x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x2x3x3xf32>, tensor<32x2x1x1xf32>) -> tensor<1x32x3x3xf32>
  return %y : tensor<1x32x3x3xf32>
}
