// RUN: trivium-opt %s --split-input-file --split-pools=target=nv_full | FileCheck %s

// 8 lines of windows have 16 columns each of 32 channels: 33 columns are 3 parts of 11. Pads are at
// the edges alone.
// CHECK-LABEL: func.func @splits_wide_pools
// CHECK:           %[[A:.*]] = "nvdla.window"(%{{.*}}) {sizes = array<i64: 8, 4, 12>, start = array<i64: 0, 0, 0>}
// CHECK:           %[[B:.*]] = "nvdla.pdp"(%[[A]]) {{{.*}}pads = array<i64: 2, 1, 2, 0>
// CHECK:           %[[C:.*]] = "nvdla.pdp"(%{{.*}}) {{{.*}}pads = array<i64: 2, 0, 2, 0>
// CHECK:           %[[D:.*]] = "nvdla.pdp"(%{{.*}}) {{{.*}}pads = array<i64: 2, 0, 2, 1>
// CHECK:           "nvdla.join"(%[[B]], %[[C]], %[[D]]) {axis = 3 : i64}
func.func @splits_wide_pools(%x: tensor<1x8x4x33xi8>) -> tensor<1x8x4x33xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x8x4x33xi8>):
    %p = "nvdla.pdp"(%a) {mode = "max", kernel = array<i64: 5, 3>, pads = array<i64: 2, 1, 2, 1>} : (tensor<1x8x4x33xi8>) -> tensor<1x8x4x33xi8>
    "tri.yield"(%p) : (tensor<1x8x4x33xi8>) -> ()
  }) {target = "nvdla"} : (tensor<1x8x4x33xi8>) -> tensor<1x8x4x33xi8>
  return %y : tensor<1x8x4x33xi8>
}

// -----

// CHECK-LABEL: func.func @keeps_pools_that_fit
// CHECK-NOT:     nvdla.window
// CHECK:         "nvdla.pdp"
func.func @keeps_pools_that_fit(%x: tensor<1x8x4x16xi8>) -> tensor<1x8x4x16xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x8x4x16xi8>):
    %p = "nvdla.pdp"(%a) {mode = "max", kernel = array<i64: 5, 3>, pads = array<i64: 2, 1, 2, 1>} : (tensor<1x8x4x16xi8>) -> tensor<1x8x4x16xi8>
    "tri.yield"(%p) : (tensor<1x8x4x16xi8>) -> ()
  }) {target = "nvdla"} : (tensor<1x8x4x16xi8>) -> tensor<1x8x4x16xi8>
  return %y : tensor<1x8x4x16xi8>
}
