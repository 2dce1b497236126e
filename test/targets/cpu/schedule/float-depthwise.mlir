// RUN: trivium-opt %s --float-depthwise --eliminate | FileCheck %s

// CHECK-LABEL: func.func @convolves_floats
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[W:.*]] = "tri.constant"() {{.*}} tensor<2x1x3xf32>
// CHECK:         %[[F:.*]] = "tri.cast"({{.*}}) {{.*}}to = "f32"
// CHECK:         %[[Y:.*]] = "tri.conv"(%[[F]], %[[W]]) {{.*}}group = 2
// CHECK:         return %[[Y]]
func.func @convolves_floats(%x: tensor<1x2x5xui8>) -> tensor<1x2x3xf32> {
  %z = "tri.constant"() {value = dense<128> : tensor<i32>} : () -> tensor<i32>
  %w = "tri.constant"() {value = dense<[[[1, -2, 3]], [[4, 5, 6]]]> : tensor<2x1x3xi32>} : () -> tensor<2x1x3xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x5xui8>) -> tensor<1x2x5xi32>
  %s = "tri.sub"(%a, %z) : (tensor<1x2x5xi32>, tensor<i32>) -> tensor<1x2x5xi32>
  %c = "tri.conv"(%s, %w) {dilations = array<i64: 1>, group = 2, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x5xi32>, tensor<2x1x3xi32>) -> tensor<1x2x3xi32>
  %y = "tri.cast"(%c) {to = "f32"} : (tensor<1x2x3xi32>) -> tensor<1x2x3xf32>
  return %y : tensor<1x2x3xf32>
}

// 256 * 65536 * 2 are more than 2^24: f32 would round the sum.
// CHECK-LABEL: func.func @keeps_large_sums
// CHECK:         "tri.conv"({{.*}} : (tensor<1x2x5xi32>
func.func @keeps_large_sums(%x: tensor<1x2x5xui8>) -> tensor<1x2x4xf32> {
  %w = "tri.constant"() {value = dense<[[[1, 65536]], [[4, 5]]]> : tensor<2x1x2xi32>} : () -> tensor<2x1x2xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x5xui8>) -> tensor<1x2x5xi32>
  %c = "tri.conv"(%a, %w) {dilations = array<i64: 1>, group = 2, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x5xi32>, tensor<2x1x2xi32>) -> tensor<1x2x4xi32>
  %y = "tri.cast"(%c) {to = "f32"} : (tensor<1x2x4xi32>) -> tensor<1x2x4xf32>
  return %y : tensor<1x2x4xf32>
}

// Nothing is known of the integers.
// CHECK-LABEL: func.func @keeps_unknown_integers
// CHECK:         "tri.conv"({{.*}} : (tensor<1x2x5xi32>
func.func @keeps_unknown_integers(%x: tensor<1x2x5xi32>) -> tensor<1x2x5xf32> {
  %w = "tri.constant"() {value = dense<[[[1]], [[4]]]> : tensor<2x1x1xi32>} : () -> tensor<2x1x1xi32>
  %c = "tri.conv"(%x, %w) {dilations = array<i64: 1>, group = 2, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x5xi32>, tensor<2x1x1xi32>) -> tensor<1x2x5xi32>
  %y = "tri.cast"(%c) {to = "f32"} : (tensor<1x2x5xi32>) -> tensor<1x2x5xf32>
  return %y : tensor<1x2x5xf32>
}

// Sums over channels are products of matrices, of which i32 are as fast.
// CHECK-LABEL: func.func @keeps_sums_over_channels
// CHECK:         "tri.conv"({{.*}} : (tensor<1x2x5xi32>
func.func @keeps_sums_over_channels(%x: tensor<1x2x5xui8>) -> tensor<1x2x5xf32> {
  %w = "tri.constant"() {value = dense<1> : tensor<2x2x1xi32>} : () -> tensor<2x2x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x5xui8>) -> tensor<1x2x5xi32>
  %c = "tri.conv"(%a, %w) {dilations = array<i64: 1>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x5xi32>, tensor<2x2x1xi32>) -> tensor<1x2x5xi32>
  %y = "tri.cast"(%c) {to = "f32"} : (tensor<1x2x5xi32>) -> tensor<1x2x5xf32>
  return %y : tensor<1x2x5xf32>
}
