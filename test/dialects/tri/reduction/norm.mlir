// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @batch_norm
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[SCALE:.*]]: {{.*}}, %[[BIAS:.*]]: {{.*}}, %[[MEAN:.*]]: {{.*}}, %[[VAR:.*]]: {{.*}})
// CHECK:         "tri.batch_norm"(%[[X]], %[[SCALE]], %[[BIAS]], %[[MEAN]], %[[VAR]]) {epsilon = 1.000000e-03 : f64}
// CHECK-SAME:      : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
func.func @batch_norm(%x: tensor<2x4x3xf32>, %scale: tensor<4xf32>, %bias: tensor<4xf32>, %mean: tensor<4xf32>, %var: tensor<4xf32>) -> tensor<2x4x3xf32> {
  %0 = "tri.batch_norm"(%x, %scale, %bias, %mean, %var) {epsilon = 1.000000e-03 : f64}
      : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// Scale and bias may be left out, each by itself.
// CHECK-LABEL: func.func @layer_norm
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.layer_norm"(%[[X]]) {operandSegmentSizes = array<i32: 1, 0, 0>}
// CHECK-SAME:      : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
func.func @layer_norm(%x: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %0 = "tri.layer_norm"(%x) {operandSegmentSizes = array<i32: 1, 0, 0>}
      : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @layer_norm_with_scale
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[SCALE:.*]]: {{.*}})
// CHECK:         "tri.layer_norm"(%[[X]], %[[SCALE]]) {axis = 1 : i64, epsilon = 1.000000e-03 : f64, operandSegmentSizes = array<i32: 1, 1, 0>}
// CHECK-SAME:      : (tensor<2x4x3xf32>, tensor<4x3xf32>) -> tensor<2x4x3xf32>
func.func @layer_norm_with_scale(%x: tensor<2x4x3xf32>, %scale: tensor<4x3xf32>) -> tensor<2x4x3xf32> {
  %0 = "tri.layer_norm"(%x, %scale) {axis = 1 : i64, epsilon = 1.000000e-03 : f64, operandSegmentSizes = array<i32: 1, 1, 0>}
      : (tensor<2x4x3xf32>, tensor<4x3xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @layer_norm_with_bias
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[BIAS:.*]]: {{.*}})
// CHECK:         "tri.layer_norm"(%[[X]], %[[BIAS]]) {operandSegmentSizes = array<i32: 1, 0, 1>}
// CHECK-SAME:      : (tensor<2x4x3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>
func.func @layer_norm_with_bias(%x: tensor<2x4x3xf32>, %bias: tensor<3xf32>) -> tensor<2x4x3xf32> {
  %0 = "tri.layer_norm"(%x, %bias) {operandSegmentSizes = array<i32: 1, 0, 1>}
      : (tensor<2x4x3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @rms_norm_without_scale
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.rms_norm"(%[[X]])
// CHECK-SAME:      : (tensor<2x4xf16>) -> tensor<2x4xf16>
func.func @rms_norm_without_scale(%x: tensor<2x4xf16>) -> tensor<2x4xf16> {
  %0 = "tri.rms_norm"(%x) : (tensor<2x4xf16>) -> tensor<2x4xf16>
  return %0 : tensor<2x4xf16>
}

// CHECK-LABEL: func.func @rms_norm
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[SCALE:.*]]: {{.*}})
// CHECK:         "tri.rms_norm"(%[[X]], %[[SCALE]]) {axis = 1 : i64, epsilon = 1.000000e-03 : f64}
// CHECK-SAME:      : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
func.func @rms_norm(%x: tensor<2x4xf16>, %scale: tensor<4xf16>) -> tensor<2x4xf16> {
  %0 = "tri.rms_norm"(%x, %scale) {axis = 1 : i64, epsilon = 1.000000e-03 : f64}
      : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  return %0 : tensor<2x4xf16>
}

// CHECK-LABEL: func.func @group_norm
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[SCALE:.*]]: {{.*}}, %[[BIAS:.*]]: {{.*}})
// CHECK:         "tri.group_norm"(%[[X]], %[[SCALE]], %[[BIAS]]) {groups = 2 : i64}
// CHECK-SAME:      : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
func.func @group_norm(%x: tensor<2x4x3xf32>, %scale: tensor<4xf32>, %bias: tensor<4xf32>) -> tensor<2x4x3xf32> {
  %0 = "tri.group_norm"(%x, %scale, %bias) {groups = 2 : i64}
      : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @instance_norm
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[SCALE:.*]]: {{.*}}, %[[BIAS:.*]]: {{.*}})
// CHECK:         "tri.instance_norm"(%[[X]], %[[SCALE]], %[[BIAS]])
// CHECK-SAME:      : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
func.func @instance_norm(%x: tensor<2x4x3xf32>, %scale: tensor<4xf32>, %bias: tensor<4xf32>) -> tensor<2x4x3xf32> {
  %0 = "tri.instance_norm"(%x, %scale, %bias)
      : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @lp_normalize
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.lp_normalize"(%[[X]]) {axis = 0 : i64, p = 1 : i64}
// CHECK-SAME:      : (tensor<2x4xf32>) -> tensor<2x4xf32>
func.func @lp_normalize(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = "tri.lp_normalize"(%x) {axis = 0 : i64, p = 1 : i64}
      : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @lrn
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.lrn"(%[[X]]) {alpha = 1.000000e-03 : f64, beta = 5.000000e-01 : f64, bias = 2.000000e+00 : f64, size = 5 : i64}
// CHECK-SAME:      : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
func.func @lrn(%x: tensor<1x8x4xf32>) -> tensor<1x8x4xf32> {
  %0 = "tri.lrn"(%x) {alpha = 1.000000e-03 : f64, beta = 5.000000e-01 : f64, bias = 2.000000e+00 : f64, size = 5 : i64}
      : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  return %0 : tensor<1x8x4xf32>
}
