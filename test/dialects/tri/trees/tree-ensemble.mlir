// RUN: trivium-opt %s | FileCheck %s

// Without targets, each leaf has a weight for every target.
// CHECK-LABEL: func.func @all_targets
// CHECK:         "tri.tree_ensemble"({{.*}}) {aggregate = "average", count = 2 : i64
// CHECK-SAME:      -> tensor<?x2xf32, ["N", ""]>
func.func @all_targets(%x: tensor<?x4xf32, ["N", ""]>, %features: tensor<6xi32>,
    %thresholds: tensor<6xf32>, %children: tensor<6x2xi32>, %weights: tensor<6x2xf32>,
    %trees: tensor<2xi32>) -> tensor<?x2xf32, ["N", ""]>
    attributes {trivium.symbols = {N = "0.."}} {
  %y = "tri.tree_ensemble"(%x, %features, %thresholds, %children, %weights, %trees, %trees)
      {aggregate = "average", count = 2, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0>}
      : (tensor<?x4xf32, ["N", ""]>, tensor<6xi32>, tensor<6xf32>, tensor<6x2xi32>,
         tensor<6x2xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x2xf32, ["N", ""]>
  return %y : tensor<?x2xf32, ["N", ""]>
}

// With targets, it has a weight for one of them.
// CHECK-LABEL: func.func @one_target
// CHECK:         "tri.tree_ensemble"({{.*}}) {count = 3 : i64
func.func @one_target(%x: tensor<5x4xf32>, %features: tensor<6xi32>, %thresholds: tensor<6xf32>,
    %children: tensor<6x2xi32>, %weights: tensor<6x1xf32>, %trees: tensor<2xi32>)
    -> tensor<5x3xf32> {
  %y = "tri.tree_ensemble"(%x, %features, %thresholds, %children, %weights, %trees, %trees, %features)
      {count = 3, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1>}
      : (tensor<5x4xf32>, tensor<6xi32>, tensor<6xf32>, tensor<6x2xi32>, tensor<6x1xf32>,
         tensor<2xi32>, tensor<2xi32>, tensor<6xi32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}
