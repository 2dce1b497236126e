// RUN: trivium-opt %s --split-input-file --split-rows=target=nv_small | FileCheck %s

// A row of 512 pixels of 64 channels has 8 banks of 512 entries, and all weights have 3: with them
// there is room for 3 of the 4 rows in 32 banks. That is one row of the result at a time.
// CHECK-LABEL: func.func @splits
// CHECK:           "nvdla.window"(%{{.*}}) {sizes = array<i64: 64, 2, 512>, start = array<i64: 0, 0, 0>}
// CHECK-NEXT:      "nvdla.conv"{{.*}}pads = array<i64: 1, 0, 0, 0>
// CHECK-NEXT:      "nvdla.sdp"
// CHECK:           "nvdla.window"(%{{.*}}) {sizes = array<i64: 64, 3, 512>, start = array<i64: 0, 0, 0>}
// CHECK-NEXT:      "nvdla.conv"{{.*}}pads = array<i64: 0, 0, 0, 0>
// CHECK:           "nvdla.window"(%{{.*}}) {sizes = array<i64: 64, 3, 512>, start = array<i64: 0, 1, 0>}
// CHECK:           "nvdla.window"(%{{.*}}) {sizes = array<i64: 64, 2, 512>, start = array<i64: 0, 2, 0>}
// CHECK-NEXT:      "nvdla.conv"{{.*}}pads = array<i64: 0, 0, 1, 0>
// CHECK-NEXT:      "nvdla.sdp"
// CHECK-NEXT:      "nvdla.join"({{.*}}) {axis = 2 : i64}
func.func @splits(%x: tensor<1x64x4x512xi8>, %w: tensor<64x64x3x1xi8>) -> tensor<1x64x4x512xi8> {
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x64x4x512xi8>, %v: tensor<64x64x3x1xi8>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x64x4x512xi8>, tensor<64x64x3x1xi8>) -> tensor<1x64x4x512xi32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x64x4x512xi32>) -> tensor<1x64x4x512xi8>
    "tri.yield"(%r) : (tensor<1x64x4x512xi8>) -> ()
  }) {target = "nvdla"} : (tensor<1x64x4x512xi8>, tensor<64x64x3x1xi8>) -> tensor<1x64x4x512xi8>
  return %y : tensor<1x64x4x512xi8>
}

// -----

// CHECK-LABEL: func.func @keeps_what_fits
// CHECK-NOT:     "nvdla.window"
func.func @keeps_what_fits(%x: tensor<1x8x3x8xi8>, %w: tensor<8x8x3x1xi8>) -> tensor<1x8x3x8xi8> {
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x8x3x8xi8>, %v: tensor<8x8x3x1xi8>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x8x3x8xi8>, tensor<8x8x3x1xi8>) -> tensor<1x8x3x8xi32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x8x3x8xi32>) -> tensor<1x8x3x8xi8>
    "tri.yield"(%r) : (tensor<1x8x3x8xi8>) -> ()
  }) {target = "nvdla"} : (tensor<1x8x3x8xi8>, tensor<8x8x3x1xi8>) -> tensor<1x8x3x8xi8>
  return %y : tensor<1x8x3x8xi8>
}
