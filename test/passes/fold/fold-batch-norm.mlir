// RUN: trivium-opt %s --fold-batch-norm --eliminate | FileCheck %s
// RUN: trivium-opt %s --fold-batch-norm=alone=false | FileCheck %s --check-prefix=AFTER

// Scale 4 and variance 4 make a factor of 2: weights 3 become 6, and the bias 5 - 1 * 2 is 3.
// CHECK-LABEL: func.func @folds_into_conv
// AFTER-LABEL: func.func @folds_into_conv
// AFTER-NOT:     tri.batch_norm
// CHECK-SAME:    (%[[X:.*]]: tensor<1x1x4x4xf32>)
// CHECK-DAG:     %[[W:.*]] = "tri.constant"() {value = dense<6.000000e+00> : tensor<1x1x1x1xf32>}
// CHECK-DAG:     %[[B:.*]] = "tri.constant"() {value = dense<3.000000e+00> : tensor<1xf32>}
// CHECK:         %[[Y:.*]] = "tri.conv"(%[[X]], %[[W]], %[[B]])
// CHECK-NEXT:    return %[[Y]]
func.func @folds_into_conv(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = "tri.constant"() {value = dense<3.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %scale = "tri.constant"() {value = dense<4.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %bias = "tri.constant"() {value = dense<5.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %mean = "tri.constant"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %c = "tri.conv"(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %y = "tri.batch_norm"(%c, %scale, %bias, %mean, %scale) {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}

// A matrix product has no bias: the term is added after it, before the reshape in between.
// CHECK-LABEL: func.func @folds_into_mat_mul_behind_reshape
// CHECK-DAG:     %[[W:.*]] = "tri.constant"() {value = dense<6.000000e+00> : tensor<3x1xf32>}
// CHECK-DAG:     %[[B:.*]] = "tri.constant"() {value = dense<3.000000e+00> : tensor<1xf32>}
// CHECK:         %[[M:.*]] = "tri.mat_mul"(%{{.*}}, %[[W]])
// CHECK-NEXT:    %[[A:.*]] = "tri.add"(%[[M]], %[[B]])
// CHECK-NEXT:    "tri.reshape"(%[[A]])
func.func @folds_into_mat_mul_behind_reshape(%x: tensor<2x5x3xf32>) -> tensor<10x1xf32> {
  %w = "tri.constant"() {value = dense<3.0> : tensor<3x1xf32>} : () -> tensor<3x1xf32>
  %scale = "tri.constant"() {value = dense<4.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %bias = "tri.constant"() {value = dense<5.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %mean = "tri.constant"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %m = "tri.mat_mul"(%x, %w) : (tensor<2x5x3xf32>, tensor<3x1xf32>) -> tensor<2x5x1xf32>
  %r = "tri.reshape"(%m) {shape = array<i64: 10, 1>} : (tensor<2x5x1xf32>) -> tensor<10x1xf32>
  %y = "tri.batch_norm"(%r, %scale, %bias, %mean, %scale) {epsilon = 0.0} : (tensor<10x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<10x1xf32>
  return %y : tensor<10x1xf32>
}

// With nothing to fold into, a product and a sum remain; without `alone`, it stays what it is.
// CHECK-LABEL: func.func @splits_when_alone
// AFTER-LABEL: func.func @splits_when_alone
// AFTER:         tri.batch_norm
// AFTER-NOT:     tri.mul
// CHECK-SAME:    (%[[X:.*]]: tensor<1x2x3xf32>)
// CHECK-DAG:     %[[S:.*]] = "tri.constant"() {value = dense<{{\[\[}}1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>}
// CHECK-DAG:     %[[T:.*]] = "tri.constant"() {value = dense<{{\[\[}}4.000000e+00], [1.000000e+00]]> : tensor<2x1xf32>}
// CHECK:         %[[M:.*]] = "tri.mul"(%[[X]], %[[S]])
// CHECK-NEXT:    "tri.add"(%[[M]], %[[T]])
func.func @splits_when_alone(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  %scale = "tri.constant"() {value = dense<[1.0, 4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %bias = "tri.constant"() {value = dense<5.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %mean = "tri.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "tri.batch_norm"(%x, %scale, %bias, %mean, %scale) {epsilon = 0.0} : (tensor<1x2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3xf32>
  return %y : tensor<1x2x3xf32>
}

// The convolution's own result is needed, too.
// CHECK-LABEL: func.func @keeps_conv_with_two_users
// CHECK:         %[[C:.*]] = "tri.conv"
// CHECK:         "tri.mul"(%[[C]]
func.func @keeps_conv_with_two_users(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = "tri.constant"() {value = dense<3.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %one = "tri.constant"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %c = "tri.conv"(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %y = "tri.batch_norm"(%c, %one, %one, %one, %one) : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %y, %c : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// CHECK-LABEL: func.func @keeps_parameters_that_are_computed
// CHECK:         "tri.batch_norm"
func.func @keeps_parameters_that_are_computed(%x: tensor<1x1x4xf32>, %scale: tensor<1xf32>) -> tensor<1x1x4xf32> {
  %y = "tri.batch_norm"(%x, %scale, %scale, %scale, %scale) : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  return %y : tensor<1x1x4xf32>
}

// The channels of the product are its last axis, those of the normalisation the second of three.
// CHECK-LABEL: func.func @keeps_normalisation_of_rows
// CHECK:         "tri.mat_mul"
// CHECK:         "tri.mul"
func.func @keeps_normalisation_of_rows(%x: tensor<2x1x3xf32>) -> tensor<2x1x4xf32> {
  %w = "tri.constant"() {value = dense<3.0> : tensor<3x4xf32>} : () -> tensor<3x4xf32>
  %two = "tri.constant"() {value = dense<2.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %m = "tri.mat_mul"(%x, %w) : (tensor<2x1x3xf32>, tensor<3x4xf32>) -> tensor<2x1x4xf32>
  %y = "tri.batch_norm"(%m, %two, %two, %two, %two) : (tensor<2x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x1x4xf32>
  return %y : tensor<2x1x4xf32>
}
