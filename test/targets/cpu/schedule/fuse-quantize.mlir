// RUN: trivium-opt %s --fuse-quantize | FileCheck %s

// Rounding, the zero point, limits and narrowing are one op.
// CHECK-LABEL: func.func @fuses_steps
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[Y:.*]] = "cpu.quantize"(%[[X]]) {high = 255 : i64, low = 0 : i64, to = "ui8", zero = 7 : i64}
// CHECK:         return %[[Y]]
func.func @fuses_steps(%x: tensor<5xf32>) -> tensor<5xui8> {
  %z = "tri.constant"() {value = dense<7.0> : tensor<f32>} : () -> tensor<f32>
  %r = "tri.round"(%x) : (tensor<5xf32>) -> tensor<5xf32>
  %a = "tri.add"(%r, %z) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  %c = "tri.clip"(%a) {min = 0.0, max = 255.0} : (tensor<5xf32>) -> tensor<5xf32>
  %y = "tri.cast"(%c) {to = "ui8"} : (tensor<5xf32>) -> tensor<5xui8>
  return %y : tensor<5xui8>
}

// Sums of products are finite, and what is dequantised at once was never a byte.
// CHECK-LABEL: func.func @skips_bytes
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[R:.*]]: {{.*}})
// CHECK:         %[[M:.*]] = "tri.mul"
// CHECK:         %[[C:.*]] = "tri.clip"(%[[M]]) {max = 1.240000e+02 : f64, min = -1.310000e+02 : f64}
// CHECK-NOT:     i8
// CHECK:         "tri.round"(%[[C]])
// CHECK-NOT:     tri.sub
// CHECK:         return
func.func @skips_bytes(%x: tensor<5xi32>, %r: tensor<5xf32>) -> tensor<5xf32> {
  %s = "tri.constant"() {value = dense<0.1> : tensor<f32>} : () -> tensor<f32>
  %z = "tri.constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %i = "tri.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %f = "tri.cast"(%x) {to = "f32"} : (tensor<5xi32>) -> tensor<5xf32>
  %m = "tri.mul"(%f, %s) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  %o = "tri.round"(%m) : (tensor<5xf32>) -> tensor<5xf32>
  %a = "tri.add"(%o, %z) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  %c = "tri.clip"(%a) {min = -128.0, max = 127.0} : (tensor<5xf32>) -> tensor<5xf32>
  %b = "tri.cast"(%c) {to = "i8"} : (tensor<5xf32>) -> tensor<5xi8>
  %w = "tri.cast"(%b) {to = "i32"} : (tensor<5xi8>) -> tensor<5xi32>
  %d = "tri.sub"(%w, %i) : (tensor<5xi32>, tensor<i32>) -> tensor<5xi32>
  %g = "tri.cast"(%d) {to = "f32"} : (tensor<5xi32>) -> tensor<5xf32>
  %n = "tri.mul"(%g, %s) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  %y = "tri.add"(%n, %r) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// NaN becomes the byte 0, which is not the lowest; limits are fractions, or no bytes; others read floats.
// CHECK-LABEL: func.func @keeps_steps
// CHECK-NOT:     cpu.quantize
// CHECK:         return
func.func @keeps_steps(%x: tensor<5xf32>) -> (tensor<5xi8>, tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<5xf32>) {
  %r = "tri.round"(%x) : (tensor<5xf32>) -> tensor<5xf32>
  %a = "tri.clip"(%r) {min = -128.0, max = 127.0} : (tensor<5xf32>) -> tensor<5xf32>
  %0 = "tri.cast"(%a) {to = "i8"} : (tensor<5xf32>) -> tensor<5xi8>
  %s = "tri.round"(%x) : (tensor<5xf32>) -> tensor<5xf32>
  %b = "tri.clip"(%s) {min = 0.0, max = 6.5} : (tensor<5xf32>) -> tensor<5xf32>
  %1 = "tri.cast"(%b) {to = "ui8"} : (tensor<5xf32>) -> tensor<5xui8>
  %t = "tri.round"(%x) : (tensor<5xf32>) -> tensor<5xf32>
  %c = "tri.clip"(%t) {min = 0.0, max = 256.0} : (tensor<5xf32>) -> tensor<5xf32>
  %2 = "tri.cast"(%c) {to = "ui8"} : (tensor<5xf32>) -> tensor<5xui8>
  %u = "tri.round"(%x) : (tensor<5xf32>) -> tensor<5xf32>
  %d = "tri.clip"(%u) {min = 0.0, max = 255.0} : (tensor<5xf32>) -> tensor<5xf32>
  %3 = "tri.cast"(%d) {to = "ui8"} : (tensor<5xf32>) -> tensor<5xui8>
  return %0, %1, %2, %3, %d : tensor<5xi8>, tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<5xf32>
}

// What may be NaN is a byte in between, and zeros that others than sums see have no sign.
// CHECK-LABEL: func.func @keeps_bytes
// CHECK:         "cpu.quantize"
// CHECK:         "cpu.quantize"
// CHECK:         return
func.func @keeps_bytes(%x: tensor<5xf32>, %i: tensor<5xi32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %r = "tri.round"(%x) : (tensor<5xf32>) -> tensor<5xf32>
  %c = "tri.clip"(%r) {min = 0.0, max = 255.0} : (tensor<5xf32>) -> tensor<5xf32>
  %b = "tri.cast"(%c) {to = "ui8"} : (tensor<5xf32>) -> tensor<5xui8>
  %f = "tri.cast"(%b) {to = "f32"} : (tensor<5xui8>) -> tensor<5xf32>
  %m = "tri.mul"(%f, %f) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %y = "tri.add"(%m, %x) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %g = "tri.cast"(%i) {to = "f32"} : (tensor<5xi32>) -> tensor<5xf32>
  %s = "tri.round"(%g) : (tensor<5xf32>) -> tensor<5xf32>
  %d = "tri.clip"(%s) {min = 0.0, max = 255.0} : (tensor<5xf32>) -> tensor<5xf32>
  %e = "tri.cast"(%d) {to = "ui8"} : (tensor<5xf32>) -> tensor<5xui8>
  %z = "tri.cast"(%e) {to = "f32"} : (tensor<5xui8>) -> tensor<5xf32>
  return %y, %z : tensor<5xf32>, tensor<5xf32>
}
