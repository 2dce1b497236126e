// RUN: trivium-opt %s --split-input-file --lower-to-tile | FileCheck %s

// Places that are a quotient are computed.
// CHECK-LABEL: func.func @repeats_elements
// CHECK-NOT:     tri.constant
// CHECK:         "tile.launch"(%{{[^,]*}}) {
// CHECK:         %[[TWO:.*]] = "tile.full"() {shape = [], value = dense<2> : tensor<i32>}
// CHECK-NEXT:    %[[ROW:.*]] = "tile.binary"(%{{.*}}, %[[TWO]]) {function = "quotient"}
// CHECK-NEXT:    %[[COLUMN:.*]] = "tile.binary"(%{{.*}}, %[[TWO]]) {function = "quotient"}
// CHECK:         "tile.load"(%{{.*}}, %{{.*}}, %[[ROW]], %[[COLUMN]])
func.func @repeats_elements(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x16x16xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<1x3x8x8xf32>):
    %r = "tri.resize"(%xi) {sizes = array<i64: 1, 3, 16, 16>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = "nearest", coordinate_transform = "asymmetric", nearest_mode = "floor", cubic_coeff_a = -0.75 : f64, exclude_outside = false, antialias = false, extrapolation_value = 0.0 : f64, roi = array<f64>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x16x16xf32>
    "tri.yield"(%r) : (tensor<1x3x16x16xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x3x8x8xf32>) -> tensor<1x3x16x16xf32>
  return %y : tensor<1x3x16x16xf32>
}

// -----

// Elements are sums of four; a table says which ones, another how much each counts.
// CHECK-LABEL: func.func @brings_places_and_weights_along
// CHECK-DAG:     %[[WEIGHTS:.*]] = "tri.constant"() {value = dense<{{.*}}> : tensor<2x16xf32>}
// CHECK-DAG:     %[[PLACES:.*]] = "tri.constant"() {value = dense<{{.*}}> : tensor<2x16xi32>}
// CHECK:         "tile.launch"(
// CHECK-NOT:     tile.for
func.func @brings_places_and_weights_along(%x: tensor<1x3x8x8xf32>) -> tensor<1x3x16x16xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<1x3x8x8xf32>):
    %r = "tri.resize"(%xi) {sizes = array<i64: 1, 3, 16, 16>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = "linear", coordinate_transform = "half_pixel", nearest_mode = "floor", cubic_coeff_a = -0.75 : f64, exclude_outside = false, antialias = false, extrapolation_value = 0.0 : f64, roi = array<f64>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x16x16xf32>
    "tri.yield"(%r) : (tensor<1x3x16x16xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x3x8x8xf32>) -> tensor<1x3x16x16xf32>
  return %y : tensor<1x3x16x16xf32>
}
