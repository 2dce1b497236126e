// RUN: trivium-opt %s --split-input-file --choose-pixels=target=nv_full | FileCheck %s

// A kernel of 3x3x3 bytes has 9 places, with 3 of 64 channels; as pixels, all of its rows are one.
// CHECK-LABEL: func.func @reads_pixels
// CHECK:         "nvdla.conv"{{.*}}pixels = "A8B8G8R8"
func.func @reads_pixels(%x: tensor<1x3x8x8xi8>, %w: tensor<32x3x3x3xi8>) -> tensor<1x32x8x8xi8> {
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x3x8x8xi8>, %v: tensor<32x3x3x3xi8>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xi8>, tensor<32x3x3x3xi8>) -> tensor<1x32x8x8xi32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x32x8x8xi32>) -> tensor<1x32x8x8xi8>
    "tri.yield"(%r) : (tensor<1x32x8x8xi8>) -> ()
  }) {target = "nvdla"} : (tensor<1x3x8x8xi8>, tensor<32x3x3x3xi8>) -> tensor<1x32x8x8xi8>
  return %y : tensor<1x32x8x8xi8>
}

// -----

// CHECK-LABEL: func.func @keeps_single_places
// CHECK-NOT:     pixels = "A
func.func @keeps_single_places(%x: tensor<1x3x8x8xi8>, %w: tensor<32x3x1x1xi8>) -> tensor<1x32x8x8xi8> {
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x3x8x8xi8>, %v: tensor<32x3x1x1xi8>):
    %s = "nvdla.conv"(%a, %v) : (tensor<1x3x8x8xi8>, tensor<32x3x1x1xi8>) -> tensor<1x32x8x8xi32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x32x8x8xi32>) -> tensor<1x32x8x8xi8>
    "tri.yield"(%r) : (tensor<1x32x8x8xi8>) -> ()
  }) {target = "nvdla"} : (tensor<1x3x8x8xi8>, tensor<32x3x1x1xi8>) -> tensor<1x32x8x8xi8>
  return %y : tensor<1x32x8x8xi8>
}

// -----

// Another engine reads the input, too.
// CHECK-LABEL: func.func @keeps_features_for_others
// CHECK-NOT:     pixels = "A
func.func @keeps_features_for_others(%x: tensor<1x3x8x8xi8>, %w: tensor<32x3x3x3xi8>) -> (tensor<1x32x8x8xi8>, tensor<1x3x8x8xi8>) {
  %y, %z = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x3x8x8xi8>, %v: tensor<32x3x3x3xi8>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xi8>, tensor<32x3x3x3xi8>) -> tensor<1x32x8x8xi32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x32x8x8xi32>) -> tensor<1x32x8x8xi8>
    %t = "nvdla.sdp"(%a) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x3x8x8xi8>) -> tensor<1x3x8x8xi8>
    "tri.yield"(%r, %t) : (tensor<1x32x8x8xi8>, tensor<1x3x8x8xi8>) -> ()
  }) {target = "nvdla"} : (tensor<1x3x8x8xi8>, tensor<32x3x3x3xi8>) -> (tensor<1x32x8x8xi8>, tensor<1x3x8x8xi8>)
  return %y, %z : tensor<1x32x8x8xi8>, tensor<1x3x8x8xi8>
}
