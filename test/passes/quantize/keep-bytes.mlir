// RUN: trivium-opt %s --keep-bytes | FileCheck %s

// Each part is quantised by the scale of the whole, and bytes are joined.
// CHECK-LABEL: func.func @quantizes_parts
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         %[[D:.*]] = "tri.div"(%[[A]]
// CHECK:         %[[P:.*]] = "tri.cast"({{.*}} -> tensor<1x2x3xui8>
// CHECK:         "tri.div"(%[[B]]
// CHECK:         %[[Q:.*]] = "tri.cast"({{.*}} -> tensor<1x1x3xui8>
// CHECK:         %[[Y:.*]] = "tri.concat"(%[[P]], %[[Q]]) {axis = 1 : i64} {{.*}} -> tensor<1x3x3xui8>
// CHECK:         return %[[Y]]
func.func @quantizes_parts(%a: tensor<1x2x3xf32>, %b: tensor<1x1x3xf32>) -> tensor<1x3x3xui8> {
  %s = "tri.constant"() {value = dense<0.1> : tensor<f32>} : () -> tensor<f32>
  %j = "tri.concat"(%a, %b) {axis = 1} : (tensor<1x2x3xf32>, tensor<1x1x3xf32>) -> tensor<1x3x3xf32>
  %d = "tri.div"(%j, %s) : (tensor<1x3x3xf32>, tensor<f32>) -> tensor<1x3x3xf32>
  %r = "tri.round"(%d) : (tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
  %c = "tri.clip"(%r) {min = 0.0, max = 255.0} : (tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
  %y = "tri.cast"(%c) {to = "ui8"} : (tensor<1x3x3xf32>) -> tensor<1x3x3xui8>
  return %y : tensor<1x3x3xui8>
}

// The largest byte stands for the largest number.
// CHECK-LABEL: func.func @pools_bytes
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[P:.*]] = "tri.max_pool"(%[[X]]) {{.*}} -> tensor<1x2x3xi8>
// CHECK:         %[[F:.*]] = "tri.cast"(%[[P]])
// CHECK:         "tri.mul"(%[[F]]
func.func @pools_bytes(%x: tensor<1x2x6xi8>) -> tensor<1x2x3xf32> {
  %s = "tri.constant"() {value = dense<0.1> : tensor<f32>} : () -> tensor<f32>
  %f = "tri.cast"(%x) {to = "f32"} : (tensor<1x2x6xi8>) -> tensor<1x2x6xf32>
  %d = "tri.mul"(%f, %s) : (tensor<1x2x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
  %y = "tri.max_pool"(%d) {ceil_mode = false, dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<1x2x6xf32>) -> tensor<1x2x3xf32>
  return %y : tensor<1x2x3xf32>
}

// What is quantised by the scale by which it was dequantised is as it was.
// CHECK-LABEL: func.func @drops_scales
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         return %[[X]]
func.func @drops_scales(%x: tensor<3xui8>) -> tensor<3xui8> {
  %s = "tri.constant"() {value = dense<0.1> : tensor<f32>} : () -> tensor<f32>
  %z = "tri.constant"() {value = dense<7.0> : tensor<f32>} : () -> tensor<f32>
  %f = "tri.cast"(%x) {to = "f32"} : (tensor<3xui8>) -> tensor<3xf32>
  %n = "tri.sub"(%f, %z) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %d = "tri.mul"(%n, %s) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %q = "tri.div"(%d, %s) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %r = "tri.round"(%q) : (tensor<3xf32>) -> tensor<3xf32>
  %a = "tri.add"(%r, %z) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %c = "tri.clip"(%a) {min = 0.0, max = 255.0} : (tensor<3xf32>) -> tensor<3xf32>
  %y = "tri.cast"(%c) {to = "ui8"} : (tensor<3xf32>) -> tensor<3xui8>
  return %y : tensor<3xui8>
}

// A value that others read as floats, a scale below zero, windows that see only padding, a byte less.
// CHECK-LABEL: func.func @keeps_floats
// CHECK:         "tri.concat"{{.*}} -> tensor<1x3x6xf32>
// CHECK:         "tri.max_pool"{{.*}} -> tensor<1x2x3xf32>
// CHECK:         "tri.max_pool"{{.*}} -> tensor<1x2x9xf32>
// CHECK:         "tri.sub"
// CHECK:         return
func.func @keeps_floats(%a: tensor<1x2x6xf32>, %b: tensor<1x1x6xf32>, %x: tensor<1x2x6xi8>)
    -> (tensor<1x3x6xui8>, tensor<1x3x6xf32>, tensor<1x2x3xf32>, tensor<1x2x9xf32>, tensor<1x2x6xi8>) {
  %s = "tri.constant"() {value = dense<-0.1> : tensor<f32>} : () -> tensor<f32>
  %t = "tri.constant"() {value = dense<0.1> : tensor<f32>} : () -> tensor<f32>
  %o = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %j = "tri.concat"(%a, %b) {axis = 1} : (tensor<1x2x6xf32>, tensor<1x1x6xf32>) -> tensor<1x3x6xf32>
  %c = "tri.clip"(%j) {min = 0.0, max = 255.0} : (tensor<1x3x6xf32>) -> tensor<1x3x6xf32>
  %q = "tri.cast"(%c) {to = "ui8"} : (tensor<1x3x6xf32>) -> tensor<1x3x6xui8>
  %f = "tri.cast"(%x) {to = "f32"} : (tensor<1x2x6xi8>) -> tensor<1x2x6xf32>
  %d = "tri.mul"(%f, %s) : (tensor<1x2x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
  %p = "tri.max_pool"(%d) {ceil_mode = false, dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<1x2x6xf32>) -> tensor<1x2x3xf32>
  %g = "tri.mul"(%f, %t) : (tensor<1x2x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
  %e = "tri.max_pool"(%g) {ceil_mode = false, dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 2, 2>, strides = array<i64: 1>} : (tensor<1x2x6xf32>) -> tensor<1x2x9xf32>
  %m = "tri.sub"(%f, %o) : (tensor<1x2x6xf32>, tensor<f32>) -> tensor<1x2x6xf32>
  %k = "tri.cast"(%m) {saturate = true, to = "i8"} : (tensor<1x2x6xf32>) -> tensor<1x2x6xi8>
  return %q, %j, %p, %e, %k : tensor<1x3x6xui8>, tensor<1x3x6xf32>, tensor<1x2x3xf32>, tensor<1x2x9xf32>, tensor<1x2x6xi8>
}
