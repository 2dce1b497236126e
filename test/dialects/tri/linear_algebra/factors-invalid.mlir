// RUN: trivium-opt %s --verify-diagnostics

// Cholesky's factors are of square matrices, and so are eigenvalues.
func.func @matrix_is_not_square(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.cholesky' op input is tensor<2x3xf32>, must have square matrices in its last two axes}}
  %y, %info = "tri.cholesky"(%x) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>)
  return
}

func.func @eigenvalues_of_integers(%x: tensor<3x3xi32>) {
  // expected-error @below {{'tri.eigh' op element type is i32, must be a float}}
  %values, %vectors = "tri.eigh"(%x) : (tensor<3x3xi32>) -> (tensor<3xi32>, tensor<3x3xi32>)
  return
}

func.func @no_matrix(%x: tensor<3xf32>) {
  // expected-error @below {{'tri.lu' op input is tensor<3xf32>, must have matrices in its last two axes}}
  %y, %pivots, %info = "tri.lu"(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi32>, tensor<i32>)
  return
}

func.func @more_pivots_than_rows(%x: tensor<3xi32>) {
  // expected-error @below {{'tri.pivots_to_permutation' op pivots are tensor<3xi32>, must be at most 2 in the last axis}}
  %y = "tri.pivots_to_permutation"(%x) {size = 2} : (tensor<3xi32>) -> tensor<2xi64>
  return
}

func.func @right_side_of_another_type(%x: tensor<3x3xf32>, %b: tensor<3x1xf64>) {
  // expected-error @below {{'tri.solve_triangular' op b is tensor<3x1xf64>, must have the element type of tensor<3x3xf32>}}
  %y = "tri.solve_triangular"(%x, %b) : (tensor<3x3xf32>, tensor<3x1xf64>) -> tensor<3x1xf64>
  return
}

func.func @right_side_without_columns(%x: tensor<3x3xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{'tri.solve_triangular' op b is tensor<3xf32>, must have rows for those of tensor<3x3xf32>}}
  %y = "tri.solve_triangular"(%x, %b) : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

func.func @right_side_of_other_matrices(%x: tensor<2x3x3xf32>, %b: tensor<4x3x1xf32>) {
  // expected-error @below {{'tri.solve_triangular' op b is tensor<4x3x1xf32>, must have rows for those of tensor<2x3x3xf32>}}
  %y = "tri.solve_triangular"(%x, %b) : (tensor<2x3x3xf32>, tensor<4x3x1xf32>) -> tensor<4x3x1xf32>
  return
}

func.func @more_columns_than_rows(%x: tensor<2x3xf32>, %tau: tensor<2xf32>) {
  // expected-error @below {{'tri.householder_product' op input is tensor<2x3xf32>, must not have more columns than rows}}
  %y = "tri.householder_product"(%x, %tau) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

func.func @more_reflections_than_columns(%x: tensor<3x2xf32>, %tau: tensor<3xf32>) {
  // expected-error @below {{'tri.householder_product' op tau is tensor<3xf32>, must have at most 2 for each matrix}}
  %y = "tri.householder_product"(%x, %tau) : (tensor<3x2xf32>, tensor<3xf32>) -> tensor<3x2xf32>
  return
}

func.func @reflections_of_other_matrices(%x: tensor<2x3x2xf32>, %tau: tensor<4x2xf32>) {
  // expected-error @below {{'tri.householder_product' op tau is tensor<4x2xf32>, must be for matrices of tensor<2x3x2xf32>}}
  %y = "tri.householder_product"(%x, %tau) : (tensor<2x3x2xf32>, tensor<4x2xf32>) -> tensor<2x3x2xf32>
  return
}

func.func @reflections_of_another_type(%x: tensor<3x2xf32>, %tau: tensor<2xf64>) {
  // expected-error @below {{'tri.householder_product' op tau is tensor<2xf64>, must have numbers for the columns of tensor<3x2xf32>}}
  %y = "tri.householder_product"(%x, %tau) : (tensor<3x2xf32>, tensor<2xf64>) -> tensor<3x2xf32>
  return
}
