// RUN: trivium-opt %s --split-input-file --verify-diagnostics

// Samples are rows.
func.func @a_vector(%x: tensor<4xf32>, %features: tensor<6xi32>, %thresholds: tensor<6xf32>,
    %children: tensor<6x2xi32>, %weights: tensor<6x1xf32>, %trees: tensor<2xi32>) {
  // expected-error @below {{'tri.tree_ensemble' op x is tensor<4xf32>, must have rank 2}}
  %y = "tri.tree_ensemble"(%x, %features, %thresholds, %children, %weights, %trees, %trees)
      {count = 1, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0>}
      : (tensor<4xf32>, tensor<6xi32>, tensor<6xf32>, tensor<6x2xi32>, tensor<6x1xf32>, tensor<2xi32>,
         tensor<2xi32>) -> tensor<5x1xf32>
  return
}

// -----

// A node has a row of weights.
func.func @weights_of_a_vector(%x: tensor<5x4xf32>, %features: tensor<6xi32>, %thresholds: tensor<6xf32>,
    %children: tensor<6x2xi32>, %weights: tensor<6xf32>, %trees: tensor<2xi32>) {
  // expected-error @below {{'tri.tree_ensemble' op features are tensor<6xi32>, weights tensor<6xf32>, must have rank 1 and 2}}
  %y = "tri.tree_ensemble"(%x, %features, %thresholds, %children, %weights, %trees, %trees)
      {count = 1, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0>}
      : (tensor<5x4xf32>, tensor<6xi32>, tensor<6xf32>, tensor<6x2xi32>, tensor<6xf32>, tensor<2xi32>,
         tensor<2xi32>) -> tensor<5x1xf32>
  return
}

// -----

// A node has two children.
func.func @one_child(%x: tensor<5x4xf32>, %features: tensor<6xi32>, %thresholds: tensor<6xf32>,
    %children: tensor<6xi32>, %weights: tensor<6x1xf32>, %trees: tensor<2xi32>) {
  // expected-error @below {{'tri.tree_ensemble' op children are tensor<6xi32>, must be tensor<6x2xi32>}}
  %y = "tri.tree_ensemble"(%x, %features, %thresholds, %children, %weights, %trees, %trees)
      {count = 1, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0>}
      : (tensor<5x4xf32>, tensor<6xi32>, tensor<6xf32>, tensor<6xi32>, tensor<6x1xf32>, tensor<2xi32>,
         tensor<2xi32>) -> tensor<5x1xf32>
  return
}

// -----

// All arrays are of the same nodes.
func.func @other_nodes(%x: tensor<5x4xf32>, %features: tensor<6xi32>, %thresholds: tensor<7xf32>,
    %children: tensor<6x2xi32>, %weights: tensor<6x1xf32>, %trees: tensor<2xi32>) {
  // expected-error @below {{'tri.tree_ensemble' op thresholds are tensor<7xf32>, must be tensor<6xf32>}}
  %y = "tri.tree_ensemble"(%x, %features, %thresholds, %children, %weights, %trees, %trees)
      {count = 1, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0>}
      : (tensor<5x4xf32>, tensor<6xi32>, tensor<7xf32>, tensor<6x2xi32>, tensor<6x1xf32>, tensor<2xi32>,
         tensor<2xi32>) -> tensor<5x1xf32>
  return
}

// -----

// Without targets, a leaf has weights for all of them.
func.func @some_targets(%x: tensor<5x4xf32>, %features: tensor<6xi32>, %thresholds: tensor<6xf32>,
    %children: tensor<6x2xi32>, %weights: tensor<6x1xf32>, %trees: tensor<2xi32>) {
  // expected-error @below {{'tri.tree_ensemble' op weights are tensor<6x1xf32>, must have as many as 3 columns}}
  %y = "tri.tree_ensemble"(%x, %features, %thresholds, %children, %weights, %trees, %trees)
      {count = 3, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0>}
      : (tensor<5x4xf32>, tensor<6xi32>, tensor<6xf32>, tensor<6x2xi32>, tensor<6x1xf32>, tensor<2xi32>,
         tensor<2xi32>) -> tensor<5x1xf32>
  return
}

// -----

// Aggregates are those of ONNX.
func.func @a_median(%x: tensor<5x4xf32>, %features: tensor<6xi32>, %thresholds: tensor<6xf32>,
    %children: tensor<6x2xi32>, %weights: tensor<6x1xf32>, %trees: tensor<2xi32>) {
  // expected-error @below {{'tri.tree_ensemble' op aggregate is 'median', must be one of sum, average, min, max}}
  %y = "tri.tree_ensemble"(%x, %features, %thresholds, %children, %weights, %trees, %trees)
      {aggregate = "median", count = 1, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0>}
      : (tensor<5x4xf32>, tensor<6xi32>, tensor<6xf32>, tensor<6x2xi32>, tensor<6x1xf32>, tensor<2xi32>,
         tensor<2xi32>) -> tensor<5x1xf32>
  return
}
