// RUN: trivium-opt %s --select-nvdla=target=nv_small | FileCheck %s

// The zero point of the input is the value of pads, and a part of the biases: 5 - 3 * (1 + 2) = -4.
// The factors 100 / 2^8 and 100 / 2^9 have one shift: 100 and 50 of 2^8.
// CHECK-LABEL: func.func @convolution
// CHECK-DAG:     %[[W:.*]] = "tri.constant"() {value = dense<{{\[\[\[\[}}1]], {{\[\[}}2]]], {{\[\[\[}}1]], {{\[\[}}2]]]]> : tensor<2x2x1x1xi8>}
// CHECK:         %[[S:.*]] = "nvdla.conv"(%{{.*}}, %[[W]]) {{.*}}pad_value = 3 : i64
// CHECK-DAG:     %[[B:.*]] = "tri.constant"() {value = dense<-4> : tensor<2xi16>}
// CHECK-DAG:     %[[F:.*]] = "tri.constant"() {value = dense<[100, 50]> : tensor<2xi16>}
// CHECK:         "nvdla.sdp"(%[[S]], %[[B]], %[[F]]) {offset = 128 : i64,{{.*}}x1 = "kind=2 mode=1 precision=1", x2 = "kind=1 mode=1 activation=1 truncate=8 precision=1", y = ""}
func.func @convolution(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %w = "tri.constant"() {value = dense<[[[[1]], [[2]]], [[[1]], [[2]]]]> : tensor<2x2x1x1xi32>} : () -> tensor<2x2x1x1xi32>
  %b = "tri.constant"() {value = dense<5> : tensor<2xi32>} : () -> tensor<2xi32>
  %z = "tri.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %c = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi32>
  %d = "tri.sub"(%c, %z) : (tensor<1x2x4x4xi32>, tensor<i32>) -> tensor<1x2x4x4xi32>
  %s = "tri.conv"(%d, %w, %b) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xi32>, tensor<2x2x1x1xi32>, tensor<2xi32>) -> tensor<1x2x4x4xi32>
  %y = "tri.requantize"(%s) {multiplier = array<i64: 100, 100>, shift = array<i64: 8, 9>, zero_point = -128 : i64, low = -128 : i64, high = 127 : i64, axis = 1 : i64, to = "i8"} : (tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi8>
  return %y : tensor<1x2x4x4xi8>
}

// CHECK-LABEL: func.func @pool
// CHECK:         "nvdla.pdp"(%{{.*}}) {kernel = array<i64: 3, 3>, mode = "max", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
func.func @pool(%x: tensor<1x8x5x5xi8>) -> tensor<1x8x3x3xi8> {
  %y = "tri.max_pool"(%x) {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x8x5x5xi8>) -> tensor<1x8x3x3xi8>
  return %y : tensor<1x8x3x3xi8>
}

// Channels of nv_small are joined in atoms of 8.
// CHECK-LABEL: func.func @join
// CHECK:         "nvdla.join"(%{{.*}}, %{{.*}}) {axis = 1 : i64}
func.func @join(%x: tensor<1x8x4x4xi8>, %z: tensor<1x3x4x4xi8>) -> tensor<1x11x4x4xi8> {
  %y = "tri.concat"(%x, %z) {axis = 1 : i64} : (tensor<1x8x4x4xi8>, tensor<1x3x4x4xi8>) -> tensor<1x11x4x4xi8>
  return %y : tensor<1x11x4x4xi8>
}

// Within atoms, channels are moved: 3 to a whole atom, and then 11 of 16 to where they belong.
// CHECK-LABEL: func.func @joins_within_atoms
// CHECK:         %[[C:.*]] = "nvdla.conv"(%{{.*}}) {{.*}}-> tensor<1x8x4x4xi32>
// CHECK-NEXT:    %[[W:.*]] = "nvdla.sdp"(%[[C]])
// CHECK:         %[[J:.*]] = "nvdla.join"(%[[W]], %{{.*}}) {axis = 1 : i64} {{.*}}-> tensor<1x16x4x4xi8>
// CHECK:         "nvdla.conv"(%[[J]], %{{.*}}) {{.*}}-> tensor<1x11x4x4xi32>
func.func @joins_within_atoms(%x: tensor<1x3x4x4xi8>, %z: tensor<1x8x4x4xi8>) -> tensor<1x11x4x4xi8> {
  %y = "tri.concat"(%x, %z) {axis = 1 : i64} : (tensor<1x3x4x4xi8>, tensor<1x8x4x4xi8>) -> tensor<1x11x4x4xi8>
  return %y : tensor<1x11x4x4xi8>
}

