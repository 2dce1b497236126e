// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @cholesky
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.cholesky"(%[[X]]) <{upper = true}>
// CHECK-SAME:      : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>)
func.func @cholesky(%x: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>) {
  %0, %1 = "tri.cholesky"(%x) <{upper = true}> : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>)
  return %0, %1 : tensor<2x3x3xf32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @lu
// CHECK:         "tri.lu"
// CHECK-SAME:      : (tensor<4x3xf64>) -> (tensor<4x3xf64>, tensor<3xi32>, tensor<i32>)
// CHECK:         "tri.pivots_to_permutation"
// CHECK-SAME:      size = 4
// CHECK-SAME:      : (tensor<3xi32>) -> tensor<4xi64>
func.func @lu(%x: tensor<4x3xf64>) -> tensor<4xi64> {
  %0, %1, %2 = "tri.lu"(%x) : (tensor<4x3xf64>) -> (tensor<4x3xf64>, tensor<3xi32>, tensor<i32>)
  %3 = "tri.pivots_to_permutation"(%1) {size = 4} : (tensor<3xi32>) -> tensor<4xi64>
  return %3 : tensor<4xi64>
}

// CHECK-LABEL: func.func @triangle
// CHECK:         "tri.solve_triangular"
// CHECK-SAME:      unit_diagonal = true
// CHECK-SAME:      upper = true
// CHECK-SAME:      : (tensor<2x3x3xf32>, tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
func.func @triangle(%x: tensor<2x3x3xf32>, %b: tensor<2x3x1xf32>) -> tensor<2x3x1xf32> {
  %0 = "tri.solve_triangular"(%x, %b) {upper = true, unit_diagonal = true} : (tensor<2x3x3xf32>, tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  return %0 : tensor<2x3x1xf32>
}

// CHECK-LABEL: func.func @qr
// CHECK:         %[[F:.*]]:2 = "tri.householder_qr"
// CHECK:         "tri.householder_product"(%[[F]]#0, %[[F]]#1)
func.func @qr(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %0, %1 = "tri.householder_qr"(%x) : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  %2 = "tri.householder_product"(%0, %1) : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  return %2 : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @spectra
// CHECK:         "tri.eigh"
// CHECK-SAME:      -> (tensor<3xf32>, tensor<3x3xf32>)
// CHECK:         "tri.svd"
// CHECK-SAME:      full_matrices = true
// CHECK-SAME:      -> (tensor<2x2xf32>, tensor<2xf32>, tensor<3x3xf32>)
func.func @spectra(%x: tensor<3x3xf32>, %z: tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %0, %1 = "tri.eigh"(%x) : (tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3x3xf32>)
  %2, %3, %4 = "tri.svd"(%z) {full_matrices = true} : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<3x3xf32>)
  return %0, %3 : tensor<3xf32>, tensor<2xf32>
}
