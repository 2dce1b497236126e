// RUN: trivium-opt %s | FileCheck %s

// Six outputs in two groups, of which each sees two channels through windows of three by three.
// CHECK-LABEL: func.func @packed_conv
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
// CHECK:         "cpu.packed_conv"(%[[X]], %[[W]]) {block = 2 : i64
// CHECK-SAME:      : (tensor<1x4x8x9xf32>, tensor<2x54xf32>) -> tensor<1x6x6x7xf32>
func.func @packed_conv(%x: tensor<1x4x8x9xf32>, %w: tensor<2x54xf32>) -> tensor<1x6x6x7xf32> {
  %0 = "cpu.packed_conv"(%x, %w) {block = 2, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, outputs = 6, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x8x9xf32>, tensor<2x54xf32>) -> tensor<1x6x6x7xf32>
  return %0 : tensor<1x6x6x7xf32>
}

// Five outputs in two panels of four, each of which sees two channels through windows of three.
// CHECK-LABEL: func.func @panel_conv
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "cpu.panel_conv"(%[[X]], %[[W]], %[[B]]) {dilations = array<i64: 1>, kernel = array<i64: 3>, outputs = 5 : i64
// CHECK-SAME:      : (tensor<1x2x7xf32>, tensor<2x6x4xf32>, tensor<5xf32>) -> tensor<1x5x4xf32>
func.func @panel_conv(%x: tensor<1x2x7xf32>, %w: tensor<2x6x4xf32>, %b: tensor<5xf32>) -> tensor<1x5x4xf32> {
  %0 = "cpu.panel_conv"(%x, %w, %b) {dilations = array<i64: 1>, kernel = array<i64: 3>, outputs = 5, pads = array<i64: 1, 1>, strides = array<i64: 2>}
      : (tensor<1x2x7xf32>, tensor<2x6x4xf32>, tensor<5xf32>) -> tensor<1x5x4xf32>
  return %0 : tensor<1x5x4xf32>
}

// Tiles of two by two have sixteen points.
// CHECK-LABEL: func.func @winograd_conv
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[U:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "cpu.winograd_conv"(%[[X]], %[[U]], %[[B]]) {block = 3 : i64
// CHECK-SAME:      : (tensor<1x4x8x9xf32>, tensor<384xf32>, tensor<6xf32>) -> tensor<1x6x8x9xf32>
func.func @winograd_conv(%x: tensor<1x4x8x9xf32>, %u: tensor<384xf32>, %b: tensor<6xf32>) -> tensor<1x6x8x9xf32> {
  %0 = "cpu.winograd_conv"(%x, %u, %b) {block = 3, outputs = 6, pads = array<i64: 1, 1, 1, 1>, tile = 2}
      : (tensor<1x4x8x9xf32>, tensor<384xf32>, tensor<6xf32>) -> tensor<1x6x8x9xf32>
  return %0 : tensor<1x6x8x9xf32>
}
