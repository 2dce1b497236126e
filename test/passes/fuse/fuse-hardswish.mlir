// RUN: trivium-opt %s --fuse-hardswish | FileCheck %s

// CHECK-LABEL: func.func @fuses_hard_sigmoid
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK:         %[[Y:.*]] = "tri.hard_sigmoid"(%[[X]]) {alpha = 0.1666{{.*}}, beta = 5.0
// CHECK-NEXT:    return %[[Y]]
func.func @fuses_hard_sigmoid(%x: tensor<2xf32>) -> tensor<2xf32> {
  %three = "tri.constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %six = "tri.constant"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %a = "tri.add"(%x, %three) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %c = "tri.clip"(%a) {min = 0.0, max = 6.0} : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.div"(%c, %six) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @fuses_hardswish_of_hard_sigmoid
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT:    "tri.hardswish"(%[[X]])
func.func @fuses_hardswish_of_hard_sigmoid(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = "tri.hard_sigmoid"(%x) {alpha = 0.16666667163372, beta = 0.5} : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.mul"(%x, %s) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// The division comes last, and the limits are two ops.
// CHECK-LABEL: func.func @fuses_hardswish_of_limits
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK:         %[[Y:.*]] = "tri.hardswish"(%[[X]])
// CHECK-NEXT:    return %[[Y]]
func.func @fuses_hardswish_of_limits(%x: tensor<2xf32>) -> tensor<2xf32> {
  %three = "tri.constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %six = "tri.constant"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %a = "tri.add"(%three, %x) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %r = "tri.relu"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %c = "tri.minimum"(%r, %six) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %m = "tri.mul"(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.div"(%m, %six) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// ONNX's default of 0.2 is another function.
// CHECK-LABEL: func.func @keeps_other_slope
// CHECK:         "tri.mul"
func.func @keeps_other_slope(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = "tri.hard_sigmoid"(%x) {alpha = 0.2, beta = 0.5} : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.mul"(%x, %s) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @keeps_other_limit
// CHECK:         "tri.clip"
func.func @keeps_other_limit(%x: tensor<2xf32>) -> tensor<2xf32> {
  %three = "tri.constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %six = "tri.constant"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %a = "tri.add"(%x, %three) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %c = "tri.clip"(%a) {min = 0.0, max = 5.0} : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.div"(%c, %six) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
