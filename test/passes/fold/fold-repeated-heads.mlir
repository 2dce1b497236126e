// RUN: trivium-opt %s --fold-repeated-heads --fold-shapes --eliminate | FileCheck %s

// Four query heads share two heads of keys and values.
// CHECK-LABEL: func.func @shares_heads
// CHECK-SAME:    (%[[Q:.*]]: tensor<1x4x3x8xf32>, %[[K:.*]]: tensor<1x2x5x8xf32>, %[[V:.*]]: tensor<1x2x5x6xf32>)
// CHECK-NEXT:    "tri.attention"(%[[Q]], %[[K]], %[[V]])
func.func @shares_heads(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x6xf32>) -> tensor<1x4x3x6xf32> {
  %a = "tri.reshape"(%k) {shape = array<i64: 1, 2, 1, 5, 8>} : (tensor<1x2x5x8xf32>) -> tensor<1x2x1x5x8xf32>
  %b = "tri.expand"(%a) {shape = array<i64: 1, 2, 2, 5, 8>} : (tensor<1x2x1x5x8xf32>) -> tensor<1x2x2x5x8xf32>
  %c = "tri.reshape"(%b) {shape = array<i64: 1, 4, 5, 8>} : (tensor<1x2x2x5x8xf32>) -> tensor<1x4x5x8xf32>
  %d = "tri.reshape"(%v) {shape = array<i64: 1, 2, 1, 5, 6>} : (tensor<1x2x5x6xf32>) -> tensor<1x2x1x5x6xf32>
  %e = "tri.expand"(%d) {shape = array<i64: 1, 2, 2, 5, 6>} : (tensor<1x2x1x5x6xf32>) -> tensor<1x2x2x5x6xf32>
  %f = "tri.reshape"(%e) {shape = array<i64: 1, 4, 5, 6>} : (tensor<1x2x2x5x6xf32>) -> tensor<1x4x5x6xf32>
  %y = "tri.attention"(%q, %c, %f) {scale = 1.0} : (tensor<1x4x3x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x6xf32>) -> tensor<1x4x3x6xf32>
  return %y : tensor<1x4x3x6xf32>
}

// Here the heads come one after another, then all again: query head 1 would meet another key head.
// CHECK-LABEL: func.func @keeps_repetition_of_all_heads
// CHECK:         "tri.expand"
func.func @keeps_repetition_of_all_heads(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x5x8xf32>) -> tensor<1x4x3x8xf32> {
  %a = "tri.reshape"(%k) {shape = array<i64: 1, 1, 2, 5, 8>} : (tensor<1x2x5x8xf32>) -> tensor<1x1x2x5x8xf32>
  %b = "tri.expand"(%a) {shape = array<i64: 1, 2, 2, 5, 8>} : (tensor<1x1x2x5x8xf32>) -> tensor<1x2x2x5x8xf32>
  %c = "tri.reshape"(%b) {shape = array<i64: 1, 4, 5, 8>} : (tensor<1x2x2x5x8xf32>) -> tensor<1x4x5x8xf32>
  %y = "tri.attention"(%q, %c, %c) {scale = 1.0} : (tensor<1x4x3x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x3x8xf32>
  return %y : tensor<1x4x3x8xf32>
}

// Only the keys are repeated; the values are different for each head.
// CHECK-LABEL: func.func @keeps_repetition_of_keys_only
// CHECK:         "tri.expand"
func.func @keeps_repetition_of_keys_only(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x4x5x6xf32>) -> tensor<1x4x3x6xf32> {
  %a = "tri.reshape"(%k) {shape = array<i64: 1, 2, 1, 5, 8>} : (tensor<1x2x5x8xf32>) -> tensor<1x2x1x5x8xf32>
  %b = "tri.expand"(%a) {shape = array<i64: 1, 2, 2, 5, 8>} : (tensor<1x2x1x5x8xf32>) -> tensor<1x2x2x5x8xf32>
  %c = "tri.reshape"(%b) {shape = array<i64: 1, 4, 5, 8>} : (tensor<1x2x2x5x8xf32>) -> tensor<1x4x5x8xf32>
  %y = "tri.attention"(%q, %c, %v) {scale = 1.0} : (tensor<1x4x3x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x6xf32>) -> tensor<1x4x3x6xf32>
  return %y : tensor<1x4x3x6xf32>
}
