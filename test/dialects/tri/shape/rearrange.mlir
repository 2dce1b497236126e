// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @reverse_sequence
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[SEQUENCE_LENS:.*]]: {{.*}})
// CHECK:         "tri.reverse_sequence"(%[[X]], %[[SEQUENCE_LENS]]) {batch_axis = 0 : i64, time_axis = 1 : i64}
// CHECK-SAME:      : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
func.func @reverse_sequence(%x: tensor<2x3xf32>, %sequence_lens: tensor<2xi64>) -> tensor<2x3xf32> {
  %0 = "tri.reverse_sequence"(%x, %sequence_lens) {batch_axis = 0 : i64, time_axis = 1 : i64}
      : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @depth_to_space
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.depth_to_space"(%[[X]]) {blocksize = 2 : i64}
// CHECK-SAME:      : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
func.func @depth_to_space(%x: tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32> {
  %0 = "tri.depth_to_space"(%x) {blocksize = 2 : i64}
      : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
  return %0 : tensor<1x2x4x6xf32>
}

// CHECK-LABEL: func.func @columns_and_rows_first
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.depth_to_space"(%[[X]]) {blocksize = 2 : i64, mode = "CRD"}
// CHECK-SAME:      : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
func.func @columns_and_rows_first(%x: tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32> {
  %0 = "tri.depth_to_space"(%x) {blocksize = 2 : i64, mode = "CRD"}
      : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
  return %0 : tensor<1x2x4x6xf32>
}

// CHECK-LABEL: func.func @space_to_depth
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.space_to_depth"(%[[X]]) {blocksize = 2 : i64}
// CHECK-SAME:      : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
func.func @space_to_depth(%x: tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32> {
  %0 = "tri.space_to_depth"(%x) {blocksize = 2 : i64}
      : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
  return %0 : tensor<1x8x2x3xf32>
}

// CHECK-LABEL: func.func @channel_shuffle
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.channel_shuffle"(%[[X]]) {groups = 2 : i64} : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
func.func @channel_shuffle(%x: tensor<1x6x4xf32>) -> tensor<1x6x4xf32> {
  %0 = "tri.channel_shuffle"(%x) {groups = 2 : i64} : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
  return %0 : tensor<1x6x4xf32>
}

// CHECK-LABEL: func.func @roll
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.roll"(%[[X]]) {axes = array<i64: 0, 1>, shifts = array<i64: -1, 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @roll(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.roll"(%x) {axes = array<i64: 0, 1>, shifts = array<i64: -1, 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
