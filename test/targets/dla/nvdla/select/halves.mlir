// RUN: trivium-opt %s '--select-nvdla=target=nv_full of=f16' | FileCheck %s
// RUN: trivium-opt %s '--select-nvdla=target=nv_small of=f16' | FileCheck %s --check-prefix=SMALL

// The bias, the other image and the activation are stages of the operation that ends the sums.
// 3.0 is 16896 as bits.
// CHECK-LABEL: func.func @convolution
// CHECK:         %[[S:.*]] = "nvdla.conv"
// CHECK:         "nvdla.sdp"(%[[S]], %{{.*}}, %{{.*}}) {{{.*}}x1 = "kind=2 mode=1 precision=2", x2 = "kind=2 mode=2 activation=1 precision=2"
// CHECK:         "nvdla.sdp"(%{{.*}}) {{{.*}}x1 = "alu=1 kind=2 precision=2 alu_operand=16896"
// CHECK-NOT:     tri.add
// CHECK:         return
// SMALL-LABEL: func.func @convolution
// SMALL-NOT:     nvdla.
func.func @convolution(%x: tensor<1x2x4x4xf16>, %a: tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<2x2x1x1xf16>} : () -> tensor<2x2x1x1xf16>
  %b = "tri.constant"() {value = dense<5.0> : tensor<2xf16>} : () -> tensor<2xf16>
  %s = "tri.conv"(%x, %w, %b) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf16>, tensor<2x2x1x1xf16>, tensor<2xf16>) -> tensor<1x2x4x4xf16>
  %t = "tri.add"(%s, %a) : (tensor<1x2x4x4xf16>, tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16>
  %y = "tri.clip"(%t) {min = 0.0 : f64, max = 3.0 : f64} : (tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16>
  return %y : tensor<1x2x4x4xf16>
}

// What two ops read is computed once, as it is.
// CHECK-LABEL: func.func @read_twice
// CHECK:         %[[S:.*]] = "nvdla.sdp"(%{{.*}}) {{{.*}}x1 = "activation=1"
// CHECK:         %[[T:.*]] = "nvdla.sdp"(%[[S]], %[[S]]) {{{.*}}x1 = "kind=1 mode=2 precision=2"
func.func @read_twice(%x: tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16> {
  %a = "tri.relu"(%x) : (tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16>
  %y = "tri.mul"(%a, %a) : (tensor<1x2x4x4xf16>, tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16>
  return %y : tensor<1x2x4x4xf16>
}

// CHECK-LABEL: func.func @keeps_floats_of_32_bits
// CHECK:         tri.relu
func.func @keeps_floats_of_32_bits(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %y = "tri.relu"(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: func.func @keeps_sums_with_pixels
// CHECK:         tri.add
func.func @keeps_sums_with_pixels(%x: tensor<1x2x4x4xf16>, %a: tensor<1x1x4x4xf16>) -> tensor<1x2x4x4xf16> {
  %y = "tri.add"(%x, %a) : (tensor<1x2x4x4xf16>, tensor<1x1x4x4xf16>) -> tensor<1x2x4x4xf16>
  return %y : tensor<1x2x4x4xf16>
}
