// RUN: trivium-opt %s --fold-scale --eliminate | FileCheck %s

// CHECK-LABEL: func.func @folds_term_into_bias
// CHECK-SAME:    (%[[X:.*]]: tensor<1x1x4xf32>)
// CHECK-DAG:     %[[B:.*]] = "tri.constant"() {value = dense<[3.000000e+00, 5.000000e+00]> : tensor<2xf32>}
// CHECK:         %[[Y:.*]] = "tri.conv"(%[[X]], %{{.*}}, %[[B]])
// CHECK-NEXT:    return %[[Y]]
func.func @folds_term_into_bias(%x: tensor<1x1x4xf32>) -> tensor<1x2x4xf32> {
  %w = "tri.constant"() {value = dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %b = "tri.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %t = "tri.constant"() {value = dense<[[2.0], [3.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %c = "tri.conv"(%x, %w, %b) {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x1x4xf32>, tensor<2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  %y = "tri.add"(%t, %c) : (tensor<2x1xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return %y : tensor<1x2x4xf32>
}

// A divisor of 2 halves weights and bias.
// CHECK-LABEL: func.func @folds_divisor_into_weights
// CHECK-DAG:     %[[W:.*]] = "tri.constant"() {value = dense<5.000000e-01> : tensor<3x2xf32>}
// CHECK-DAG:     %[[B:.*]] = "tri.constant"() {value = dense<2.000000e+00> : tensor<2xf32>}
// CHECK:         "tri.gemm"(%{{.*}}, %[[W]], %[[B]])
// CHECK-NEXT:    return
func.func @folds_divisor_into_weights(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<3x2xf32>} : () -> tensor<3x2xf32>
  %b = "tri.constant"() {value = dense<4.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %two = "tri.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %g = "tri.gemm"(%x, %w, %b) : (tensor<4x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %y = "tri.div"(%g, %two) : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// Weights of a transposed convolution: inputs first, outputs second.
// CHECK-LABEL: func.func @folds_factor_into_transposed_conv
// CHECK-DAG:     %[[W:.*]] = "tri.constant"() {value = dense<{{\[\[\[}}2.000000e+00], [3.000000e+00]]]> : tensor<1x2x1xf32>}
// CHECK:         "tri.conv_transpose"(%{{.*}}, %[[W]])
// CHECK-NEXT:    return
func.func @folds_factor_into_transposed_conv(%x: tensor<1x1x4xf32>) -> tensor<1x2x4xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<1x2x1xf32>} : () -> tensor<1x2x1xf32>
  %s = "tri.constant"() {value = dense<[[2.0], [3.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %c = "tri.conv_transpose"(%x, %w) {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x1x4xf32>, tensor<1x2x1xf32>) -> tensor<1x2x4xf32>
  %y = "tri.mul"(%c, %s) : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  return %y : tensor<1x2x4xf32>
}

// A matrix product has no bias to take a term.
// CHECK-LABEL: func.func @keeps_term_after_mat_mul
// CHECK:         "tri.add"
func.func @keeps_term_after_mat_mul(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<3x2xf32>} : () -> tensor<3x2xf32>
  %b = "tri.constant"() {value = dense<4.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %m = "tri.mat_mul"(%x, %w) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %y = "tri.add"(%m, %b) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// The factor differs from pixel to pixel.
// CHECK-LABEL: func.func @keeps_factor_of_pixels
// CHECK:         "tri.mul"
func.func @keeps_factor_of_pixels(%x: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %s = "tri.constant"() {value = dense<[2.0, 3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %c = "tri.conv"(%x, %w) {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %y = "tri.mul"(%c, %s) : (tensor<1x1x2xf32>, tensor<2xf32>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}

// CHECK-LABEL: func.func @keeps_conv_with_two_users
// CHECK:         "tri.mul"
func.func @keeps_conv_with_two_users(%x: tensor<1x1x2xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x2xf32>) {
  %w = "tri.constant"() {value = dense<1.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %s = "tri.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %c = "tri.conv"(%x, %w) {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %y = "tri.mul"(%c, %s) : (tensor<1x1x2xf32>, tensor<f32>) -> tensor<1x1x2xf32>
  return %y, %c : tensor<1x1x2xf32>, tensor<1x1x2xf32>
}

// Scaled weights would be there twice.
// CHECK-LABEL: func.func @keeps_shared_weights
// CHECK:         "tri.mul"
func.func @keeps_shared_weights(%x: tensor<4x20xf32>) -> (tensor<4x20xf32>, tensor<4x20xf32>) {
  %w = "tri.constant"() {value = dense<1.0> : tensor<20x20xf32>} : () -> tensor<20x20xf32>
  %s = "tri.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %m = "tri.mat_mul"(%x, %w) : (tensor<4x20xf32>, tensor<20x20xf32>) -> tensor<4x20xf32>
  %y = "tri.mul"(%m, %s) : (tensor<4x20xf32>, tensor<f32>) -> tensor<4x20xf32>
  %r = "tri.relu"(%x) : (tensor<4x20xf32>) -> tensor<4x20xf32>
  %n = "tri.mat_mul"(%r, %w) : (tensor<4x20xf32>, tensor<20x20xf32>) -> tensor<4x20xf32>
  return %y, %n : tensor<4x20xf32>, tensor<4x20xf32>
}

// A norm has a scale and a bias of its own.
// CHECK-LABEL: func.func @folds_into_group_norm
// CHECK-DAG:     %[[S:.*]] = "tri.constant"() {value = dense<6.000000e+00> : tensor<2xf32>}
// CHECK-DAG:     %[[B:.*]] = "tri.constant"() {value = dense<5.000000e+00> : tensor<2xf32>}
// CHECK:         %[[Y:.*]] = "tri.group_norm"(%{{.*}}, %[[S]], %[[B]])
// CHECK-NEXT:    return %[[Y]]
func.func @folds_into_group_norm(%x: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  %s = "tri.constant"() {value = dense<3.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = "tri.constant"() {value = dense<2.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %two = "tri.constant"() {value = dense<2.0> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %one = "tri.constant"() {value = dense<1.0> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %n = "tri.group_norm"(%x, %s, %b) {groups = 1} : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  %m = "tri.mul"(%n, %two) : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  %y = "tri.add"(%m, %one) : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  return %y : tensor<1x2x4xf32>
}

// Two divided by x is not x divided by two.
// CHECK-LABEL: func.func @keeps_constant_dividend
// CHECK:         "tri.div"
func.func @keeps_constant_dividend(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<3x2xf32>} : () -> tensor<3x2xf32>
  %two = "tri.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %m = "tri.mat_mul"(%x, %w) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %y = "tri.div"(%two, %m) : (tensor<f32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
