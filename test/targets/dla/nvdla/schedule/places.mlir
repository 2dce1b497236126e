// RUN: trivium-opt %s --split-input-file --separate-places=target=nv_small --place-values=target=nv_small | FileCheck %s

// The input is where it is, and so must be copied to be beside another value; %p is not. The joined
// image has 2 surfaces of 3 x 3 atoms: 144 bytes. %m is live after it, so that both have bytes.
// CHECK-LABEL: func.func @copies_inputs
// CHECK:           %[[P:.*]] = "nvdla.pdp"(%{{.*}})
// CHECK-NOT:       nvdla.address
// CHECK:           %[[C:.*]] = "nvdla.sdp"(%{{.*}})
// CHECK-NEXT:      %[[J:.*]] = "nvdla.join"(%[[C]], %[[P]]) {axis = 1 : i64, nvdla.address = 0 : i64}
// CHECK-NEXT:      %[[M:.*]] = "nvdla.pdp"(%[[J]]) {{.*}}nvdla.address = 256 : i64
// CHECK-NEXT:      "nvdla.pdp"(%[[M]])
// CHECK:         }) {nvdla.arena_bytes = 512 : i64, target = "nvdla"}
func.func @copies_inputs(%x: tensor<1x8x3x3xi8>) -> tensor<1x16x1x1xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x8x3x3xi8>):
    %p = "nvdla.pdp"(%a) {mode = "max", kernel = array<i64: 1, 1>} : (tensor<1x8x3x3xi8>) -> tensor<1x8x3x3xi8>
    %j = "nvdla.join"(%a, %p) {axis = 1 : i64} : (tensor<1x8x3x3xi8>, tensor<1x8x3x3xi8>) -> tensor<1x16x3x3xi8>
    %m = "nvdla.pdp"(%j) {mode = "max", kernel = array<i64: 2, 2>} : (tensor<1x16x3x3xi8>) -> tensor<1x16x2x2xi8>
    %r = "nvdla.pdp"(%m) {mode = "max", kernel = array<i64: 2, 2>} : (tensor<1x16x2x2xi8>) -> tensor<1x16x1x1xi8>
    "tri.yield"(%r) : (tensor<1x16x1x1xi8>) -> ()
  }) {target = "nvdla"} : (tensor<1x8x3x3xi8>) -> tensor<1x16x1x1xi8>
  return %y : tensor<1x16x1x1xi8>
}

// -----

// CHECK-LABEL: func.func @keeps_other_groups
// CHECK-NOT:     nvdla.arena_bytes
func.func @keeps_other_groups(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %r = "tri.relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    "tri.yield"(%r) : (tensor<4xf32>) -> ()
  }) {target = "cpu"} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
