// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @roi_align
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[ROIS:.*]]: {{.*}}, %[[BATCH_INDICES:.*]]: {{.*}})
// CHECK:         "tri.roi_align"(%[[X]], %[[ROIS]], %[[BATCH_INDICES]]) {sizes = array<i64: 5, 6>}
// CHECK-SAME:      : (tensor<1x2x8x8xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x2x5x6xf32>
func.func @roi_align(%x: tensor<1x2x8x8xf32>, %rois: tensor<3x4xf32>, %batch_indices: tensor<3xi64>) -> tensor<3x2x5x6xf32> {
  %0 = "tri.roi_align"(%x, %rois, %batch_indices) {sizes = array<i64: 5, 6>}
      : (tensor<1x2x8x8xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x2x5x6xf32>
  return %0 : tensor<3x2x5x6xf32>
}

// CHECK-LABEL: func.func @all_options
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[ROIS:.*]]: {{.*}}, %[[BATCH_INDICES:.*]]: {{.*}})
// CHECK:         "tri.roi_align"(%[[X]], %[[ROIS]], %[[BATCH_INDICES]]) {half_pixel = false, mode = "max", sampling_ratio = 2 : i64, sizes = array<i64: 5, 6>, spatial_scale = 2.500000e-01 : f64}
// CHECK-SAME:      : (tensor<4x2x8x8xf16>, tensor<3x4xf16>, tensor<3xi32>) -> tensor<3x2x5x6xf16>
func.func @all_options(%x: tensor<4x2x8x8xf16>, %rois: tensor<3x4xf16>, %batch_indices: tensor<3xi32>) -> tensor<3x2x5x6xf16> {
  %0 = "tri.roi_align"(%x, %rois, %batch_indices) {half_pixel = false, mode = "max", sampling_ratio = 2 : i64, sizes = array<i64: 5, 6>, spatial_scale = 2.500000e-01 : f64}
      : (tensor<4x2x8x8xf16>, tensor<3x4xf16>, tensor<3xi32>) -> tensor<3x2x5x6xf16>
  return %0 : tensor<3x2x5x6xf16>
}

// CHECK-LABEL: func.func @max_roi_pool
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[ROIS:.*]]: {{.*}})
// CHECK:         "tri.max_roi_pool"(%[[X]], %[[ROIS]]) {sizes = array<i64: 5, 6>, spatial_scale = 2.500000e-01 : f64}
// CHECK-SAME:      : (tensor<4x2x8x8xf32>, tensor<3x5xf32>) -> tensor<3x2x5x6xf32>
func.func @max_roi_pool(%x: tensor<4x2x8x8xf32>, %rois: tensor<3x5xf32>) -> tensor<3x2x5x6xf32> {
  %0 = "tri.max_roi_pool"(%x, %rois) {sizes = array<i64: 5, 6>, spatial_scale = 2.500000e-01 : f64}
      : (tensor<4x2x8x8xf32>, tensor<3x5xf32>) -> tensor<3x2x5x6xf32>
  return %0 : tensor<3x2x5x6xf32>
}
