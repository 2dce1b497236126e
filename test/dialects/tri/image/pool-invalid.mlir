// RUN: trivium-opt %s --verify-diagnostics

// There is something to slide over.
func.func @no_spatial_axis(%x: tensor<1x4xf32>) {
  // expected-error @below {{'tri.max_pool' op input has rank 2, must have 3 or more: batch, channels, pixels}}
  %y = "tri.max_pool"(%x)
      {kernel = array<i64>, strides = array<i64>, pads = array<i64>, dilations = array<i64>}
      : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}

// The kernel has all spatial axes.
func.func @kernel_of_another_rank(%x: tensor<1x4x8xf32>) {
  // expected-error @below {{'tri.max_pool' op kernel has 2 axes, input has 1 spatial ones}}
  %y = "tri.max_pool"(%x)
      {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x8xf32>) -> tensor<1x4x7xf32>
  return
}

// Pads are begins, then ends.
func.func @too_few_pads(%x: tensor<1x4x8x8xf32>) {
  // expected-error @below {{'tri.average_pool' op pads has 2 entries, must have 4}}
  %y = "tri.average_pool"(%x)
      {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x8x8xf32>) -> tensor<1x4x7x7xf32>
  return
}

// Taps are apart.
func.func @dilation_is_zero(%x: tensor<1x4x8x8xf32>) {
  // expected-error @below {{'tri.max_pool' op dilations is (1, 0), must be at least 1}}
  %y = "tri.max_pool"(%x)
      {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 0>}
      : (tensor<1x4x8x8xf32>) -> tensor<1x4x7x7xf32>
  return
}

// An average is a float.
func.func @average_of_integers(%x: tensor<1x4x8x8xi8>) {
  // expected-error @below {{'tri.average_pool' op element type is i8, must be a float}}
  %y = "tri.average_pool"(%x)
      {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x4x8x8xi8>) -> tensor<1x4x7x7xi8>
  return
}

// Indices count by rows or by columns.
func.func @storage_order_is_unknown(%x: tensor<1x4x8x8xf32>) {
  // expected-error @below {{'tri.max_pool_indices' op storage_order is 2, must be 0 or 1}}
  %y:2 = "tri.max_pool_indices"(%x)
      {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, storage_order = 2}
      : (tensor<1x4x8x8xf32>) -> (tensor<1x4x7x7xf32>, tensor<1x4x7x7xi64>)
  return
}

// A norm has a power.
func.func @power_is_zero(%x: tensor<1x4x8x8xf32>) {
  // expected-error @below {{'tri.lp_pool' op p is 0, must be at least 1}}
  %y = "tri.lp_pool"(%x)
      {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, p = 0}
      : (tensor<1x4x8x8xf32>) -> tensor<1x4x7x7xf32>
  return
}

// What is to be cast first is not compared.
func.func @pools_narrow(%x: tensor<1x1x2xi4>) {
  // expected-error @below {{'tri.max_pool' op element type is i4, must be one to compute with: cast it}}
  %y = "tri.max_pool"(%x) {kernel = array<i64: 2>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x1x2xi4>) -> tensor<1x1x1xi4>
  return
}
