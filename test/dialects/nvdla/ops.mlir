// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @convolution
// CHECK:         "nvdla.conv"(%{{.*}}) {pad_value = -3 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
// CHECK:         "nvdla.sdp"({{.*}}x1 = "kind=2 mode=1 precision=1", x2 = "kind=1 mode=1 activation=1 truncate=9 precision=1"
func.func @convolution(%x: tensor<1x8x5x5xi8>, %w: tensor<4x8x3x3xi8>, %b: tensor<4xi16>, %f: tensor<4xi16>) -> tensor<1x4x3x3xi8> {
  %s = "nvdla.conv"(%x, %w) {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, pad_value = -3 : i64} : (tensor<1x8x5x5xi8>, tensor<4x8x3x3xi8>) -> tensor<1x4x3x3xi32>
  %y = "nvdla.sdp"(%s, %b, %f) {x1 = "kind=2 mode=1 precision=1", x2 = "kind=1 mode=1 activation=1 truncate=9 precision=1", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<1x4x3x3xi32>, tensor<4xi16>, tensor<4xi16>) -> tensor<1x4x3x3xi8>
  return %y : tensor<1x4x3x3xi8>
}

// CHECK-LABEL: func.func @others
// CHECK:         "nvdla.pdp"
// CHECK-SAME:      mode = "max"
// CHECK:         "nvdla.cdp"
// CHECK-SAME:      local_size = 5
// CHECK:         "nvdla.copy"
// CHECK:         "nvdla.contract"
// CHECK:         "nvdla.window"
// CHECK-SAME:      start = array<i64: 0, 1, 0>
// CHECK:         "nvdla.join"
// CHECK-SAME:      axis = 2
func.func @others(%x: tensor<1x8x4x4xi8>, %t: tensor<322xi16>, %d: tensor<1x32x4x4xi8>) -> (tensor<1x8x4x4xi8>, tensor<1x3x8x8xi8>, tensor<1x8x4x4xi8>) {
  %p = "nvdla.pdp"(%x) {mode = "max", kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xi8>) -> tensor<1x8x4x4xi8>
  %n = "nvdla.cdp"(%p, %t) {local_size = 5 : i64, table = "linear_end=256 method=1"} : (tensor<1x8x4x4xi8>, tensor<322xi16>) -> tensor<1x8x4x4xi8>
  %c = "nvdla.copy"(%n) : (tensor<1x8x4x4xi8>) -> tensor<1x8x4x4xi8>
  %r = "nvdla.contract"(%d) {channels = 3 : i64, atom = 8 : i64, strides = array<i64: 2, 2>} : (tensor<1x32x4x4xi8>) -> tensor<1x3x8x8xi8>
  %a = "nvdla.window"(%c) {start = array<i64: 0, 1, 0>, sizes = array<i64: 8, 3, 4>} : (tensor<1x8x4x4xi8>) -> tensor<1x8x3x4xi8>
  %b = "nvdla.window"(%c) {start = array<i64: 0, 0, 0>, sizes = array<i64: 8, 1, 4>} : (tensor<1x8x4x4xi8>) -> tensor<1x8x1x4xi8>
  %j = "nvdla.join"(%a, %b) {axis = 2 : i64} : (tensor<1x8x3x4xi8>, tensor<1x8x1x4xi8>) -> tensor<1x8x4x4xi8>
  return %c, %r, %j : tensor<1x8x4x4xi8>, tensor<1x3x8x8xi8>, tensor<1x8x4x4xi8>
}

// CHECK-LABEL: func.func @halves
// CHECK:         "nvdla.conv"({{.*}}) -> tensor<1x4x3x3xf32>
// CHECK:         "nvdla.sdp"({{.*}}) -> tensor<1x4x3x3xf16>
// CHECK:         "nvdla.cdp"({{.*}}) -> tensor<1x4x3x3xf16>
// CHECK:         "nvdla.pdp"({{.*}}) -> tensor<1x4x2x2xf16>
func.func @halves(%x: tensor<1x8x5x5xf16>, %w: tensor<4x8x3x3xf16>, %b: tensor<4xf16>, %t: tensor<322xf16>) -> tensor<1x4x2x2xf16> {
  %s = "nvdla.conv"(%x, %w) {block = 64 : i64} : (tensor<1x8x5x5xf16>, tensor<4x8x3x3xf16>) -> tensor<1x4x3x3xf32>
  %y = "nvdla.sdp"(%s, %b) {x1 = "kind=2 mode=1 activation=1 precision=2", operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>} : (tensor<1x4x3x3xf32>, tensor<4xf16>) -> tensor<1x4x3x3xf16>
  %n = "nvdla.cdp"(%y, %t) {local_size = 5 : i64, table = "linear_end=256"} : (tensor<1x4x3x3xf16>, tensor<322xf16>) -> tensor<1x4x3x3xf16>
  %p = "nvdla.pdp"(%n) {mode = "average", kernel = array<i64: 2, 2>} : (tensor<1x4x3x3xf16>) -> tensor<1x4x2x2xf16>
  return %p : tensor<1x4x2x2xf16>
}

// CHECK-LABEL: func.func @winograd
// CHECK:         "nvdla.conv"({{.*}}) {pads = array<i64: 1, 1, 3, 2>, winograd = true} : (tensor<1x8x4x5xf16>, tensor<4x8x4x4xf16>) -> tensor<1x4x4x4xf32>
func.func @winograd(%x: tensor<1x8x4x5xf16>, %w: tensor<4x8x4x4xf16>) -> tensor<1x4x4x4xf16> {
  %s = "nvdla.conv"(%x, %w) {pads = array<i64: 1, 1, 3, 2>, winograd = true} : (tensor<1x8x4x5xf16>, tensor<4x8x4x4xf16>) -> tensor<1x4x4x4xf32>
  %y = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf16>
  return %y : tensor<1x4x4x4xf16>
}

// CHECK-LABEL: func.func @emulated
// CHECK:         "nvdla.softmax"(%{{.*}}) : (tensor<2x5x1x1xf16>) -> tensor<2x5x1x1xf16>
func.func @emulated(%x: tensor<2x5x1x1xf16>) -> tensor<2x5x1x1xf16> {
  %y = "nvdla.softmax"(%x) : (tensor<2x5x1x1xf16>) -> tensor<2x5x1x1xf16>
  return %y : tensor<2x5x1x1xf16>
}

// CHECK-LABEL: func.func @powers
// CHECK:         "nvdla.power"(%{{.*}}) {power = -5.000000e-01 : f64, shift = 2.000000e+00 : f64}
func.func @powers(%x: tensor<2x5x3x1xf16>) -> tensor<2x5x3x1xf16> {
  %y = "nvdla.power"(%x) {power = -0.5 : f64, shift = 2.0 : f64} : (tensor<2x5x3x1xf16>) -> tensor<2x5x3x1xf16>
  return %y : tensor<2x5x3x1xf16>
}
