// RUN: trivium-opt %s | FileCheck %s

// Weights are [rows, columns, channels, filters]; a bias, and here a factor, for each filter.
// CHECK-LABEL: func.func @dense
// CHECK-SAME:    (%[[X:.*]]: tensor<{{.*}}>, %[[W:.*]]: tensor<{{.*}}>, %[[B:.*]]: tensor<2xi32>)
// CHECK:         "dla.conv"(%[[X]], %[[W]], %[[B]])
// CHECK-SAME:    pads = array<i64: 1, 0, 2, 1>
// CHECK-SAME:    -> tensor<2x6x2x2xi8>
func.func @dense(%x: tensor<2x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) -> tensor<2x6x2x2xi8> {
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 3, 5>, shift = array<i64: 1, 2>, strides = array<i64: 1, 2>, pads = array<i64: 1, 0, 2, 1>} : (tensor<2x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<2x6x2x2xi8>
  return %y : tensor<2x6x2x2xi8>
}

// Each channel by itself: weights have no filters.
// CHECK-LABEL: func.func @depthwise
// CHECK:         "dla.conv"
// CHECK-SAME:    mode = "depthwise"
// CHECK-SAME:    -> tensor<1x3x2x3xi8>
func.func @depthwise(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3xi8>, %b: tensor<3xi32>) -> tensor<1x3x2x3xi8> {
  %y = "dla.conv"(%x, %w, %b) {mode = "depthwise", multiplier = array<i64: 1>, shift = array<i64: 0>, dilations = array<i64: 1, 2>} : (tensor<1x5x4x3xi8>, tensor<3x2x3xi8>, tensor<3xi32>) -> tensor<1x3x2x3xi8>
  return %y : tensor<1x3x2x3xi8>
}

// A window has to have something of the image; this one has a column that is no border.
// CHECK-LABEL: func.func @pools
// CHECK:         "dla.pool"
// CHECK-SAME:    mode = "average"
// CHECK-SAME:    -> tensor<1x3x5x3xi8>
func.func @pools(%x: tensor<1x5x4x3xi8>) -> tensor<1x3x5x3xi8> {
  %y = "dla.pool"(%x) {mode = "average", divisor = "inside", kernel = array<i64: 2, 2>, strides = array<i64: 2, 1>, pads = array<i64: 0, 1, 1, 1>} : (tensor<1x5x4x3xi8>) -> tensor<1x3x5x3xi8>
  return %y : tensor<1x3x5x3xi8>
}
