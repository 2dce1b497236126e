// RUN: trivium-opt %s --fuse-block-quantized | FileCheck %s

// One scale for each column is one for all blocks of it; the largest that adds least is 32.
// CHECK-LABEL: func.func @scales_of_columns
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK-DAG:     %[[W:.*]] = "tri.constant"() {{.*}} -> tensor<4x1x16xui8>
// CHECK-DAG:     %[[S:.*]] = "tri.constant"() {{.*}} -> tensor<4x1xf32>
// CHECK:         "tri.block_quantized_mat_mul"(%[[X]], %[[W]], %[[S]]) {activations = "", bits = 4 : i64, block = 32 : i64}
// CHECK-NOT:     tri.mat_mul
func.func @scales_of_columns(%x: tensor<2x32xf32>) -> tensor<2x4xf32> {
  %q = "tri.constant"() {value = dense<-3> : tensor<32x4xi4>} : () -> tensor<32x4xi4>
  %s = "tri.constant"() {value = dense<[[0.5, 1.5, 2.5, 3.5]]> : tensor<1x4xf32>} : () -> tensor<1x4xf32>
  %f = "tri.cast"(%q) {to = "f32"} : (tensor<32x4xi4>) -> tensor<32x4xf32>
  %w = "tri.mul"(%f, %s) : (tensor<32x4xf32>, tensor<1x4xf32>) -> tensor<32x4xf32>
  %y = "tri.mat_mul"(%x, %w) : (tensor<2x32xf32>, tensor<32x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Zero points that are not in the middle are kept; a bias is added afterwards.
// CHECK-LABEL: func.func @zero_points
// CHECK-SAME:    (%[[X:.*]]: tensor<2x32xf32>, %[[C:.*]]: tensor<4xf32>)
// CHECK-DAG:     %[[Z:.*]] = "tri.constant"() {value = dense<3> : tensor<4x1xui8>}
// CHECK:         %[[P:.*]] = "tri.block_quantized_mat_mul"(%[[X]], %{{.*}}, %{{.*}}, %[[Z]]) {activations = "", bits = 2 : i64
// CHECK:         "tri.add"(%[[P]], %[[C]])
func.func @zero_points(%x: tensor<2x32xf32>, %c: tensor<4xf32>) -> tensor<2x4xf32> {
  %q = "tri.constant"() {value = dense<1> : tensor<4x32xi2>} : () -> tensor<4x32xi2>
  %z = "tri.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %s = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %i = "tri.cast"(%q) {to = "i32"} : (tensor<4x32xi2>) -> tensor<4x32xi32>
  %d = "tri.sub"(%i, %z) : (tensor<4x32xi32>, tensor<i32>) -> tensor<4x32xi32>
  %f = "tri.cast"(%d) {to = "f32"} : (tensor<4x32xi32>) -> tensor<4x32xf32>
  %w = "tri.mul"(%f, %s) : (tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xf32>
  %y = "tri.gemm"(%x, %w, %c) {trans_b = true} : (tensor<2x32xf32>, tensor<4x32xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Integers of 8 bits are multiplied otherwise.
// CHECK-LABEL: func.func @keeps_bytes
// CHECK-NOT:     tri.block_quantized_mat_mul
// CHECK:         tri.mat_mul
func.func @keeps_bytes(%x: tensor<2x32xf32>) -> tensor<2x4xf32> {
  %q = "tri.constant"() {value = dense<-3> : tensor<32x4xi8>} : () -> tensor<32x4xi8>
  %s = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %f = "tri.cast"(%q) {to = "f32"} : (tensor<32x4xi8>) -> tensor<32x4xf32>
  %w = "tri.mul"(%f, %s) : (tensor<32x4xf32>, tensor<f32>) -> tensor<32x4xf32>
  %y = "tri.mat_mul"(%x, %w) : (tensor<2x32xf32>, tensor<32x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// A scale for each row in depth is none of blocks.
// CHECK-LABEL: func.func @keeps_scales_of_rows
// CHECK-NOT:     tri.block_quantized_mat_mul
// CHECK:         tri.mat_mul
func.func @keeps_scales_of_rows(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %q = "tri.constant"() {value = dense<-3> : tensor<4x4xi4>} : () -> tensor<4x4xi4>
  %s = "tri.constant"() {value = dense<[[0.5], [1.5], [2.5], [3.5]]> : tensor<4x1xf32>} : () -> tensor<4x1xf32>
  %f = "tri.cast"(%q) {to = "f32"} : (tensor<4x4xi4>) -> tensor<4x4xf32>
  %w = "tri.mul"(%f, %s) : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %y = "tri.mat_mul"(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
