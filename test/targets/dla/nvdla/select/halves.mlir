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

// A value for each channel is an operand as it is; of one for each pixel, all channels are made first.
// CHECK-LABEL: func.func @sums_with_fewer_values
// CHECK:         %[[S:.*]] = "nvdla.sdp"(%{{.*}}, %{{.*}}) {{{.*}}x1 = "kind=2 mode=1 precision=2"
// CHECK:         %[[C:.*]] = "nvdla.conv"({{.*}} : (tensor<1x1x4x4xf16>, tensor<2x1x1x1xf16>) -> tensor<1x2x4x4xf32>
// CHECK:         %[[T:.*]] = "nvdla.sdp"(%[[C]])
// CHECK:         "nvdla.sdp"(%{{.*}}, %[[T]]) {{{.*}}mode=2 precision=2"
// CHECK-NOT:     tri.add
// CHECK:         return
func.func @sums_with_fewer_values(%x: tensor<1x2x4x4xf16>, %p: tensor<1x2x1x1xf16>, %a: tensor<1x1x4x4xf16>) -> (tensor<1x2x4x4xf16>, tensor<1x2x4x4xf16>) {
  %y = "tri.add"(%x, %p) : (tensor<1x2x4x4xf16>, tensor<1x2x1x1xf16>) -> tensor<1x2x4x4xf16>
  %z = "tri.add"(%a, %y) : (tensor<1x1x4x4xf16>, tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16>
  return %y, %z : tensor<1x2x4x4xf16>, tensor<1x2x4x4xf16>
}

// -1.0 is 48128 as bits: an image is taken away by adding its negative.
// CHECK-LABEL: func.func @differences
// CHECK:         "nvdla.sdp"(%{{.*}}, %{{.*}}) {{{.*}}x1 = "kind=1 precision=2 mul_operand=48128", x2 = "kind=2 mode=2 precision=2"
func.func @differences(%x: tensor<1x2x4x4xf16>, %a: tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16> {
  %y = "tri.sub"(%x, %a) : (tensor<1x2x4x4xf16>, tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16>
  return %y : tensor<1x2x4x4xf16>
}

// CHECK-LABEL: func.func @keeps_sums_with_rows
// CHECK:         tri.add
func.func @keeps_sums_with_rows(%x: tensor<1x2x4x4xf16>, %a: tensor<1x2x1x4xf16>) -> tensor<1x2x4x4xf16> {
  %y = "tri.add"(%x, %a) : (tensor<1x2x4x4xf16>, tensor<1x2x1x4xf16>) -> tensor<1x2x4x4xf16>
  return %y : tensor<1x2x4x4xf16>
}

// CHECK-LABEL: func.func @keeps_quotients_of_images
// CHECK:         tri.div
func.func @keeps_quotients_of_images(%x: tensor<1x2x4x4xf16>, %a: tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16> {
  %y = "tri.div"(%x, %a) : (tensor<1x2x4x4xf16>, tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16>
  return %y : tensor<1x2x4x4xf16>
}

// Atoms of f16 have 16 channels.
// CHECK-LABEL: func.func @transposed
// CHECK-COUNT-4: "nvdla.conv"
// CHECK:         "nvdla.contract"(%{{.*}}) {atom = 16 : i64, channels = 2 : i64, strides = array<i64: 2, 2>} : (tensor<1x64x4x4xf16>) -> tensor<1x2x8x8xf16>
// SMALL-LABEL: func.func @transposed
// SMALL:         tri.conv_transpose
func.func @transposed(%x: tensor<1x2x4x4xf16>) -> tensor<1x2x8x8xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<2x2x2x2xf16>} : () -> tensor<2x2x2x2xf16>
  %y = "tri.conv_transpose"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x2x4x4xf16>, tensor<2x2x2x2xf16>) -> tensor<1x2x8x8xf16>
  return %y : tensor<1x2x8x8xf16>
}
