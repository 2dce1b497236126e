// RUN: trivium-opt %s --split-input-file --lower-to-tile | FileCheck %s

// A program has one region, so that how many samples its cells have is one number for all elements.
// CHECK-LABEL: func.func @samples_one_region
// CHECK:         %[[DOWN:.*]] = "tile.unary"(%{{.*}}) {function = "ceil"} : (tensor<f32
// CHECK:         %[[RIGHT:.*]] = "tile.unary"(%{{.*}}) {function = "ceil"} : (tensor<f32
// CHECK:         "tile.for"
// CHECK:           "tile.for"
// CHECK-COUNT-4:     "tile.load"
// CHECK:         grid = ["5", "72/BLOCK"]
func.func @samples_one_region(%x: tensor<1x8x9x10xf32>, %r: tensor<5x4xf32>, %i: tensor<5xi64>) -> tensor<5x8x3x3xf32> {
  %y = "tri.group"(%x, %r, %i) ({
  ^bb0(%xi: tensor<1x8x9x10xf32>, %ri: tensor<5x4xf32>, %ii: tensor<5xi64>):
    %p = "tri.roi_align"(%xi, %ri, %ii) {sizes = array<i64: 3, 3>} : (tensor<1x8x9x10xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x8x3x3xf32>
    "tri.yield"(%p) : (tensor<5x8x3x3xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x9x10xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x8x3x3xf32>
  return %y : tensor<5x8x3x3xf32>
}

// -----

// A given number of samples is not computed.
// CHECK-LABEL: func.func @samples_a_given_number
// CHECK-NOT:     "ceil"
// CHECK:         "tile.for"
func.func @samples_a_given_number(%x: tensor<1x8x9x10xf32>, %r: tensor<5x4xf32>, %i: tensor<5xi64>) -> tensor<5x8x3x3xf32> {
  %y = "tri.group"(%x, %r, %i) ({
  ^bb0(%xi: tensor<1x8x9x10xf32>, %ri: tensor<5x4xf32>, %ii: tensor<5xi64>):
    %p = "tri.roi_align"(%xi, %ri, %ii) {sizes = array<i64: 3, 3>, sampling_ratio = 2 : i64} : (tensor<1x8x9x10xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x8x3x3xf32>
    "tri.yield"(%p) : (tensor<5x8x3x3xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x9x10xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x8x3x3xf32>
  return %y : tensor<5x8x3x3xf32>
}

// -----

// All cells of a region take as many turns as its largest one can have elements.
// CHECK-LABEL: func.func @compares_elements
// CHECK:         "tile.for"
// CHECK:           "tile.for"
// CHECK:             "tile.load"({{.*}}) {{.*}}pad = {{.*}}
// CHECK-NOT:         "tile.load"
// CHECK:             function = "max"
// CHECK:         grid = ["5", "72/BLOCK"]
func.func @compares_elements(%x: tensor<1x8x9x10xf32>, %r: tensor<5x5xf32>) -> tensor<5x8x3x3xf32> {
  %y = "tri.group"(%x, %r) ({
  ^bb0(%xi: tensor<1x8x9x10xf32>, %ri: tensor<5x5xf32>):
    %p = "tri.max_roi_pool"(%xi, %ri) {sizes = array<i64: 3, 3>} : (tensor<1x8x9x10xf32>, tensor<5x5xf32>) -> tensor<5x8x3x3xf32>
    "tri.yield"(%p) : (tensor<5x8x3x3xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x8x9x10xf32>, tensor<5x5xf32>) -> tensor<5x8x3x3xf32>
  return %y : tensor<5x8x3x3xf32>
}
