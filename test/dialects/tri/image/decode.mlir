// RUN: trivium-opt %s | FileCheck %s

// The bytes of a file become an image, whose sizes a run finds.
// CHECK-LABEL: func.func @decode
// CHECK:         "tri.decode_image"(%{{.*}}) {height = "H", pixels = "BGR", width = "W"}
func.func @decode(%x: tensor<?xui8, ["N"]>) -> tensor<?x?x3xui8, ["H", "W", ""]>
    attributes {trivium.symbols = {H = "0..", N = "1..", W = "0.."}} {
  %0 = "tri.decode_image"(%x) {height = "H", pixels = "BGR", width = "W"}
      : (tensor<?xui8, ["N"]>) -> tensor<?x?x3xui8, ["H", "W", ""]>
  return %0 : tensor<?x?x3xui8, ["H", "W", ""]>
}
