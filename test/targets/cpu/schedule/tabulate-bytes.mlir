// RUN: trivium-opt %s --tabulate-bytes --eliminate | FileCheck %s

// The bytes stand for numbers up to 255, of which the sigmoid is 1 from 18 on: 255 / 255.
// CHECK-LABEL: func.func @looks_up
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK-NEXT:    %[[Y:.*]] = "cpu.look_up"(%[[X]]) {table = array<i64: 128, 186, 225, 243, {{.*}} 255, 255>, to = "ui8"} : (tensor<4xui8>) -> tensor<4xui8>
// CHECK-NEXT:    return %[[Y]]
func.func @looks_up(%x: tensor<4xui8>) -> tensor<4xui8> {
  %t = "tri.constant"() {value = dense<255.0> : tensor<f32>} : () -> tensor<f32>
  %a = "tri.cast"(%x) {to = "f32"} : (tensor<4xui8>) -> tensor<4xf32>
  %s = "tri.sigmoid"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %m = "tri.mul"(%s, %t) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "tri.round"(%m) : (tensor<4xf32>) -> tensor<4xf32>
  %l = "tri.clip"(%r) {min = 0.0, max = 255.0} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "tri.cast"(%l) {to = "ui8"} : (tensor<4xf32>) -> tensor<4xui8>
  return %y : tensor<4xui8>
}

// A few multiplications cost no more.
// CHECK-LABEL: func.func @keeps_change_of_scale
// CHECK-NOT:     "cpu.look_up"
// CHECK:         "tri.mul"
func.func @keeps_change_of_scale(%x: tensor<4xui8>) -> tensor<4xui8> {
  %t = "tri.constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %a = "tri.cast"(%x) {to = "f32"} : (tensor<4xui8>) -> tensor<4xf32>
  %m = "tri.mul"(%a, %t) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "tri.round"(%m) : (tensor<4xf32>) -> tensor<4xf32>
  %l = "tri.clip"(%r) {min = 0.0, max = 255.0} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "tri.cast"(%l) {to = "ui8"} : (tensor<4xf32>) -> tensor<4xui8>
  return %y : tensor<4xui8>
}

// CHECK-LABEL: func.func @keeps_function_of_two_bytes
// CHECK-NOT:     "cpu.look_up"
// CHECK:         "tri.sigmoid"
func.func @keeps_function_of_two_bytes(%x: tensor<4xui8>, %z: tensor<4xui8>) -> tensor<4xui8> {
  %a = "tri.cast"(%x) {to = "f32"} : (tensor<4xui8>) -> tensor<4xf32>
  %b = "tri.cast"(%z) {to = "f32"} : (tensor<4xui8>) -> tensor<4xf32>
  %s = "tri.sigmoid"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %m = "tri.mul"(%s, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = "tri.round"(%m) : (tensor<4xf32>) -> tensor<4xf32>
  %l = "tri.clip"(%r) {min = 0.0, max = 255.0} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "tri.cast"(%l) {to = "ui8"} : (tensor<4xf32>) -> tensor<4xui8>
  return %y : tensor<4xui8>
}

// CHECK-LABEL: func.func @keeps_function_of_floats
// CHECK-NOT:     "cpu.look_up"
// CHECK:         "tri.sigmoid"
func.func @keeps_function_of_floats(%x: tensor<4xf32>) -> tensor<4xui8> {
  %s = "tri.sigmoid"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %l = "tri.clip"(%s) {min = 0.0, max = 255.0} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "tri.cast"(%l) {to = "ui8"} : (tensor<4xf32>) -> tensor<4xui8>
  return %y : tensor<4xui8>
}
