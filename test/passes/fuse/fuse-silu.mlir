// RUN: trivium-opt %s --fuse-silu | FileCheck %s

// CHECK-LABEL: func.func @fuses_silu
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT:    %[[Y:.*]] = "tri.silu"(%[[X]])
// CHECK-NEXT:    return %[[Y]]
func.func @fuses_silu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = "tri.sigmoid"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "tri.mul"(%s, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @fuses_swish
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK:         "tri.swish"(%[[X]]) {alpha = 1.702
func.func @fuses_swish(%x: tensor<2xf32>) -> tensor<2xf32> {
  %alpha = "tri.constant"() {value = dense<1.702> : tensor<f32>} : () -> tensor<f32>
  %a = "tri.mul"(%alpha, %x) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %s = "tri.sigmoid"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.mul"(%x, %s) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @keeps_sigmoid_with_two_users
// CHECK:         "tri.sigmoid"
// CHECK:         "tri.mul"
func.func @keeps_sigmoid_with_two_users(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %s = "tri.sigmoid"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.mul"(%x, %s) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y, %s : tensor<2xf32>, tensor<2xf32>
}

// A gate: the sigmoid is of something else.
// CHECK-LABEL: func.func @keeps_gate
// CHECK:         "tri.sigmoid"
// CHECK:         "tri.mul"
func.func @keeps_gate(%x: tensor<2xf32>, %g: tensor<2xf32>) -> tensor<2xf32> {
  %s = "tri.sigmoid"(%g) : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.mul"(%x, %s) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
