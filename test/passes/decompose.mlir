// RUN: trivium-opt %s --decompose | FileCheck %s
// RUN: trivium-opt %s --decompose=ops=silu,gemm | FileCheck %s --check-prefix=SOME

// Rules apply to what rules make: nothing is left that has one.
// CHECK-LABEL: func.func @decomposes_activations
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK-NOT:     tri.silu
// CHECK-NOT:     tri.sigmoid
// CHECK:         "tri.exp"
// CHECK:         "tri.div"
// CHECK:         %[[Y:.*]] = "tri.mul"(%[[X]]
// CHECK:         return %[[Y]]
//
// Or only those for the ops that are named.
// SOME-LABEL:  func.func @decomposes_activations
// SOME:          "tri.sigmoid"
// SOME-NEXT:     "tri.mul"
func.func @decomposes_activations(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tri.silu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @decomposes_gemm
// CHECK-SAME:    (%[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<4x3xf32>, %[[C:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[T:.*]] = "tri.transpose"(%[[B]])
// CHECK-NEXT:    %[[M:.*]] = "tri.mat_mul"(%[[A]], %[[T]])
// CHECK-NEXT:    "tri.add"(%[[M]], %[[C]])
func.func @decomposes_gemm(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>, %c: tensor<4xf32>) -> tensor<2x4xf32> {
  %y = "tri.gemm"(%a, %b, %c) {trans_b = true} : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Half types are normalised in f32.
// CHECK-LABEL: func.func @decomposes_norm_of_halves
// CHECK:         "tri.cast"({{.*}}to = "f32"
// CHECK:         "tri.reduce_mean"({{.*}} -> tensor<2x1xf32>
// CHECK:         "tri.cast"({{.*}}to = "f16"
// CHECK-NEXT:    return
func.func @decomposes_norm_of_halves(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %y = "tri.rms_norm"(%x) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  return %y : tensor<2x3xf16>
}

// Squares of integers wrap around as they are.
// CHECK-LABEL: func.func @keeps_reduction_of_integers
// CHECK:         "tri.reduce_l2"
func.func @keeps_reduction_of_integers(%x: tensor<2xi32>) -> tensor<1xi32> {
  %y = "tri.reduce_l2"(%x) {axes = array<i64: 0>} : (tensor<2xi32>) -> tensor<1xi32>
  return %y : tensor<1xi32>
}

// SOME-LABEL:  func.func @keeps_other_ops
// SOME:          "tri.softmax"
func.func @keeps_other_ops(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tri.softmax"(%x) {axis = 0} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
