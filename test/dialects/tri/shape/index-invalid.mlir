// RUN: trivium-opt %s --verify-diagnostics

// Indices are integers.
func.func @indices_are_floats(%x: tensor<4xf32>, %indices: tensor<2xf32>) {
  // expected-error @below {{'tri.gather' op element type is f32, must be an integer}}
  %y = "tri.gather"(%x, %indices) : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// Each index has a place of its own.
func.func @indices_of_another_rank(%x: tensor<2x3xf32>, %indices: tensor<3xi64>) {
  // expected-error @below {{'tri.gather_elements' op indices have rank 1, x has rank 2, must be the same}}
  %y = "tri.gather_elements"(%x, %indices) : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// Inside of all other axes.
func.func @indices_are_too_many(%x: tensor<2x3xf32>, %indices: tensor<2x4xi64>) {
  // expected-error @below {{'tri.gather_elements' op indices have size 4 on axis 1, must be at most 3}}
  %y = "tri.gather_elements"(%x, %indices) {axis = 0}
      : (tensor<2x3xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>
  return
}

// Something is left to index.
func.func @all_axes_are_batches(%x: tensor<2x3xf32>, %indices: tensor<2x1xi64>) {
  // expected-error @below {{'tri.gather_nd' op batch_dims is 2, must be in [0, 2)}}
  %y = "tri.gather_nd"(%x, %indices) {batch_dims = 2}
      : (tensor<2x3xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// Batches go together.
func.func @batches_differ(%x: tensor<2x3xf32>, %indices: tensor<4x1xi64>) {
  // expected-error @below {{'tri.gather_nd' op x is tensor<2x3xf32>, indices are tensor<4x1xi64>, must share 1 batch axes}}
  %y = "tri.gather_nd"(%x, %indices) {batch_dims = 1}
      : (tensor<2x3xf32>, tensor<4x1xi64>) -> tensor<4xf32>
  return
}

// A tuple names axes that there are.
func.func @index_tuples_are_too_long(%x: tensor<2x3xf32>, %indices: tensor<4x3xi64>) {
  // expected-error @below {{'tri.gather_nd' op index tuples have 3 entries, must have 1 to 2}}
  %y = "tri.gather_nd"(%x, %indices) : (tensor<2x3xf32>, tensor<4x3xi64>) -> tensor<4xf32>
  return
}

// A place is needed to write to.
func.func @scatters_into_a_scalar(%x: tensor<f32>, %indices: tensor<1xi64>, %updates: tensor<1xf32>) {
  // expected-error @below {{'tri.scatter_nd' op x is tensor<f32>, indices are tensor<1xi64>, must have rank 1 at least}}
  %y = "tri.scatter_nd"(%x, %indices, %updates)
      : (tensor<f32>, tensor<1xi64>, tensor<1xf32>) -> tensor<f32>
  return
}

// One update for each index.
func.func @updates_of_another_shape(%x: tensor<4xf32>, %indices: tensor<2xi64>, %updates: tensor<3xf32>) {
  // expected-error @below {{'tri.scatter_elements' op updates have shape [3], must have [2]}}
  %y = "tri.scatter_elements"(%x, %indices, %updates)
      : (tensor<4xf32>, tensor<2xi64>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// Updates meet in known ways.
func.func @reduction_is_unknown(%x: tensor<4xf32>, %indices: tensor<2xi64>, %updates: tensor<2xf32>) {
  // expected-error @below {{'tri.scatter_elements' op reduction is 'mean', must be one of none, add, mul, max, min}}
  %y = "tri.scatter_elements"(%x, %indices, %updates) {reduction = "mean"}
      : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// Sums are of numbers.
func.func @adds_bools(%x: tensor<4xi1>, %indices: tensor<2x1xi64>, %updates: tensor<2xi1>) {
  // expected-error @below {{'tri.scatter_nd' op reduction is 'add' of i1, must be of numbers}}
  %y = "tri.scatter_nd"(%x, %indices, %updates) {reduction = "add"}
      : (tensor<4xi1>, tensor<2x1xi64>, tensor<2xi1>) -> tensor<4xi1>
  return
}

// Bytes of narrow floats are moved, and not combined: their order is not that of the numbers.
func.func @combines_narrow_floats(%x: tensor<4xf8E8M0FNU>, %indices: tensor<2x1xi64>, %updates: tensor<2xf8E8M0FNU>) {
  // expected-error @below {{'tri.scatter_nd' op reduction is 'min' of f8E8M0FNU, must be of a type to compute with}}
  %y = "tri.scatter_nd"(%x, %indices, %updates) {reduction = "min"}
      : (tensor<4xf8E8M0FNU>, tensor<2x1xi64>, tensor<2xf8E8M0FNU>) -> tensor<4xf8E8M0FNU>
  return
}

// The new axis has a size.
func.func @depth_is_negative(%indices: tensor<3xi64>, %values: tensor<2xf32>) {
  // expected-error @below {{'tri.one_hot' op depth is -1, must not be negative}}
  %y = "tri.one_hot"(%indices, %values) {depth = -1}
      : (tensor<3xi64>, tensor<2xf32>) -> tensor<3x1xf32>
  return
}

// Two values: off and on.
func.func @values_are_three(%indices: tensor<3xi64>, %values: tensor<3xf32>) {
  // expected-error @below {{'tri.one_hot' op values are tensor<3xf32>, must have shape 2}}
  %y = "tri.one_hot"(%indices, %values) {depth = 4}
      : (tensor<3xi64>, tensor<3xf32>) -> tensor<3x4xf32>
  return
}
