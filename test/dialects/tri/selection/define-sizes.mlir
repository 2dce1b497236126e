// RUN: trivium-opt %s | FileCheck %s

// Numbers become sizes; what they are at most may depend on sizes that are known.
// CHECK-LABEL: func.func @shape
// CHECK:         "tri.define_sizes"(%{{.*}}) {limits = ["4*N", "7"], sizes = ["a", "b"]}
func.func @shape(%x: tensor<?xf32, ["N"]>, %shape: tensor<2xi32>, %y: tensor<1xf32>)
    -> tensor<?xf32, ["a*b"]>
    attributes {trivium.symbols = {N = "1..", a = "0..", b = "0.."}} {
  %0 = "tri.define_sizes"(%shape) {limits = ["4*N", "7"], sizes = ["a", "b"]}
      : (tensor<2xi32>) -> tensor<2xi64>
  %1 = "tri.tile"(%y) {repeats = ["a*b"]} : (tensor<1xf32>) -> tensor<?xf32, ["a*b"]>
  return %1 : tensor<?xf32, ["a*b"]>
}
