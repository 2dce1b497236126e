// RUN: trivium-opt %s --fuse-gelu --eliminate | FileCheck %s

// As torch writes it: x * 0.5 * (erf(x / sqrt 2) + 1).
// CHECK-LABEL: func.func @fuses_erf
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT:    %[[Y:.*]] = "tri.gelu"(%[[X]]) {approximate = "none"}
// CHECK-NEXT:    return %[[Y]]
func.func @fuses_erf(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %half = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %one = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %root = "tri.constant"() {value = dense<1.41421356> : tensor<f32>} : () -> tensor<f32>
  %d = "tri.div"(%x, %root) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %e = "tri.erf"(%d) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = "tri.add"(%e, %one) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = "tri.mul"(%x, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "tri.mul"(%m, %half) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// As GPT-2 has it: 0.5 * x * (1 + tanh(0.797 * (x + 0.0447 * x^3))).
// CHECK-LABEL: func.func @fuses_tanh
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT:    %[[Y:.*]] = "tri.gelu"(%[[X]]) {approximate = "tanh"}
// CHECK-NEXT:    return %[[Y]]
func.func @fuses_tanh(%x: tensor<2xf32>) -> tensor<2xf32> {
  %half = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %one = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %three = "tri.constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %k = "tri.constant"() {value = dense<0.044715> : tensor<f32>} : () -> tensor<f32>
  %r = "tri.constant"() {value = dense<0.7978845608> : tensor<f32>} : () -> tensor<f32>
  %h = "tri.mul"(%x, %half) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %p = "tri.pow"(%x, %three) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %q = "tri.mul"(%p, %k) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %s = "tri.add"(%x, %q) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %m = "tri.mul"(%s, %r) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %t = "tri.tanh"(%m) : (tensor<2xf32>) -> tensor<2xf32>
  %a = "tri.add"(%t, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %y = "tri.mul"(%h, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// As BLOOM has it, with x taken out of the sum, and its square multiplied out.
// CHECK-LABEL: func.func @fuses_tanh_of_product
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT:    %[[Y:.*]] = "tri.gelu"(%[[X]]) {approximate = "tanh"}
// CHECK-NEXT:    return %[[Y]]
func.func @fuses_tanh_of_product(%x: tensor<2xf32>) -> tensor<2xf32> {
  %half = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %one = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %k = "tri.constant"() {value = dense<0.044715> : tensor<f32>} : () -> tensor<f32>
  %r = "tri.constant"() {value = dense<0.79788456> : tensor<f32>} : () -> tensor<f32>
  %h = "tri.mul"(%x, %half) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %v = "tri.mul"(%x, %r) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %p = "tri.mul"(%x, %k) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %q = "tri.mul"(%p, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %s = "tri.add"(%q, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %m = "tri.mul"(%v, %s) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %t = "tri.tanh"(%m) : (tensor<2xf32>) -> tensor<2xf32>
  %a = "tri.add"(%t, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %y = "tri.mul"(%h, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// The value of erf is needed, too.
// CHECK-LABEL: func.func @keeps_erf_with_two_users
// CHECK:         "tri.erf"
// CHECK-NOT:     tri.gelu
func.func @keeps_erf_with_two_users(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %half = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %one = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %root = "tri.constant"() {value = dense<0.70710678> : tensor<f32>} : () -> tensor<f32>
  %d = "tri.mul"(%x, %root) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %e = "tri.erf"(%d) : (tensor<2xf32>) -> tensor<2xf32>
  %a = "tri.add"(%e, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %m = "tri.mul"(%x, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.mul"(%m, %half) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %y, %e : tensor<2xf32>, tensor<2xf32>
}

// Half as steep as it should be.
// CHECK-LABEL: func.func @keeps_other_number
// CHECK-NOT:     tri.gelu
// CHECK:         "tri.erf"
// CHECK-NOT:     tri.gelu
func.func @keeps_other_number(%x: tensor<2xf32>) -> tensor<2xf32> {
  %half = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %one = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %d = "tri.mul"(%x, %half) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %e = "tri.erf"(%d) : (tensor<2xf32>) -> tensor<2xf32>
  %a = "tri.add"(%e, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %m = "tri.mul"(%x, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.mul"(%m, %half) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// The numbers have a shape, and the result has it, too.
// CHECK-LABEL: func.func @keeps_result_that_broadcasts
// CHECK-NOT:     tri.gelu
// CHECK:         "tri.erf"
// CHECK-NOT:     tri.gelu
func.func @keeps_result_that_broadcasts(%x: tensor<1xf32>) -> tensor<2xf32> {
  %half = "tri.constant"() {value = dense<0.5> : tensor<2xf32>} : () -> tensor<2xf32>
  %one = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %root = "tri.constant"() {value = dense<0.70710678> : tensor<f32>} : () -> tensor<f32>
  %d = "tri.mul"(%x, %root) : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %e = "tri.erf"(%d) : (tensor<1xf32>) -> tensor<1xf32>
  %a = "tri.add"(%e, %one) : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %m = "tri.mul"(%x, %a) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %y = "tri.mul"(%m, %half) : (tensor<1xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
