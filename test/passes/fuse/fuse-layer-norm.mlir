// RUN: trivium-opt %s --fuse-layer-norm --eliminate | FileCheck %s

// As exporters write it, with the scale and the bias after it.
// CHECK-LABEL: func.func @fuses_with_scale_and_bias
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-DAG:     %[[S:.*]] = "tri.weight"() {name = "scale"
// CHECK-DAG:     %[[B:.*]] = "tri.weight"() {name = "bias"
// CHECK:         %[[Y:.*]] = "tri.layer_norm"(%[[X]], %[[S]], %[[B]]) {axis = 1 : i64, epsilon = 9.99{{.*}}E-6
// CHECK-NEXT:    return %[[Y]]
func.func @fuses_with_scale_and_bias(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %two = "tri.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %epsilon = "tri.constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %scale = "tri.weight"() {name = "scale", type = tensor<3xf32>} : () -> tensor<3xf32>
  %bias = "tri.weight"() {name = "bias", type = tensor<3xf32>} : () -> tensor<3xf32>
  %m = "tri.reduce_mean"(%x) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %d = "tri.sub"(%x, %m) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %p = "tri.pow"(%d, %two) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %v = "tri.reduce_mean"(%p) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %a = "tri.add"(%v, %epsilon) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %r = "tri.sqrt"(%a) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %n = "tri.div"(%d, %r) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %s = "tri.mul"(%n, %scale) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = "tri.add"(%s, %bias) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// The factor is taken from a product with itself, a reciprocal root, and the scale first.
// CHECK-LABEL: func.func @fuses_other_spelling
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>)
// CHECK:         %[[S:.*]] = "tri.weight"
// CHECK:         %[[Y:.*]] = "tri.layer_norm"(%[[X]], %[[S]])
// CHECK-NEXT:    return %[[Y]]
func.func @fuses_other_spelling(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %epsilon = "tri.constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %scale = "tri.weight"() {name = "scale", type = tensor<3xf32>} : () -> tensor<3xf32>
  %m = "tri.reduce_mean"(%x) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %d = "tri.sub"(%x, %m) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %p = "tri.mul"(%d, %d) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = "tri.reduce_mean"(%p) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %a = "tri.add"(%epsilon, %v) : (tensor<f32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  %r = "tri.rsqrt"(%a) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %s = "tri.mul"(%scale, %r) : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %y = "tri.mul"(%d, %s) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// The mean is over channels, which are not the last axis.
// CHECK-LABEL: func.func @keeps_norm_over_first_axis
// CHECK-NOT:     tri.layer_norm
func.func @keeps_norm_over_first_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %epsilon = "tri.constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %m = "tri.reduce_mean"(%x) {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %d = "tri.sub"(%x, %m) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %p = "tri.mul"(%d, %d) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = "tri.reduce_mean"(%p) {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %a = "tri.add"(%v, %epsilon) : (tensor<1x3xf32>, tensor<f32>) -> tensor<1x3xf32>
  %r = "tri.sqrt"(%a) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %y = "tri.div"(%d, %r) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// The variance is of something else.
// CHECK-LABEL: func.func @keeps_variance_of_other_value
// CHECK-NOT:     tri.layer_norm
func.func @keeps_variance_of_other_value(%x: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %epsilon = "tri.constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %m = "tri.reduce_mean"(%x) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %d = "tri.sub"(%x, %m) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %p = "tri.mul"(%z, %z) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = "tri.reduce_mean"(%p) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %a = "tri.add"(%v, %epsilon) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %r = "tri.sqrt"(%a) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %y = "tri.div"(%d, %r) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// A factor that the model computes is not a parameter of the norm.
// CHECK-LABEL: func.func @keeps_factor_that_is_computed
// CHECK:         %[[N:.*]] = "tri.layer_norm"
// CHECK:         "tri.mul"(%[[N]]
func.func @keeps_factor_that_is_computed(%x: tensor<2x3xf32>, %s: tensor<3xf32>) -> tensor<2x3xf32> {
  %n = "tri.layer_norm"(%x) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "tri.mul"(%n, %s) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// The scale of a norm varies along the axes that are normalised, and no others.
// CHECK-LABEL: func.func @keeps_factor_of_rows
// CHECK:         %[[N:.*]] = "tri.layer_norm"
// CHECK:         "tri.mul"(%[[N]]
func.func @keeps_factor_of_rows(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = "tri.weight"() {name = "scale", type = tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %n = "tri.layer_norm"(%x) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "tri.mul"(%n, %s) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// After the bias it is too late for a scale.
// CHECK-LABEL: func.func @keeps_factor_after_bias
// CHECK:         %[[N:.*]] = "tri.layer_norm"
// CHECK:         "tri.mul"(%[[N]]
func.func @keeps_factor_after_bias(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = "tri.weight"() {name = "scale", type = tensor<3xf32>} : () -> tensor<3xf32>
  %n = "tri.layer_norm"(%x, %s) {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = "tri.mul"(%n, %s) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
