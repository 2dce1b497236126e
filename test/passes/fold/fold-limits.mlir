// RUN: trivium-opt %s --fold-limits --eliminate | FileCheck %s

// Zero stands for -128, the least byte: nothing is left of the first limits.
// CHECK-LABEL: func.func @drops_relu
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK-NOT:     "tri.relu"
// CHECK:         %[[Q:.*]] = "tri.div"(%[[X]]
// CHECK:         %[[R:.*]] = "tri.round"(%[[Q]])
// CHECK:         %[[S:.*]] = "tri.add"(%[[R]]
// CHECK:         %[[L:.*]] = "tri.clip"(%[[S]]) {{.*}}max = 1.270000e+02{{.*}}min = -1.280000e+02
// CHECK:         "tri.cast"(%[[L]])
func.func @drops_relu(%x: tensor<4xf32>) -> tensor<4xi8> {
  %s = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "tri.constant"() {value = dense<-128.0> : tensor<f32>} : () -> tensor<f32>
  %a = "tri.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %q = "tri.div"(%a, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "tri.round"(%q) : (tensor<4xf32>) -> tensor<4xf32>
  %t = "tri.add"(%r, %z) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = "tri.clip"(%t) {min = -128.0, max = 127.0} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "tri.cast"(%l) {to = "i8"} : (tensor<4xf32>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// 6 / 0.0625 is 96; the lower limit of -20 is below that of bytes.
// CHECK-LABEL: func.func @narrows_limits
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.div"(%[[X]]
// CHECK:         "tri.clip"({{.*}}) {{.*}}max = 9.600000e+01{{.*}}min = -1.280000e+02
func.func @narrows_limits(%x: tensor<4xf32>) -> tensor<4xi8> {
  %s = "tri.constant"() {value = dense<0.0625> : tensor<f32>} : () -> tensor<f32>
  %a = "tri.clip"(%x) {min = -20.0, max = 6.0} : (tensor<4xf32>) -> tensor<4xf32>
  %q = "tri.div"(%a, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "tri.round"(%q) : (tensor<4xf32>) -> tensor<4xf32>
  %l = "tri.clip"(%r) {min = -128.0, max = 127.0} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "tri.cast"(%l) {to = "i8"} : (tensor<4xf32>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// CHECK-LABEL: func.func @keeps_relu_before_negation
// CHECK:         "tri.relu"
func.func @keeps_relu_before_negation(%x: tensor<4xf32>) -> tensor<4xi8> {
  %s = "tri.constant"() {value = dense<-0.5> : tensor<f32>} : () -> tensor<f32>
  %a = "tri.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %q = "tri.mul"(%a, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = "tri.clip"(%q) {min = -128.0, max = 127.0} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "tri.cast"(%l) {to = "i8"} : (tensor<4xf32>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// A constant less the limited number is the smaller, the larger that is.
// CHECK-LABEL: func.func @keeps_relu_that_is_subtracted
// CHECK:         "tri.relu"
func.func @keeps_relu_that_is_subtracted(%x: tensor<4xf32>) -> tensor<4xi8> {
  %s = "tri.constant"() {value = dense<0.5> : tensor<4xf32>} : () -> tensor<4xf32>
  %a = "tri.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %q = "tri.sub"(%s, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = "tri.clip"(%q) {min = -128.0, max = 127.0} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "tri.cast"(%l) {to = "i8"} : (tensor<4xf32>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// Others see what is limited.
// CHECK-LABEL: func.func @keeps_relu_with_two_users
// CHECK:         "tri.relu"
func.func @keeps_relu_with_two_users(%x: tensor<4xf32>) -> (tensor<4xi8>, tensor<4xf32>) {
  %a = "tri.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = "tri.round"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %l = "tri.clip"(%r) {min = -128.0, max = 127.0} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "tri.cast"(%l) {to = "i8"} : (tensor<4xf32>) -> tensor<4xi8>
  return %y, %a : tensor<4xi8>, tensor<4xf32>
}

// Each channel has a scale of its own.
// CHECK-LABEL: func.func @keeps_relu_before_several_scales
// CHECK:         "tri.relu"
func.func @keeps_relu_before_several_scales(%x: tensor<2xf32>) -> tensor<2xi8> {
  %s = "tri.constant"() {value = dense<[0.5, 0.25]> : tensor<2xf32>} : () -> tensor<2xf32>
  %a = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %q = "tri.div"(%a, %s) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %l = "tri.clip"(%q) {min = -128.0, max = 127.0} : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.cast"(%l) {to = "i8"} : (tensor<2xf32>) -> tensor<2xi8>
  return %y : tensor<2xi8>
}

// Zeros of floats have a sign.
// CHECK-LABEL: func.func @keeps_relu_of_floats
// CHECK:         "tri.relu"
func.func @keeps_relu_of_floats(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "tri.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = "tri.round"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %l = "tri.clip"(%r) {min = 0.0, max = 127.0} : (tensor<4xf32>) -> tensor<4xf32>
  return %l : tensor<4xf32>
}
