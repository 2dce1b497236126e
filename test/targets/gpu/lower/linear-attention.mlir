// RUN: trivium-opt %s --split-input-file --lower-to-tile | FileCheck %s

// A program carries all keys of some columns of a state; two heads of queries ask each one.
// CHECK-LABEL: func.func @carries_columns_of_the_state
// CHECK:         "tile.for"
// CHECK:           function = "exp"
// CHECK:           "tile.for"
// CHECK:             kind = "sum"
// CHECK:             "tile.store"
// CHECK:         "tile.store"
// CHECK:         blocks = ["KEYS=4", "BN=32"]
// CHECK-SAME:    grid = ["32/BN", "1", "1"]
func.func @carries_columns_of_the_state(%q: tensor<1x5x2x4xf32>, %k: tensor<1x5x1x4xf32>, %v: tensor<1x5x1x32xf32>, %d: tensor<1x5x1x4xf32>) -> (tensor<1x5x2x32xf32>, tensor<1x1x4x32xf32>) {
  %y:2 = "tri.group"(%q, %k, %v, %d) ({
  ^bb0(%qi: tensor<1x5x2x4xf32>, %ki: tensor<1x5x1x4xf32>, %vi: tensor<1x5x1x32xf32>, %di: tensor<1x5x1x4xf32>):
    %r:2 = "tri.linear_attention"(%qi, %ki, %vi, %di) {scale = 1.0, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>} : (tensor<1x5x2x4xf32>, tensor<1x5x1x4xf32>, tensor<1x5x1x32xf32>, tensor<1x5x1x4xf32>) -> (tensor<1x5x2x32xf32>, tensor<1x1x4x32xf32>)
    "tri.yield"(%r#0, %r#1) : (tensor<1x5x2x32xf32>, tensor<1x1x4x32xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x5x2x4xf32>, tensor<1x5x1x4xf32>, tensor<1x5x1x32xf32>, tensor<1x5x1x4xf32>) -> (tensor<1x5x2x32xf32>, tensor<1x1x4x32xf32>)
  return %y#0, %y#1 : tensor<1x5x2x32xf32>, tensor<1x1x4x32xf32>
}

// -----

// Without a decay nothing is raised to a power.
// CHECK-LABEL: func.func @keeps_all_of_the_state
// CHECK-NOT:     "exp"
// CHECK:         blocks = ["KEYS=4", "BN=32"]
func.func @keeps_all_of_the_state(%q: tensor<1x5x2x4xf32>, %v: tensor<1x5x2x32xf32>) -> (tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>) {
  %y:2 = "tri.group"(%q, %v) ({
  ^bb0(%qi: tensor<1x5x2x4xf32>, %vi: tensor<1x5x2x32xf32>):
    %r:2 = "tri.linear_attention"(%qi, %qi, %vi) {scale = 1.0, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<1x5x2x4xf32>, tensor<1x5x2x4xf32>, tensor<1x5x2x32xf32>) -> (tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>)
    "tri.yield"(%r#0, %r#1) : (tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x5x2x4xf32>, tensor<1x5x2x32xf32>) -> (tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>)
  return %y#0, %y#1 : tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>
}
