// RUN: trivium-opt %s --split-conv-transpose | FileCheck %s

// Outputs two apart see the same tap: four products, whose channels are spread out.
// CHECK-LABEL: func.func @splits_what_does_not_overlap
// CHECK:         %[[C:.*]] = "tri.conv"{{.*}}pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>{{.*}}tensor<12x4x1x1xf32>) -> tensor<1x12x5x6xf32>
// CHECK-NEXT:    %[[Y:.*]] = "tri.depth_to_space"(%[[C]]) {blocksize = 2 : i64, mode = "CRD"}
// CHECK-NEXT:    return %[[Y]]
func.func @splits_what_does_not_overlap(%x: tensor<1x4x5x6xf32>) -> tensor<1x3x10x12xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<4x3x2x2xf32>} : () -> tensor<4x3x2x2xf32>
  %y = "tri.conv_transpose"(%x, %w) {dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>}
      : (tensor<1x4x5x6xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x10x12xf32>
  return %y : tensor<1x3x10x12xf32>
}

// Each output sees two by two taps; a row and a column at each end are cut off.
// CHECK-LABEL: func.func @splits_what_overlaps
// CHECK:         "tri.conv"{{.*}}pads = array<i64: 1, 1, 1, 1>{{.*}}tensor<12x4x2x2xf32>) -> tensor<1x12x6x7xf32>
// CHECK-NEXT:    "tri.depth_to_space"
// CHECK-NEXT:    "tri.slice"{{.*}}sizes = array<i64: 1, 3, 10, 12>, starts = array<i64: 0, 0, 1, 1>
func.func @splits_what_overlaps(%x: tensor<1x4x5x6xf32>) -> tensor<1x3x10x12xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<4x3x4x4xf32>} : () -> tensor<4x3x4x4xf32>
  %y = "tri.conv_transpose"(%x, %w) {dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<1x4x5x6xf32>, tensor<4x3x4x4xf32>) -> tensor<1x3x10x12xf32>
  return %y : tensor<1x3x10x12xf32>
}

// Without a stride it is a convolution with the kernel turned around.
// CHECK-LABEL: func.func @turns_stride_one
// CHECK:         "tri.constant"() {value = dense<{{\[\[\[\[}}4.000000e+00, 3.000000e+00], [2.000000e+00, 1.000000e+00]]]]>
// CHECK:         "tri.conv"{{.*}}pads = array<i64: 1, 1, 1, 1>
// CHECK-NOT:     tri.depth_to_space
func.func @turns_stride_one(%x: tensor<1x1x5x6xf32>) -> tensor<1x1x6x7xf32> {
  %w = "tri.constant"() {value = dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>} : () -> tensor<1x1x2x2xf32>
  %y = "tri.conv_transpose"(%x, %w) {dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x1x5x6xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x6x7xf32>
  return %y : tensor<1x1x6x7xf32>
}

// A kernel of one tap would be filled up to four.
// CHECK-LABEL: func.func @keeps_sparse_kernels
// CHECK:         "tri.conv_transpose"
func.func @keeps_sparse_kernels(%x: tensor<1x4x5x6xf32>) -> tensor<1x3x9x11xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<4x3x1x1xf32>} : () -> tensor<4x3x1x1xf32>
  %y = "tri.conv_transpose"(%x, %w) {dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>}
      : (tensor<1x4x5x6xf32>, tensor<4x3x1x1xf32>) -> tensor<1x3x9x11xf32>
  return %y : tensor<1x3x9x11xf32>
}

// CHECK-LABEL: func.func @keeps_variable_kernels
// CHECK:         "tri.conv_transpose"
func.func @keeps_variable_kernels(%x: tensor<1x4x5x6xf32>, %w: tensor<4x3x2x2xf32>) -> tensor<1x3x10x12xf32> {
  %y = "tri.conv_transpose"(%x, %w) {dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>}
      : (tensor<1x4x5x6xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x10x12xf32>
  return %y : tensor<1x3x10x12xf32>
}

// CHECK-LABEL: func.func @keeps_unequal_strides
// CHECK:         "tri.conv_transpose"
func.func @keeps_unequal_strides(%x: tensor<1x4x5x6xf32>) -> tensor<1x3x10x7xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<4x3x2x2xf32>} : () -> tensor<4x3x2x2xf32>
  %y = "tri.conv_transpose"(%x, %w) {dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 1>}
      : (tensor<1x4x5x6xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x10x7xf32>
  return %y : tensor<1x3x10x7xf32>
}
