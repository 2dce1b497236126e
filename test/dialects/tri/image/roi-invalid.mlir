// RUN: trivium-opt %s --verify-diagnostics

// Regions are of images.
func.func @volume(%x: tensor<1x2x8x8x8xf32>, %rois: tensor<3x4xf32>, %batch_indices: tensor<3xi64>) {
  // expected-error @below {{'tri.roi_align' op input has rank 5, must have 4}}
  %y = "tri.roi_align"(%x, %rois, %batch_indices) {sizes = array<i64: 5, 6>}
      : (tensor<1x2x8x8x8xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x2x5x6xf32>
  return
}

// Each region is of one image.
func.func @regions_of_nowhere(%x: tensor<1x2x8x8xf32>, %rois: tensor<3x4xf32>, %batch_indices: tensor<2xi64>) {
  // expected-error @below {{'tri.roi_align' op regions are tensor<3x4xf32> of images tensor<2xi64>, must be Rx4 and R}}
  %y = "tri.roi_align"(%x, %rois, %batch_indices) {sizes = array<i64: 5, 6>}
      : (tensor<1x2x8x8xf32>, tensor<3x4xf32>, tensor<2xi64>) -> tensor<3x2x5x6xf32>
  return
}

// Which has a number.
func.func @images_are_floats(%x: tensor<1x2x8x8xf32>, %rois: tensor<3x4xf32>, %batch_indices: tensor<3xf32>) {
  // expected-error @below {{'tri.roi_align' op batch indices are tensor<3xf32>, must be integers}}
  %y = "tri.roi_align"(%x, %rois, %batch_indices) {sizes = array<i64: 5, 6>}
      : (tensor<1x2x8x8xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<3x2x5x6xf32>
  return
}

// Cells have rows and columns.
func.func @cells_of_one_axis(%x: tensor<1x2x8x8xf32>, %rois: tensor<3x4xf32>, %batch_indices: tensor<3xi64>) {
  // expected-error @below {{'tri.roi_align' op sizes is (5,), must be two numbers of at least 1}}
  %y = "tri.roi_align"(%x, %rois, %batch_indices) {sizes = array<i64: 5>}
      : (tensor<1x2x8x8xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x2x5x6xf32>
  return
}

// 0 samples stand for as many as there are elements.
func.func @samples_are_negative(%x: tensor<1x2x8x8xf32>, %rois: tensor<3x4xf32>, %batch_indices: tensor<3xi64>) {
  // expected-error @below {{'tri.roi_align' op sampling_ratio is -1, must be at least 0}}
  %y = "tri.roi_align"(%x, %rois, %batch_indices) {sizes = array<i64: 5, 6>, sampling_ratio = -1}
      : (tensor<1x2x8x8xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x2x5x6xf32>
  return
}

// Samples are averaged, or the greatest is taken.
func.func @mode_is_unknown(%x: tensor<1x2x8x8xf32>, %rois: tensor<3x4xf32>, %batch_indices: tensor<3xi64>) {
  // expected-error @below {{'tri.roi_align' op mode is 'sum', must be one of avg, max}}
  %y = "tri.roi_align"(%x, %rois, %batch_indices) {sizes = array<i64: 5, 6>, mode = "sum"}
      : (tensor<1x2x8x8xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x2x5x6xf32>
  return
}

// For the older op, the image comes first in each region.
func.func @regions_without_images(%x: tensor<1x2x8x8xf32>, %rois: tensor<3x4xf32>) {
  // expected-error @below {{'tri.max_roi_pool' op regions are tensor<3x4xf32>, must be Rx5}}
  %y = "tri.max_roi_pool"(%x, %rois) {sizes = array<i64: 5, 6>}
      : (tensor<1x2x8x8xf32>, tensor<3x4xf32>) -> tensor<3x2x5x6xf32>
  return
}
