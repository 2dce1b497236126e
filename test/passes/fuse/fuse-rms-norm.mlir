// RUN: trivium-opt %s --fuse-rms-norm --eliminate | FileCheck %s

// As LLaMA has it: weight * (x * 1 / sqrt(mean(x^2) + epsilon)).
// CHECK-LABEL: func.func @fuses_with_scale
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>)
// CHECK:         %[[S:.*]] = "tri.weight"
// CHECK:         %[[Y:.*]] = "tri.rms_norm"(%[[X]], %[[S]]) {axis = 1 : i64
// CHECK-NEXT:    return %[[Y]]
func.func @fuses_with_scale(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %two = "tri.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %epsilon = "tri.constant"() {value = dense<1.0e-6> : tensor<f32>} : () -> tensor<f32>
  %scale = "tri.weight"() {name = "scale", type = tensor<3xf32>} : () -> tensor<3xf32>
  %p = "tri.pow"(%x, %two) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = "tri.reduce_mean"(%p) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %a = "tri.add"(%m, %epsilon) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %r = "tri.sqrt"(%a) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %i = "tri.reciprocal"(%r) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %n = "tri.mul"(%x, %i) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %y = "tri.mul"(%scale, %n) : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @keeps_root_with_two_users
// CHECK-NOT:     tri.rms_norm
func.func @keeps_root_with_two_users(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>) {
  %epsilon = "tri.constant"() {value = dense<1.0e-6> : tensor<f32>} : () -> tensor<f32>
  %p = "tri.mul"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %m = "tri.reduce_mean"(%p) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %a = "tri.add"(%m, %epsilon) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %r = "tri.sqrt"(%a) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %y = "tri.div"(%x, %r) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %y, %r : tensor<2x3xf32>, tensor<2x1xf32>
}

// A sum of squares is not their mean.
// CHECK-LABEL: func.func @keeps_sum
// CHECK-NOT:     tri.rms_norm
func.func @keeps_sum(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %epsilon = "tri.constant"() {value = dense<1.0e-6> : tensor<f32>} : () -> tensor<f32>
  %p = "tri.mul"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %m = "tri.reduce_sum"(%p) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %a = "tri.add"(%m, %epsilon) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %r = "tri.rsqrt"(%a) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %y = "tri.mul"(%x, %r) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
