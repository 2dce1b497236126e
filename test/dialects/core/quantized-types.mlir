// RUN: trivium-opt %s | FileCheck %s

// An element type may say how its integers are scaled; all of it is kept.
// CHECK-LABEL: func.func @keeps_scales
// CHECK-SAME:    tensor<1x8x4x4x!quant.uniform<i8:f32, 5.000000e-02:3>>
// CHECK-SAME:    tensor<2x3x!quant.uniform<i8<-127:127>:f32:0, {1.000000e-01,2.000000e-01:1}>>
func.func @keeps_scales(
    %x: tensor<1x8x4x4x!quant.uniform<i8:f32, 5.0e-02:3>>,
    %w: tensor<2x3x!quant.uniform<i8<-127:127>:f32:0, {1.0e-01, 2.0e-01:1}>>
) {
  return
}

// Ops that move elements move quantised ones.
// CHECK-LABEL: func.func @moves_quantised_numbers
// CHECK:         "tri.max_pool"({{.*}}) {{.*}} -> tensor<1x2x2x2x!quant.uniform<u8:f32, 5.000000e-01:9>>
// CHECK:         "tri.pad"({{.*}}) {{.*}} -> tensor<1x2x2x3x!quant.uniform<u8:f32, 5.000000e-01:9>>
func.func @moves_quantised_numbers(%x: tensor<1x2x4x4x!quant.uniform<u8:f32, 0.5:9>>) -> tensor<1x2x2x3x!quant.uniform<u8:f32, 0.5:9>> {
  %0 = "tri.max_pool"(%x) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x4x!quant.uniform<u8:f32, 0.5:9>>) -> tensor<1x2x2x2x!quant.uniform<u8:f32, 0.5:9>>
  %1 = "tri.pad"(%0) {pads = array<i64: 0, 0, 0, 0, 0, 0, 0, 1>, value = 9.0} : (tensor<1x2x2x2x!quant.uniform<u8:f32, 0.5:9>>) -> tensor<1x2x2x3x!quant.uniform<u8:f32, 0.5:9>>
  return %1 : tensor<1x2x2x3x!quant.uniform<u8:f32, 0.5:9>>
}

// Scales along an axis go where the axis goes.
// CHECK-LABEL: func.func @scales_follow_their_axis
// CHECK:         "tri.transpose"({{.*}} -> tensor<3x2x!quant.uniform<i8:f32:1, {1.000000e-01,2.000000e-01}>>
// CHECK:         "tri.reshape"({{.*}} -> tensor<1x3x2x!quant.uniform<i8:f32:2, {1.000000e-01,2.000000e-01}>>
// CHECK:         "tri.slice"({{.*}} -> tensor<1x3x1x!quant.uniform<i8:f32:2, {2.000000e-01}>>
func.func @scales_follow_their_axis(%x: tensor<2x3x!quant.uniform<i8:f32:0, {0.1, 0.2}>>) -> tensor<1x3x1x!quant.uniform<i8:f32:2, {0.2}>> {
  %0 = "tri.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x3x!quant.uniform<i8:f32:0, {0.1, 0.2}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.1, 0.2}>>
  %1 = "tri.reshape"(%0) {shape = array<i64: 1, 3, 2>} : (tensor<3x2x!quant.uniform<i8:f32:1, {0.1, 0.2}>>) -> tensor<1x3x2x!quant.uniform<i8:f32:2, {0.1, 0.2}>>
  %2 = "tri.slice"(%1) {starts = array<i64: 0, 0, 1>, sizes = array<i64: 1, 3, 1>, steps = array<i64: 1, 1, 1>} : (tensor<1x3x2x!quant.uniform<i8:f32:2, {0.1, 0.2}>>) -> tensor<1x3x1x!quant.uniform<i8:f32:2, {0.2}>>
  return %2 : tensor<1x3x1x!quant.uniform<i8:f32:2, {0.2}>>
}
