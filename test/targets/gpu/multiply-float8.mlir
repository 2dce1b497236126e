// RUN: trivium-opt %s --multiply-float8 | FileCheck %s

// One scale for all of the left factor, and one for each column of the right one, go behind.
// CHECK-LABEL: func.func @scales_behind
// CHECK-SAME:    (%[[X:.*]]: tensor<5x8xf8E4M3FN>, %[[W:.*]]: tensor<8x3xf8E4M3FN>, %[[S:.*]]: tensor<f32>, %[[T:.*]]: tensor<1x3xf32>)
// CHECK-DAG:     %[[A:.*]] = "tri.cast"(%[[X]]) {saturate = true, to = "f32"}
// CHECK-DAG:     %[[B:.*]] = "tri.cast"(%[[W]]) {saturate = true, to = "f32"}
// CHECK:         %[[P:.*]] = "tri.mat_mul"(%[[A]], %[[B]])
// CHECK-NEXT:    %[[Q:.*]] = "tri.mul"(%[[P]], %[[S]])
// CHECK-NEXT:    %[[Y:.*]] = "tri.mul"(%[[Q]], %[[T]])
// CHECK-NEXT:    return %[[Y]]
func.func @scales_behind(%x: tensor<5x8xf8E4M3FN>, %w: tensor<8x3xf8E4M3FN>, %s: tensor<f32>, %t: tensor<1x3xf32>) -> tensor<5x3xf32> {
  %a = "tri.cast"(%x) {to = "f32"} : (tensor<5x8xf8E4M3FN>) -> tensor<5x8xf32>
  %b = "tri.mul"(%a, %s) : (tensor<5x8xf32>, tensor<f32>) -> tensor<5x8xf32>
  %c = "tri.cast"(%w) {to = "f32"} : (tensor<8x3xf8E4M3FN>) -> tensor<8x3xf32>
  %d = "tri.mul"(%c, %t) : (tensor<8x3xf32>, tensor<1x3xf32>) -> tensor<8x3xf32>
  %y = "tri.mat_mul"(%b, %d) : (tensor<5x8xf32>, tensor<8x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// Halves are rounded once, behind the scales; one scale may be enough, on either side of its product.
// CHECK-LABEL: func.func @sums_in_f32
// CHECK:         %[[P:.*]] = "tri.mat_mul"(%{{.*}}, %{{.*}}) : (tensor<2x5x8xf32>, tensor<8x3xf32>) -> tensor<2x5x3xf32>
// CHECK:         %[[S:.*]] = "tri.cast"(%{{.*}}) {saturate = true, to = "f32"} : (tensor<5x1xf16>) -> tensor<5x1xf32>
// CHECK:         %[[Y:.*]] = "tri.mul"(%[[P]], %[[S]])
// CHECK:         "tri.cast"(%[[Y]]) {saturate = true, to = "f16"}
func.func @sums_in_f32(%x: tensor<2x5x8xf8E5M2>, %w: tensor<8x3xf8E5M2>, %s: tensor<5x1xf16>) -> tensor<2x5x3xf16> {
  %a = "tri.cast"(%x) {to = "f16"} : (tensor<2x5x8xf8E5M2>) -> tensor<2x5x8xf16>
  %b = "tri.mul"(%s, %a) : (tensor<5x1xf16>, tensor<2x5x8xf16>) -> tensor<2x5x8xf16>
  %c = "tri.cast"(%w) {to = "f16"} : (tensor<8x3xf8E5M2>) -> tensor<8x3xf16>
  %y = "tri.mat_mul"(%b, %c) : (tensor<2x5x8xf16>, tensor<8x3xf16>) -> tensor<2x5x3xf16>
  return %y : tensor<2x5x3xf16>
}

// A scale for each number along the depth is part of the sum.
// CHECK-LABEL: func.func @keeps_scales_along_the_depth
// CHECK:         %[[D:.*]] = "tri.mul"
// CHECK:         %[[Y:.*]] = "tri.mat_mul"(%{{.*}}, %[[D]])
// CHECK-NEXT:    return %[[Y]]
func.func @keeps_scales_along_the_depth(%x: tensor<5x8xf8E4M3FN>, %w: tensor<8x3xf8E4M3FN>, %t: tensor<8x1xf32>) -> tensor<5x3xf32> {
  %a = "tri.cast"(%x) {to = "f32"} : (tensor<5x8xf8E4M3FN>) -> tensor<5x8xf32>
  %c = "tri.cast"(%w) {to = "f32"} : (tensor<8x3xf8E4M3FN>) -> tensor<8x3xf32>
  %d = "tri.mul"(%c, %t) : (tensor<8x3xf32>, tensor<8x1xf32>) -> tensor<8x3xf32>
  %y = "tri.mat_mul"(%a, %d) : (tensor<5x8xf32>, tensor<8x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// Units multiply two of one type.
// CHECK-LABEL: func.func @keeps_two_types
// CHECK:         %[[B:.*]] = "tri.mul"
// CHECK:         %[[Y:.*]] = "tri.mat_mul"(%[[B]], %{{.*}})
// CHECK-NEXT:    return %[[Y]]
func.func @keeps_two_types(%x: tensor<5x8xf8E4M3FN>, %w: tensor<8x3xf8E5M2>, %s: tensor<f32>) -> tensor<5x3xf32> {
  %a = "tri.cast"(%x) {to = "f32"} : (tensor<5x8xf8E4M3FN>) -> tensor<5x8xf32>
  %b = "tri.mul"(%a, %s) : (tensor<5x8xf32>, tensor<f32>) -> tensor<5x8xf32>
  %c = "tri.cast"(%w) {to = "f32"} : (tensor<8x3xf8E5M2>) -> tensor<8x3xf32>
  %y = "tri.mat_mul"(%b, %c) : (tensor<5x8xf32>, tensor<8x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// Of f64, sums would be less exact.
// CHECK-LABEL: func.func @keeps_f64
// CHECK:         %[[B:.*]] = "tri.mul"
// CHECK:         %[[Y:.*]] = "tri.mat_mul"(%[[B]], %{{.*}})
// CHECK-NEXT:    return %[[Y]]
func.func @keeps_f64(%x: tensor<5x8xf8E5M2>, %w: tensor<8x3xf8E5M2>, %s: tensor<f64>) -> tensor<5x3xf64> {
  %a = "tri.cast"(%x) {to = "f64"} : (tensor<5x8xf8E5M2>) -> tensor<5x8xf64>
  %b = "tri.mul"(%a, %s) : (tensor<5x8xf64>, tensor<f64>) -> tensor<5x8xf64>
  %c = "tri.cast"(%w) {to = "f64"} : (tensor<8x3xf8E5M2>) -> tensor<8x3xf64>
  %y = "tri.mat_mul"(%b, %c) : (tensor<5x8xf64>, tensor<8x3xf64>) -> tensor<5x3xf64>
  return %y : tensor<5x3xf64>
}

// A scale that makes the tensor larger has elements of its own.
// CHECK-LABEL: func.func @keeps_a_scale_that_broadcasts
// CHECK:         %[[B:.*]] = "tri.mul"
// CHECK:         %[[Y:.*]] = "tri.mat_mul"(%[[B]], %{{.*}})
// CHECK-NEXT:    return %[[Y]]
func.func @keeps_a_scale_that_broadcasts(%x: tensor<5x8xf8E5M2>, %w: tensor<8x3xf8E5M2>, %s: tensor<2x1x1xf32>) -> tensor<2x5x3xf32> {
  %a = "tri.cast"(%x) {to = "f32"} : (tensor<5x8xf8E5M2>) -> tensor<5x8xf32>
  %b = "tri.mul"(%a, %s) : (tensor<5x8xf32>, tensor<2x1x1xf32>) -> tensor<2x5x8xf32>
  %c = "tri.cast"(%w) {to = "f32"} : (tensor<8x3xf8E5M2>) -> tensor<8x3xf32>
  %y = "tri.mat_mul"(%b, %c) : (tensor<2x5x8xf32>, tensor<8x3xf32>) -> tensor<2x5x3xf32>
  return %y : tensor<2x5x3xf32>
}

// A vector has no rows.
// CHECK-LABEL: func.func @keeps_vectors
// CHECK:         %[[B:.*]] = "tri.mul"
// CHECK:         %[[Y:.*]] = "tri.mat_mul"(%[[B]], %{{.*}})
// CHECK-NEXT:    return %[[Y]]
func.func @keeps_vectors(%x: tensor<8xf8E5M2>, %w: tensor<8x3xf8E5M2>, %s: tensor<f32>) -> tensor<3xf32> {
  %a = "tri.cast"(%x) {to = "f32"} : (tensor<8xf8E5M2>) -> tensor<8xf32>
  %b = "tri.mul"(%a, %s) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %c = "tri.cast"(%w) {to = "f32"} : (tensor<8x3xf8E5M2>) -> tensor<8x3xf32>
  %y = "tri.mat_mul"(%b, %c) : (tensor<8xf32>, tensor<8x3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
