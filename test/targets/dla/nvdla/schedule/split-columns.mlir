// RUN: trivium-opt %s --split-input-file --split-rows=target=nv_small | FileCheck %s

// A row of 120 pixels of 1024 channels has 30 banks; the weights of 8 kernels have 6. Halves fit.
// CHECK-LABEL: func.func @splits_columns
// CHECK:           "nvdla.window"(%{{.*}}) {sizes = array<i64: 1024, 1, 61>, start = array<i64: 0, 0, 0>}
// CHECK-NEXT:      "nvdla.conv"{{.*}}pads = array<i64: 0, 1, 0, 0>
// CHECK:           "nvdla.window"(%{{.*}}) {sizes = array<i64: 1024, 1, 61>, start = array<i64: 0, 0, 59>}
// CHECK-NEXT:      "nvdla.conv"{{.*}}pads = array<i64: 0, 0, 0, 1>
// CHECK-NEXT:      "nvdla.sdp"
// CHECK-NEXT:      "nvdla.join"({{.*}}) {axis = 3 : i64}
func.func @splits_columns(%x: tensor<1x1024x1x120xi8>, %w: tensor<8x1024x1x3xi8>) -> tensor<1x8x1x120xi8> {
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x1024x1x120xi8>, %v: tensor<8x1024x1x3xi8>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 0, 1, 0, 1>} : (tensor<1x1024x1x120xi8>, tensor<8x1024x1x3xi8>) -> tensor<1x8x1x120xi32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x8x1x120xi32>) -> tensor<1x8x1x120xi8>
    "tri.yield"(%r) : (tensor<1x8x1x120xi8>) -> ()
  }) {target = "nvdla"} : (tensor<1x1024x1x120xi8>, tensor<8x1024x1x3xi8>) -> tensor<1x8x1x120xi8>
  return %y : tensor<1x8x1x120xi8>
}

// -----

// CHECK-LABEL: func.func @keeps_short_rows
// CHECK-NOT:     "nvdla.window"
func.func @keeps_short_rows(%x: tensor<1x8x3x8xi8>, %w: tensor<8x8x3x1xi8>) -> tensor<1x8x3x8xi8> {
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x8x3x8xi8>, %v: tensor<8x8x3x1xi8>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x8x3x8xi8>, tensor<8x8x3x1xi8>) -> tensor<1x8x3x8xi32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x8x3x8xi32>) -> tensor<1x8x3x8xi8>
    "tri.yield"(%r) : (tensor<1x8x3x8xi8>) -> ()
  }) {target = "nvdla"} : (tensor<1x8x3x8xi8>, tensor<8x8x3x1xi8>) -> tensor<1x8x3x8xi8>
  return %y : tensor<1x8x3x8xi8>
}
