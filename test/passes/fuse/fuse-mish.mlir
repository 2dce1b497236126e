// RUN: trivium-opt %s --fuse-mish | FileCheck %s

// CHECK-LABEL: func.func @fuses_mish
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT:    %[[Y:.*]] = "tri.mish"(%[[X]])
// CHECK-NEXT:    return %[[Y]]
func.func @fuses_mish(%x: tensor<2xf32>) -> tensor<2xf32> {
  %p = "tri.softplus"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %t = "tri.tanh"(%p) : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.mul"(%t, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// The softplus written out: log(1 + exp(x)).
// CHECK-LABEL: func.func @fuses_mish_of_log
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK:         "tri.mish"(%[[X]])
func.func @fuses_mish_of_log(%x: tensor<2xf32>) -> tensor<2xf32> {
  %one = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %e = "tri.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %a = "tri.add"(%e, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %p = "tri.log"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %t = "tri.tanh"(%p) : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.mul"(%x, %t) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @keeps_softplus_with_two_users
// CHECK:         "tri.tanh"
func.func @keeps_softplus_with_two_users(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %p = "tri.softplus"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %t = "tri.tanh"(%p) : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.mul"(%t, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y, %p : tensor<2xf32>, tensor<2xf32>
}
