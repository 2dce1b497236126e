// RUN: trivium-opt %s --multiply-bytes | FileCheck %s

// The zero point goes behind the product: 3 * (1 + 2) and 3 * (-4 + 5) are subtracted.
// CHECK-LABEL: func.func @subtracts_zero_points_behind
// CHECK-SAME:    (%[[X:.*]]: tensor<5x2xi8>)
// CHECK:         %[[A:.*]] = "tri.cast"(%[[X]]) {saturate = true, to = "i32"}
// CHECK:         %[[W:.*]] = "tri.constant"() {value = dense<{{\[\[}}1, -4], [2, 5]]> : tensor<2x2xi8>}
// CHECK:         %[[B:.*]] = "tri.cast"(%[[W]])
// CHECK:         %[[Y:.*]] = "tri.mat_mul"(%[[A]], %[[B]])
// CHECK:         %[[S:.*]] = "tri.constant"() {value = dense<[9, 3]> : tensor<2xi32>}
// CHECK:         %[[R:.*]] = "tri.sub"(%[[Y]], %[[S]])
// CHECK:         return %[[R]]
func.func @subtracts_zero_points_behind(%x: tensor<5x2xi8>) -> tensor<5x2xi32> {
  %z = "tri.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %w = "tri.constant"() {value = dense<[[1, -4], [2, 5]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %c = "tri.cast"(%x) {to = "i32"} : (tensor<5x2xi8>) -> tensor<5x2xi32>
  %d = "tri.sub"(%c, %z) : (tensor<5x2xi32>, tensor<i32>) -> tensor<5x2xi32>
  %y = "tri.mat_mul"(%d, %w) : (tensor<5x2xi32>, tensor<2x2xi32>) -> tensor<5x2xi32>
  return %y : tensor<5x2xi32>
}

// Unsigned bytes become signed ones; with a zero point of 128 nothing is left to subtract.
// CHECK-LABEL: func.func @makes_bytes_signed
// CHECK:         "tri.cast"(%{{.*}}) {{.*}} -> tensor<5x2xi8>
// CHECK:         %[[Y:.*]] = "tri.mat_mul"
// CHECK-NEXT:    return %[[Y]]
func.func @makes_bytes_signed(%x: tensor<5x2xui8>) -> tensor<5x2xi32> {
  %z = "tri.constant"() {value = dense<128> : tensor<i32>} : () -> tensor<i32>
  %w = "tri.constant"() {value = dense<[[1, -4], [2, 5]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %c = "tri.cast"(%x) {to = "i32"} : (tensor<5x2xui8>) -> tensor<5x2xi32>
  %d = "tri.sub"(%c, %z) : (tensor<5x2xi32>, tensor<i32>) -> tensor<5x2xi32>
  %y = "tri.mat_mul"(%d, %w) : (tensor<5x2xi32>, tensor<2x2xi32>) -> tensor<5x2xi32>
  return %y : tensor<5x2xi32>
}

// An image is padded with its zero point, before it is convolved.
// CHECK-LABEL: func.func @pads_with_zero_points
// CHECK:         "tri.pad"(%{{.*}}) {mode = "constant", pads = array<i64: 0, 0, 1, 0, 0, 1>, value = 3.0{{.*}}} : (tensor<1x1x4xi8>)
// CHECK:         "tri.conv"{{.*}} pads = array<i64: 0, 0>
// CHECK:         "tri.sub"
func.func @pads_with_zero_points(%x: tensor<1x1x4xi8>) -> tensor<1x1x4xi32> {
  %z = "tri.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %w = "tri.constant"() {value = dense<[[[1, 2, 3]]]> : tensor<1x1x3xi32>} : () -> tensor<1x1x3xi32>
  %c = "tri.cast"(%x) {to = "i32"} : (tensor<1x1x4xi8>) -> tensor<1x1x4xi32>
  %d = "tri.sub"(%c, %z) : (tensor<1x1x4xi32>, tensor<i32>) -> tensor<1x1x4xi32>
  %y = "tri.conv"(%d, %w) {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>} : (tensor<1x1x4xi32>, tensor<1x1x3xi32>) -> tensor<1x1x4xi32>
  return %y : tensor<1x1x4xi32>
}

// 128 is no signed byte.
// CHECK-LABEL: func.func @keeps_weights_that_are_no_bytes
// CHECK:         "tri.mat_mul"{{.*}} : (tensor<5x2xi32>, tensor<2x1xi32>)
// CHECK-NEXT:    return
func.func @keeps_weights_that_are_no_bytes(%x: tensor<5x2xi8>) -> tensor<5x1xi32> {
  %w = "tri.constant"() {value = dense<[[1], [128]]> : tensor<2x1xi32>} : () -> tensor<2x1xi32>
  %c = "tri.cast"(%x) {to = "i32"} : (tensor<5x2xi8>) -> tensor<5x2xi32>
  %y = "tri.mat_mul"(%c, %w) : (tensor<5x2xi32>, tensor<2x1xi32>) -> tensor<5x1xi32>
  return %y : tensor<5x1xi32>
}

// Halves of words are not bytes.
// CHECK-LABEL: func.func @keeps_what_was_no_byte
// CHECK-NOT:     i8
// CHECK:         return
func.func @keeps_what_was_no_byte(%x: tensor<5x2xi16>) -> tensor<5x1xi32> {
  %w = "tri.constant"() {value = dense<[[1], [2]]> : tensor<2x1xi32>} : () -> tensor<2x1xi32>
  %c = "tri.cast"(%x) {to = "i32"} : (tensor<5x2xi16>) -> tensor<5x2xi32>
  %y = "tri.mat_mul"(%c, %w) : (tensor<5x2xi32>, tensor<2x1xi32>) -> tensor<5x1xi32>
  return %y : tensor<5x1xi32>
}

// Each channel has its own kernel: no matrix unit sums over channels.
// CHECK-LABEL: func.func @keeps_depthwise
// CHECK:         "tri.sub"
// CHECK:         "tri.conv"
// CHECK-NOT:     "tri.sub"
func.func @keeps_depthwise(%x: tensor<1x2x5xi8>) -> tensor<1x2x5xi32> {
  %z = "tri.constant"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
  %w = "tri.constant"() {value = dense<[[[1]], [[3]]]> : tensor<2x1x1xi32>} : () -> tensor<2x1x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x5xi8>) -> tensor<1x2x5xi32>
  %s = "tri.sub"(%a, %z) : (tensor<1x2x5xi32>, tensor<i32>) -> tensor<1x2x5xi32>
  %y = "tri.conv"(%s, %w) {dilations = array<i64: 1>, group = 2, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x5xi32>, tensor<2x1x1xi32>) -> tensor<1x2x5xi32>
  return %y : tensor<1x2x5xi32>
}