// CHECK-LABEL: func.func @keeps_joins_of_columns
// CHECK:         "tri.concat"
func.func @keeps_joins_of_columns(%x: tensor<1x8x4x3xi8>, %z: tensor<1x8x4x4xi8>) -> tensor<1x8x4x7xi8> {
  %y = "tri.concat"(%x, %z) {axis = 3 : i64} : (tensor<1x8x4x3xi8>, tensor<1x8x4x4xi8>) -> tensor<1x8x4x7xi8>
  return %y : tensor<1x8x4x7xi8>
}

// Windows have 1 and 2 pixels: a sum is multiplied by 2 or by 1, and then by a half.
// CHECK-LABEL: func.func @counted_average
// CHECK:         %[[S:.*]] = "nvdla.conv"(%{{.*}}) {{.*}}pads = array<i64: 0, 1, 0, 0>
// CHECK:         %[[N:.*]] = "tri.constant"() {value = dense<{{\[\[\[\[}}2, 1]]]]> : tensor<1x1x1x2xi8>}
// CHECK:         "nvdla.sdp"(%[[S]], %{{.*}}, %[[N]]) {{.*}}x2 = "kind=1 mode=2"
func.func @counted_average(%x: tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xi8> {
  %w = "tri.constant"() {value = dense<1> : tensor<1x1x1x2xi32>} : () -> tensor<1x1x1x2xi32>
  %n = "tri.constant"() {value = dense<[1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %c = "tri.cast"(%x) {to = "i32"} : (tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xi32>
  %s = "tri.conv"(%c, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x1x1x2xi32>, tensor<1x1x1x2xi32>) -> tensor<1x1x1x2xi32>
  %y = "tri.requantize_mean"(%s, %n) {multiplier = 1 : i64, shift = 0 : i64, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<1x1x1x2xi32>, tensor<2xi32>) -> tensor<1x1x1x2xi8>
  return %y : tensor<1x1x1x2xi8>
}

// nv_small has no tables.
// CHECK-LABEL: func.func @keeps_lookups
// CHECK:         "tri.gather"
func.func @keeps_lookups(%x: tensor<1x8x4x4xi8>) -> tensor<1x8x4x4xi8> {
  %t = "tri.constant"() {value = dense<1> : tensor<256xi8>} : () -> tensor<256xi8>
  %y = "tri.gather"(%t, %x) {axis = 0 : i64} : (tensor<256xi8>, tensor<1x8x4x4xi8>) -> tensor<1x8x4x4xi8>
  return %y : tensor<1x8x4x4xi8>
}

// CHECK-LABEL: func.func @keeps_large_windows
// CHECK:         "tri.max_pool"
func.func @keeps_large_windows(%x: tensor<1x8x9x9xi8>) -> tensor<1x8x1x1xi8> {
  %y = "tri.max_pool"(%x) {kernel = array<i64: 9, 9>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x9x9xi8>) -> tensor<1x8x1x1xi8>
  return %y : tensor<1x8x1x1xi8>
}

// CHECK-LABEL: func.func @keeps_transposed_convolutions_without_rubik
// CHECK:         "tri.conv_transpose"
func.func @keeps_transposed_convolutions_without_rubik(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x8x8xi8> {
  %w = "tri.constant"() {value = dense<1> : tensor<2x2x2x2xi32>} : () -> tensor<2x2x2x2xi32>
  %c = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi32>
  %s = "tri.conv_transpose"(%c, %w) {operandSegmentSizes = array<i32: 1, 1, 0>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, output_padding = array<i64: 0, 0>} : (tensor<1x2x4x4xi32>, tensor<2x2x2x2xi32>) -> tensor<1x2x8x8xi32>
  %y = "tri.requantize"(%s) {multiplier = array<i64: 100>, shift = array<i64: 8>, zero_point = 0 : i64, low = -128 : i64, high = 127 : i64, axis = 1 : i64, to = "i8"} : (tensor<1x2x8x8xi32>) -> tensor<1x2x8x8xi8>
  return %y : tensor<1x2x8x8xi8>
}
