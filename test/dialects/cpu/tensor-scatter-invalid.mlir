// RUN: trivium-opt %s --verify-diagnostics

func.func @other_rows(%x: tensor<2x8x4xf32>, %new: tensor<2x3x5xf32>, %starts: tensor<2xi64>) {
  // expected-error @below {{'cpu.tensor_scatter' op updates are tensor<2x3x5xf32>, x is tensor<2x8x4xf32>, must be the same but for axis 1}}
  %y = "cpu.tensor_scatter"(%x, %new, %starts) {axis = 1, operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (tensor<2x8x4xf32>, tensor<2x3x5xf32>, tensor<2xi64>) -> tensor<2x8x4xf32>
  return
}
