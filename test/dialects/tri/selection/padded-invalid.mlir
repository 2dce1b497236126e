// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @boxes_of_three_sides(%boxes: tensor<1x5x3xf32>, %scores: tensor<1x2x5xf32>) {
  // expected-error @below {{boxes are tensor<1x5x3xf32>, scores tensor<1x2x5xf32>: must be BxNx4 and BxCxN}}
  %0:2 = "tri.padded_non_max_suppression"(%boxes, %scores)
      {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
      : (tensor<1x5x3xf32>, tensor<1x2x5xf32>) -> (tensor<10x3xi64>, tensor<i64>)
  return
}

// -----

func.func @room_for_too_few(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.padded_non_zero' op result 0 is tensor<2x5xi64>, inferred tensor<2x6xi64>}}
  %0:2 = "tri.padded_non_zero"(%x) : (tensor<2x3xf32>) -> (tensor<2x5xi64>, tensor<i64>)
  return
}
