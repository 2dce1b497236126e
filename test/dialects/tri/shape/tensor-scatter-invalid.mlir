// RUN: trivium-opt %s --verify-diagnostics

// Axis 0 has the entries, each with a place of its own.
func.func @scatters_entries(%x: tensor<8x4xf32>, %new: tensor<3x4xf32>, %starts: tensor<8xi64>) {
  // expected-error @below {{'tri.tensor_scatter' op axis is 0, that of the entries, must be another one}}
  %y = "tri.tensor_scatter"(%x, %new, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (tensor<8x4xf32>, tensor<3x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  return
}

// Rows are as wide as those of x.
func.func @rows_are_narrow(%x: tensor<2x8x4xf32>, %new: tensor<2x3x3xf32>, %starts: tensor<2xi64>) {
  // expected-error @below {{'tri.tensor_scatter' op updates are tensor<2x3x3xf32>, x is tensor<2x8x4xf32>, must be the same but for axis 1}}
  %y = "tri.tensor_scatter"(%x, %new, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (tensor<2x8x4xf32>, tensor<2x3x3xf32>, tensor<2xi64>) -> tensor<2x8x4xf32>
  return
}

// No row is written twice.
func.func @rows_are_many(%x: tensor<2x8x4xf32>, %new: tensor<2x9x4xf32>, %starts: tensor<2xi64>) {
  // expected-error @below {{'tri.tensor_scatter' op updates have 9 rows, must be at most 8, those of x}}
  %y = "tri.tensor_scatter"(%x, %new, %starts) {circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (tensor<2x8x4xf32>, tensor<2x9x4xf32>, tensor<2xi64>) -> tensor<2x8x4xf32>
  return
}

// One place for each entry.
func.func @one_start(%x: tensor<2x8x4xf32>, %new: tensor<2x3x4xf32>, %starts: tensor<1xi64>) {
  // expected-error @below {{'tri.tensor_scatter' op starts are tensor<1xi64>, must be one integer for each of 2 entries}}
  %y = "tri.tensor_scatter"(%x, %new, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (tensor<2x8x4xf32>, tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x8x4xf32>
  return
}

func.func @counts_are_floats(%x: tensor<2x8x4xf32>, %new: tensor<2x3x4xf32>, %starts: tensor<2xi64>, %counts: tensor<2xf32>) {
  // expected-error @below {{'tri.tensor_scatter' op element type is f32, must be an integer}}
  %y = "tri.tensor_scatter"(%x, %new, %starts, %counts) {operandSegmentSizes = array<i32: 1, 1, 1, 1>}
      : (tensor<2x8x4xf32>, tensor<2x3x4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<2x8x4xf32>
  return
}
