// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @resize
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.resize"(%[[X]]) {scales = array<f64: 1.000000e+00, 1.000000e+00, 2.000000e+00, 1.500000e+00>, sizes = array<i64: 1, 2, 8, 6>}
// CHECK-SAME:      : (tensor<1x2x4x4xf32>) -> tensor<1x2x8x6xf32>
func.func @resize(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x8x6xf32> {
  %0 = "tri.resize"(%x) {scales = array<f64: 1.000000e+00, 1.000000e+00, 2.000000e+00, 1.500000e+00>, sizes = array<i64: 1, 2, 8, 6>}
      : (tensor<1x2x4x4xf32>) -> tensor<1x2x8x6xf32>
  return %0 : tensor<1x2x8x6xf32>
}

// CHECK-LABEL: func.func @all_options
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.resize"(%[[X]]) {antialias = true, coordinate_transform = "align_corners", cubic_coeff_a = -5.000000e-01 : f64, exclude_outside = true, mode = "cubic", nearest_mode = "floor", scales = array<f64: 2.000000e+00, 2.000000e+00>, sizes = array<i64: 8, 8>}
// CHECK-SAME:      : (tensor<4x4xf32>) -> tensor<8x8xf32>
func.func @all_options(%x: tensor<4x4xf32>) -> tensor<8x8xf32> {
  %0 = "tri.resize"(%x) {antialias = true, coordinate_transform = "align_corners", cubic_coeff_a = -5.000000e-01 : f64, exclude_outside = true, mode = "cubic", nearest_mode = "floor", scales = array<f64: 2.000000e+00, 2.000000e+00>, sizes = array<i64: 8, 8>}
      : (tensor<4x4xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @crops
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.resize"(%[[X]]) {coordinate_transform = "tf_crop_and_resize", extrapolation_value = -1.000000e+00 : f64, mode = "linear", roi = array<f64: 2.500000e-01, 7.500000e-01>, scales = array<f64: 2.000000e+00>, sizes = array<i64: 8>}
// CHECK-SAME:      : (tensor<4xf32>) -> tensor<8xf32>
func.func @crops(%x: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "tri.resize"(%x) {coordinate_transform = "tf_crop_and_resize", extrapolation_value = -1.000000e+00 : f64, mode = "linear", roi = array<f64: 2.500000e-01, 7.500000e-01>, scales = array<f64: 2.000000e+00>, sizes = array<i64: 8>}
      : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @grid_sample
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[GRID:.*]]: {{.*}})
// CHECK:         "tri.grid_sample"(%[[X]], %[[GRID]])
// CHECK-SAME:      : (tensor<1x2x4x5xf32>, tensor<1x6x7x2xf32>) -> tensor<1x2x6x7xf32>
func.func @grid_sample(%x: tensor<1x2x4x5xf32>, %grid: tensor<1x6x7x2xf32>) -> tensor<1x2x6x7xf32> {
  %0 = "tri.grid_sample"(%x, %grid)
      : (tensor<1x2x4x5xf32>, tensor<1x6x7x2xf32>) -> tensor<1x2x6x7xf32>
  return %0 : tensor<1x2x6x7xf32>
}

// CHECK-LABEL: func.func @counts_elements
// CHECK:         "tri.grid_sample"(%{{.*}}, %{{.*}}) {normalized = false}
func.func @counts_elements(%x: tensor<1x2x4x5xf32>, %grid: tensor<1x6x7x2xf32>) -> tensor<1x2x6x7xf32> {
  %0 = "tri.grid_sample"(%x, %grid) {normalized = false}
      : (tensor<1x2x4x5xf32>, tensor<1x6x7x2xf32>) -> tensor<1x2x6x7xf32>
  return %0 : tensor<1x2x6x7xf32>
}

// CHECK-LABEL: func.func @volume
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[GRID:.*]]: {{.*}})
// CHECK:         "tri.grid_sample"(%[[X]], %[[GRID]]) {align_corners = true, mode = "nearest", padding_mode = "border"}
// CHECK-SAME:      : (tensor<1x2x3x4x5xf32>, tensor<1x6x7x8x3xf32>) -> tensor<1x2x6x7x8xf32>
func.func @volume(%x: tensor<1x2x3x4x5xf32>, %grid: tensor<1x6x7x8x3xf32>) -> tensor<1x2x6x7x8xf32> {
  %0 = "tri.grid_sample"(%x, %grid) {align_corners = true, mode = "nearest", padding_mode = "border"}
      : (tensor<1x2x3x4x5xf32>, tensor<1x6x7x8x3xf32>) -> tensor<1x2x6x7x8xf32>
  return %0 : tensor<1x2x6x7x8xf32>
}
