// RUN: trivium-opt %s --select-nvdla=target=nv_full | FileCheck %s

// Each of the four phases has one tap; the kernels fill atoms of 32, and RUBIK takes 2 of them.
// CHECK-LABEL: func.func @phases
// CHECK-COUNT-4: "nvdla.conv"
// CHECK:         %[[J:.*]] = "nvdla.join"({{.*}}) {axis = 1 : i64} {{.*}} -> tensor<1x128x4x4xi8>
// CHECK:         "nvdla.contract"(%[[J]]) {atom = 32 : i64, channels = 2 : i64, strides = array<i64: 2, 2>} {{.*}} -> tensor<1x2x8x8xi8>
func.func @phases(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x8x8xi8> {
  %w = "tri.constant"() {value = dense<1> : tensor<2x2x2x2xi32>} : () -> tensor<2x2x2x2xi32>
  %c = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi32>
  %s = "tri.conv_transpose"(%c, %w) {operandSegmentSizes = array<i32: 1, 1, 0>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x2x4x4xi32>, tensor<2x2x2x2xi32>) -> tensor<1x2x8x8xi32>
  %y = "tri.requantize"(%s) {multiplier = array<i64: 100>, shift = array<i64: 8>, zero_point = 0 : i64, low = -128 : i64, high = 127 : i64, axis = 1 : i64, to = "i8"} : (tensor<1x2x8x8xi32>) -> tensor<1x2x8x8xi8>
  return %y : tensor<1x2x8x8xi8>
}
