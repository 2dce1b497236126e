// RUN: trivium-opt %s | FileCheck %s

// How many boxes are left is a size, and so is how many may be.
// CHECK-LABEL: func.func @detections
// CHECK:         "tri.define_sizes"(%{{.*}}) {sizes = ["most"]}
// CHECK:         "tri.non_max_suppression"(%{{.*}}, %{{.*}}, %{{.*}}) {
// CHECK-SAME:      count = "u0", limit = "most"
// CHECK-SAME:      -> tensor<?x3xi64, ["u0", ""]>
func.func @detections(%boxes: tensor<1x?x4xf32, ["", "N", ""]>,
    %scores: tensor<1x80x?xf32, ["", "", "N"]>, %overlap: tensor<f32>, %most: tensor<i64>)
    -> tensor<?x3xi64, ["u0", ""]>
    attributes {trivium.symbols = {N = "1..", most = "0..", u0 = "0.."}} {
  %0 = "tri.define_sizes"(%most) {sizes = ["most"]} : (tensor<i64>) -> tensor<i64>
  %1 = "tri.non_max_suppression"(%boxes, %scores, %overlap)
      {count = "u0", limit = "most", operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (tensor<1x?x4xf32, ["", "N", ""]>, tensor<1x80x?xf32, ["", "", "N"]>, tensor<f32>)
      -> tensor<?x3xi64, ["u0", ""]>
  return %1 : tensor<?x3xi64, ["u0", ""]>
}
