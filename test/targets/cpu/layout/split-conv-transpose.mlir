// RUN: trivium-opt %s --split-conv-transpose=machine=x86-64-v4 | FileCheck %s

// Outputs two apart see the same tap: four products, whose channels are spread out.
// CHECK-LABEL: func.func @splits_what_does_not_overlap
// CHECK:         %[[C:.*]] = "tri.conv"{{.*}}pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>{{.*}}tensor<12x4x1x1xf32>) -> tensor<1x12x5x6xf32>
// CHECK-NEXT:    %[[Y:.*]] = "tri.depth_to_space"(%[[C]]) {blocksize = 2 : i64, mode = "DCR"}
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

// Two sets of outputs, one row apart: their rows are interleaved.
// CHECK-LABEL: func.func @interleaves_unequal_strides
// CHECK:         %[[C:.*]] = "tri.conv"{{.*}}tensor<6x4x1x2xf32>) -> tensor<1x6x5x7xf32>
// CHECK-NEXT:    %[[S:.*]] = "tri.reshape"(%[[C]]) {shape = array<i64: 1, 3, 2, 1, 5, 7>}
// CHECK-NEXT:    %[[T:.*]] = "tri.transpose"(%[[S]]) {permutation = array<i64: 0, 1, 4, 2, 5, 3>}
// CHECK-NEXT:    %[[Y:.*]] = "tri.reshape"(%[[T]]) {shape = array<i64: 1, 3, 10, 7>}
// CHECK-NEXT:    return %[[Y]]
func.func @interleaves_unequal_strides(%x: tensor<1x4x5x6xf32>) -> tensor<1x3x10x7xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<4x3x2x2xf32>} : () -> tensor<4x3x2x2xf32>
  %y = "tri.conv_transpose"(%x, %w) {dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 1>}
      : (tensor<1x4x5x6xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x10x7xf32>
  return %y : tensor<1x3x10x7xf32>
}

// In one dimension as in two.
// CHECK-LABEL: func.func @splits_lines
// CHECK:         "tri.conv"{{.*}}pads = array<i64: 1, 1>{{.*}}tensor<12x3x2xf32>) -> tensor<1x12x6xf32>
// CHECK-NEXT:    "tri.reshape"{{.*}}shape = array<i64: 1, 3, 4, 6>
// CHECK-NEXT:    "tri.transpose"{{.*}}permutation = array<i64: 0, 1, 3, 2>
// CHECK-NEXT:    "tri.reshape"{{.*}}shape = array<i64: 1, 3, 24>
// CHECK-NEXT:    "tri.slice"{{.*}}sizes = array<i64: 1, 3, 20>, starts = array<i64: 0, 0, 2>
func.func @splits_lines(%x: tensor<1x3x5xf32>) -> tensor<1x3x20xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<3x3x8xf32>} : () -> tensor<3x3x8xf32>
  %y = "tri.conv_transpose"(%x, %w) {dilations = array<i64: 1>, output_padding = array<i64: 0>, pads = array<i64: 2, 2>, strides = array<i64: 4>}
      : (tensor<1x3x5xf32>, tensor<3x3x8xf32>) -> tensor<1x3x20xf32>
  return %y : tensor<1x3x20xf32>
}

// Whole blocks of channels: no image need be spread out.
// CHECK-LABEL: func.func @leaves_blocks
// CHECK:         "tri.conv_transpose"
func.func @leaves_blocks(%x: tensor<1x16x5xf32>) -> tensor<1x16x20xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x16x8xf32>} : () -> tensor<16x16x8xf32>
  %y = "tri.conv_transpose"(%x, %w) {dilations = array<i64: 1>, output_padding = array<i64: 0>, pads = array<i64: 2, 2>, strides = array<i64: 4>}
      : (tensor<1x16x5xf32>, tensor<16x16x8xf32>) -> tensor<1x16x20xf32>
  return %y : tensor<1x16x20xf32>
}

// Blocks of channels do not help where the last set of outputs lacks one.
// CHECK-LABEL: func.func @splits_odd_results
// CHECK:         "tri.conv"
// CHECK-NOT:     "tri.conv_transpose"
func.func @splits_odd_results(%x: tensor<1x16x5xf32>) -> tensor<1x16x11xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x16x3xf32>} : () -> tensor<16x16x3xf32>
  %y = "tri.conv_transpose"(%x, %w) {dilations = array<i64: 1>, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
      : (tensor<1x16x5xf32>, tensor<16x16x3xf32>) -> tensor<1x16x11xf32>
  return %y : tensor<1x16x11xf32>
}
