// RUN: trivium-opt %s --verify-diagnostics

// Each box has a score for each class.
func.func @scores_of_other_boxes(%boxes: tensor<1x5x4xf32>, %scores: tensor<1x2x6xf32>) {
  // expected-error @below {{'tri.non_max_suppression' op boxes are tensor<1x5x4xf32>, scores tensor<1x2x6xf32>: must be BxNx4 and BxCxN}}
  %y = "tri.non_max_suppression"(%boxes, %scores)
      {count = 1, operandSegmentSizes = array<i32: 1, 1, 0, 0>}
      : (tensor<1x5x4xf32>, tensor<1x2x6xf32>) -> tensor<1x3xi64>
  return
}

// A threshold is one number.
func.func @overlaps(%boxes: tensor<1x5x4xf32>, %scores: tensor<1x2x5xf32>, %t: tensor<2xf32>) {
  // expected-error @below {{'tri.non_max_suppression' op overlap is tensor<2xf32>, must be one number}}
  %y = "tri.non_max_suppression"(%boxes, %scores, %t)
      {count = 1, operandSegmentSizes = array<i32: 1, 1, 1, 0>}
      : (tensor<1x5x4xf32>, tensor<1x2x5xf32>, tensor<2xf32>) -> tensor<1x3xi64>
  return
}

func.func @integer_score(%boxes: tensor<1x5x4xf32>, %scores: tensor<1x2x5xf32>, %t: tensor<i64>) {
  // expected-error @below {{'tri.non_max_suppression' op element type is i64, must be a float}}
  %y = "tri.non_max_suppression"(%boxes, %scores, %t)
      {count = 1, operandSegmentSizes = array<i32: 1, 1, 0, 1>}
      : (tensor<1x5x4xf32>, tensor<1x2x5xf32>, tensor<i64>) -> tensor<1x3xi64>
  return
}

func.func @negative_limit(%boxes: tensor<1x5x4xf32>, %scores: tensor<1x2x5xf32>) {
  // expected-error @below {{'tri.non_max_suppression' op limit is -1, must be at least 0}}
  %y = "tri.non_max_suppression"(%boxes, %scores)
      {count = 1, limit = -1, operandSegmentSizes = array<i32: 1, 1, 0, 0>}
      : (tensor<1x5x4xf32>, tensor<1x2x5xf32>) -> tensor<1x3xi64>
  return
}
