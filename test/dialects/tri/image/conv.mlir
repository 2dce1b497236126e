// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @conv
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
// CHECK:         "tri.conv"(%[[X]], %[[W]]) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<1x4x8x9xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x7xf32>
func.func @conv(%x: tensor<1x4x8x9xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<1x6x6x7xf32> {
  %0 = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x8x9xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x7xf32>
  return %0 : tensor<1x6x6x7xf32>
}

// CHECK-LABEL: func.func @with_bias
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.conv"(%[[X]], %[[W]], %[[B]]) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<1x4x8x9xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<1x6x6x7xf32>
func.func @with_bias(%x: tensor<1x4x8x9xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<6xf32>) -> tensor<1x6x6x7xf32> {
  %0 = "tri.conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x8x9xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<1x6x6x7xf32>
  return %0 : tensor<1x6x6x7xf32>
}

// Strides, pads and dilations differ by axis: 1 + (8 + 3 - 3) / 2 and 1 + (9 + 7 - 5) / 3.
// CHECK-LABEL: func.func @grouped
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
// CHECK:         "tri.conv"(%[[X]], %[[W]]) {dilations = array<i64: 1, 2>, group = 2 : i64, pads = array<i64: 1, 3, 2, 4>, strides = array<i64: 2, 3>}
// CHECK-SAME:      : (tensor<1x4x8x9xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x5x4xf32>
func.func @grouped(%x: tensor<1x4x8x9xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<1x6x5x4xf32> {
  %0 = "tri.conv"(%x, %w) {dilations = array<i64: 1, 2>, group = 2 : i64, pads = array<i64: 1, 3, 2, 4>, strides = array<i64: 2, 3>}
      : (tensor<1x4x8x9xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x5x4xf32>
  return %0 : tensor<1x6x5x4xf32>
}

// One spatial axis.
// CHECK-LABEL: func.func @along_a_line
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
// CHECK:         "tri.conv"(%[[X]], %[[W]]) {dilations = array<i64: 1>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
// CHECK-SAME:      : (tensor<2x3x8xf16>, tensor<5x3x1xf16>) -> tensor<2x5x8xf16>
func.func @along_a_line(%x: tensor<2x3x8xf16>, %w: tensor<5x3x1xf16>) -> tensor<2x5x8xf16> {
  %0 = "tri.conv"(%x, %w) {dilations = array<i64: 1>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<2x3x8xf16>, tensor<5x3x1xf16>) -> tensor<2x5x8xf16>
  return %0 : tensor<2x5x8xf16>
}

// Three.
// CHECK-LABEL: func.func @in_space
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
// CHECK:         "tri.conv"(%[[X]], %[[W]]) {dilations = array<i64: 1, 1, 1>, group = 2 : i64, pads = array<i64: 0, 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1>}
// CHECK-SAME:      : (tensor<1x2x4x5x6xf32>, tensor<2x1x2x2x2xf32>) -> tensor<1x2x3x4x5xf32>
func.func @in_space(%x: tensor<1x2x4x5x6xf32>, %w: tensor<2x1x2x2x2xf32>) -> tensor<1x2x3x4x5xf32> {
  %0 = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1, 1>, group = 2 : i64, pads = array<i64: 0, 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1>}
      : (tensor<1x2x4x5x6xf32>, tensor<2x1x2x2x2xf32>) -> tensor<1x2x3x4x5xf32>
  return %0 : tensor<1x2x3x4x5xf32>
}

// CHECK-LABEL: func.func @conv_transpose
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
// CHECK:         "tri.conv_transpose"(%[[X]], %[[W]]) {dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
// CHECK-SAME:      : (tensor<1x4x5x5xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x7x7xf32>
func.func @conv_transpose(%x: tensor<1x4x5x5xf32>, %w: tensor<4x6x3x3xf32>) -> tensor<1x6x7x7xf32> {
  %0 = "tri.conv_transpose"(%x, %w) {dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x4x5x5xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x7x7xf32>
  return %0 : tensor<1x6x7x7xf32>
}

// (5 - 1) * 2 + 3 - 1 - 0 + 1 and (5 - 1) * 3 + 3 - 0 - 2.
// CHECK-LABEL: func.func @grouped_transpose
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.conv_transpose"(%[[X]], %[[W]], %[[B]]) {dilations = array<i64: 1, 1>, group = 2 : i64, output_padding = array<i64: 1, 0>, pads = array<i64: 1, 0, 0, 2>, strides = array<i64: 2, 3>}
// CHECK-SAME:      : (tensor<1x4x5x5xf32>, tensor<4x3x3x3xf32>, tensor<6xf32>) -> tensor<1x6x11x13xf32>
func.func @grouped_transpose(%x: tensor<1x4x5x5xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<6xf32>) -> tensor<1x6x11x13xf32> {
  %0 = "tri.conv_transpose"(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 2 : i64, output_padding = array<i64: 1, 0>, pads = array<i64: 1, 0, 0, 2>, strides = array<i64: 2, 3>}
      : (tensor<1x4x5x5xf32>, tensor<4x3x3x3xf32>, tensor<6xf32>) -> tensor<1x6x11x13xf32>
  return %0 : tensor<1x6x11x13xf32>
}
