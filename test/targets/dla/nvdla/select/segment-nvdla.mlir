// RUN: trivium-opt %s --segment-nvdla=target=nv_small | FileCheck %s

// CHECK-LABEL: func.func @joins_neighbours
// CHECK:         "tri.group"
// CHECK:           "nvdla.pdp"
// CHECK:           "nvdla.pdp"
// CHECK-NEXT:      "tri.yield"
func.func @joins_neighbours(%x: tensor<1x8x4x4xi8>) -> tensor<1x8x2x2xi8> {
  %a = "nvdla.pdp"(%x) {mode = "max", kernel = array<i64: 2, 2>} : (tensor<1x8x4x4xi8>) -> tensor<1x8x3x3xi8>
  %b = "nvdla.pdp"(%a) {mode = "max", kernel = array<i64: 2, 2>} : (tensor<1x8x3x3xi8>) -> tensor<1x8x2x2xi8>
  return %b : tensor<1x8x2x2xi8>
}

// nv_small has no BDMA.
// CHECK-LABEL: func.func @keeps_what_the_configuration_lacks
// CHECK-NEXT:    "nvdla.copy"
// CHECK-NEXT:    return
func.func @keeps_what_the_configuration_lacks(%x: tensor<1x8x4x4xi8>) -> tensor<1x8x4x4xi8> {
  %a = "nvdla.copy"(%x) : (tensor<1x8x4x4xi8>) -> tensor<1x8x4x4xi8>
  return %a : tensor<1x8x4x4xi8>
}
