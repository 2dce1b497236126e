// RUN: trivium-opt %s --read-in-place | FileCheck %s

// Queries, keys and values are parts of one product; the result is stored as what reads it.
// CHECK-LABEL: func.func @heads
// CHECK:         %[[Y:.*]] = "tri.group"(%arg0)
// CHECK:           "tri.slice"{{.*}}starts = array<i64: 2, 0, 0, 0, 0>
// CHECK:           "tri.attention"
// CHECK-NEXT:      %[[T:.*]] = "tri.transpose"
// CHECK-NEXT:      "tri.yield"(%[[T]])
// CHECK:         return %[[Y]]
func.func @heads(%x: tensor<1x5x12xf32>) -> tensor<1x5x2x2xf32> {
  %0 = "tri.reshape"(%x) {shape = array<i64: 1, 5, 3, 2, 2>} : (tensor<1x5x12xf32>) -> tensor<1x5x3x2x2xf32>
  %1 = "tri.transpose"(%0) {permutation = array<i64: 2, 0, 3, 1, 4>} : (tensor<1x5x3x2x2xf32>) -> tensor<3x1x2x5x2xf32>
  %2:3 = "tri.split"(%1) {axis = 0 : i64, sizes = array<i64: 1, 1, 1>} : (tensor<3x1x2x5x2xf32>) -> (tensor<1x1x2x5x2xf32>, tensor<1x1x2x5x2xf32>, tensor<1x1x2x5x2xf32>)
  %3 = "tri.reshape"(%2#0) {shape = array<i64: 1, 2, 5, 2>} : (tensor<1x1x2x5x2xf32>) -> tensor<1x2x5x2xf32>
  %4 = "tri.reshape"(%2#1) {shape = array<i64: 1, 2, 5, 2>} : (tensor<1x1x2x5x2xf32>) -> tensor<1x2x5x2xf32>
  %5 = "tri.reshape"(%2#2) {shape = array<i64: 1, 2, 5, 2>} : (tensor<1x1x2x5x2xf32>) -> tensor<1x2x5x2xf32>
  %6 = "tri.attention"(%3, %4, %5) {causal = false, fills = array<f64>, scale = 1.0 : f64} : (tensor<1x2x5x2xf32>, tensor<1x2x5x2xf32>, tensor<1x2x5x2xf32>) -> tensor<1x2x5x2xf32>
  %7 = "tri.transpose"(%6) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x2x5x2xf32>) -> tensor<1x5x2x2xf32>
  return %7 : tensor<1x5x2x2xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK:         "tri.group"(%arg0, %arg1)
// CHECK:           "tri.slice"
// CHECK:           "tri.concat"
func.func @rows(%x: tensor<2x3x4xf32>, %new: tensor<1x1x4xf32>) -> tensor<1x4x4xf32> {
  %0 = "tri.slice"(%x) {sizes = array<i64: 1, 3, 4>, starts = array<i64: 1, 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<2x3x4xf32>) -> tensor<1x3x4xf32>
  %1 = "tri.concat"(%0, %new) {axis = 1 : i64} : (tensor<1x3x4xf32>, tensor<1x1x4xf32>) -> tensor<1x4x4xf32>
  return %1 : tensor<1x4x4xf32>
}

// Elements that are apart, rows that share few sets of a cache, a reshape alone, and other readers.
// CHECK-LABEL: func.func @keeps_what_is_apart
// CHECK-NOT:     "tri.group"
func.func @keeps_what_is_apart(%x: tensor<4x3xf32>, %far: tensor<1x20x8x128xf32>, %k: tensor<1x8x20x128xf32>) -> (tensor<6x4xf32>, tensor<1x8x20x128xf32>, tensor<24xf32>, tensor<3x4xf32>) {
  %0 = "tri.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = "tri.concat"(%0, %0) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
  %2 = "tri.transpose"(%far) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x20x8x128xf32>) -> tensor<1x8x20x128xf32>
  %3 = "tri.attention"(%2, %k, %k) {causal = false, fills = array<f64>, scale = 1.0 : f64} : (tensor<1x8x20x128xf32>, tensor<1x8x20x128xf32>, tensor<1x8x20x128xf32>) -> tensor<1x8x20x128xf32>
  %4 = "tri.reshape"(%x) {shape = array<i64: 12>} : (tensor<4x3xf32>) -> tensor<12xf32>
  %5 = "tri.concat"(%4, %4) {axis = 0 : i64} : (tensor<12xf32>, tensor<12xf32>) -> tensor<24xf32>
  %6 = "tri.relu"(%0) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %1, %3, %5, %6 : tensor<6x4xf32>, tensor<1x8x20x128xf32>, tensor<24xf32>, tensor<3x4xf32>
}
