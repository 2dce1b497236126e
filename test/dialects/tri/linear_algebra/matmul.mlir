// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @mat_mul
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.mat_mul"(%[[A]], %[[B]])
// CHECK-SAME:      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
func.func @mat_mul(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = "tri.mat_mul"(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Axes before the last two are batches, which broadcast.
// CHECK-LABEL: func.func @batches
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.mat_mul"(%[[A]], %[[B]])
// CHECK-SAME:      : (tensor<5x1x2x3xf32>, tensor<6x3x4xf32>) -> tensor<5x6x2x4xf32>
func.func @batches(%a: tensor<5x1x2x3xf32>, %b: tensor<6x3x4xf32>) -> tensor<5x6x2x4xf32> {
  %0 = "tri.mat_mul"(%a, %b) : (tensor<5x1x2x3xf32>, tensor<6x3x4xf32>) -> tensor<5x6x2x4xf32>
  return %0 : tensor<5x6x2x4xf32>
}

// A vector is a row on the left and a column on the right.
// CHECK-LABEL: func.func @row
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.mat_mul"(%[[A]], %[[B]])
// CHECK-SAME:      : (tensor<3xf32>, tensor<5x3x4xf32>) -> tensor<5x4xf32>
func.func @row(%a: tensor<3xf32>, %b: tensor<5x3x4xf32>) -> tensor<5x4xf32> {
  %0 = "tri.mat_mul"(%a, %b) : (tensor<3xf32>, tensor<5x3x4xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @column
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.mat_mul"(%[[A]], %[[B]])
// CHECK-SAME:      : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2xi32>
func.func @column(%a: tensor<2x3xi32>, %b: tensor<3xi32>) -> tensor<2xi32> {
  %0 = "tri.mat_mul"(%a, %b) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// CHECK-LABEL: func.func @gemm
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.gemm"(%[[A]], %[[B]])
// CHECK-SAME:      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
func.func @gemm(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = "tri.gemm"(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @transposed_and_scaled
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}}, %[[C:.*]]: {{.*}})
// CHECK:         "tri.gemm"(%[[A]], %[[B]], %[[C]]) {alpha = 5.000000e-01 : f64, beta = 2.000000e+00 : f64, trans_a = true, trans_b = true}
// CHECK-SAME:      : (tensor<3x2xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
func.func @transposed_and_scaled(%a: tensor<3x2xf32>, %b: tensor<4x3xf32>, %c: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = "tri.gemm"(%a, %b, %c) {alpha = 5.000000e-01 : f64, beta = 2.000000e+00 : f64, trans_a = true, trans_b = true}
      : (tensor<3x2xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @einsum
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.einsum"(%[[A]], %[[B]]) {equation = "bij,bjk->bik"}
// CHECK-SAME:      : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
func.func @einsum(%a: tensor<5x2x3xf32>, %b: tensor<5x3x4xf32>) -> tensor<5x2x4xf32> {
  %0 = "tri.einsum"(%a, %b) {equation = "bij,bjk->bik"}
      : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %0 : tensor<5x2x4xf32>
}

// Without an arrow, what occurs once remains, in alphabetical order.
// CHECK-LABEL: func.func @implicit
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.einsum"(%[[A]], %[[B]]) {equation = "ij,jk"}
// CHECK-SAME:      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
func.func @implicit(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = "tri.einsum"(%a, %b) {equation = "ij,jk"}
      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// An ellipsis stands for axes without a name.
// CHECK-LABEL: func.func @ellipsis
// CHECK-SAME:    (%[[A:.*]]: {{.*}})
// CHECK:         "tri.einsum"(%[[A]]) {equation = "...ij->...ji"}
// CHECK-SAME:      : (tensor<5x6x2x3xf32>) -> tensor<5x6x3x2xf32>
func.func @ellipsis(%a: tensor<5x6x2x3xf32>) -> tensor<5x6x3x2xf32> {
  %0 = "tri.einsum"(%a) {equation = "...ij->...ji"}
      : (tensor<5x6x2x3xf32>) -> tensor<5x6x3x2xf32>
  return %0 : tensor<5x6x3x2xf32>
}

// A layer multiplies the last axis, by weights that have a row for each output.
// CHECK-LABEL: func.func @linear
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.linear"(%[[X]], %[[W]], %[[B]])
// CHECK-SAME:      : (tensor<2x5x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
func.func @linear(%x: tensor<2x5x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> tensor<2x5x4xf32> {
  %0 = "tri.linear"(%x, %w, %b) : (tensor<2x5x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  return %0 : tensor<2x5x4xf32>
}

// CHECK-LABEL: func.func @linear_of_a_vector
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}})
// CHECK:         "tri.linear"(%[[X]], %[[W]])
// CHECK-SAME:      : (tensor<3xf16>, tensor<4x3xf16>) -> tensor<4xf16>
func.func @linear_of_a_vector(%x: tensor<3xf16>, %w: tensor<4x3xf16>) -> tensor<4xf16> {
  %0 = "tri.linear"(%x, %w) : (tensor<3xf16>, tensor<4x3xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
