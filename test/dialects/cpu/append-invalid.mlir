// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @appends_inside(%x: tensor<2x3x4xf32>, %new: tensor<2x1x4xf32>) {
  // expected-error @below {{'cpu.append' op appends along axis 1 of tensor<2x3x4xf32>, must have sizes 1 before it}}
  %y = "cpu.append"(%x, %new) {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x1x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @appends_other_rows(%x: tensor<1x3x4xf32>, %new: tensor<1x1x5xf32>) {
  // expected-error @below {{'cpu.append' op joins tensor<1x3x4xf32> and tensor<1x1x5xf32>, must differ in axis 1 only}}
  %y = "cpu.append"(%x, %new) {axis = 1 : i64} : (tensor<1x3x4xf32>, tensor<1x1x5xf32>) -> tensor<1x4x4xf32>
  return
}
