// RUN: trivium-opt %s --verify-diagnostics

// All axes have a size.
func.func @sizes_of_fewer_axes(%x: tensor<1x2x4x4xf32>) {
  // expected-error @below {{'tri.resize' op sizes has 2 entries, must have 4}}
  %y = "tri.resize"(%x) {sizes = array<i64: 8, 8>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>}
      : (tensor<1x2x4x4xf32>) -> tensor<1x2x8x8xf32>
  return
}

// And a scale.
func.func @scale_is_zero(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.resize' op scales is (0.0,), must be above 0 and finite}}
  %y = "tri.resize"(%x) {sizes = array<i64: 8>, scales = array<f64: 0.0>}
      : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// Elements between are made in three ways.
func.func @mode_is_unknown(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.resize' op mode is 'area', must be one of nearest, linear, cubic}}
  %y = "tri.resize"(%x) {sizes = array<i64: 8>, scales = array<f64: 2.0>, mode = "area"}
      : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// Their place has a known formula.
func.func @coordinates_are_unknown(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.resize' op coordinate_transform is 'middle', must be one of half_pixel}}
  %y = "tri.resize"(%x)
      {sizes = array<i64: 8>, scales = array<f64: 2.0>, coordinate_transform = "middle"}
      : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// So has the nearest one.
func.func @rounding_is_unknown(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.resize' op nearest_mode is 'up', must be one of round_prefer_floor}}
  %y = "tri.resize"(%x) {sizes = array<i64: 8>, scales = array<f64: 2.0>, nearest_mode = "up"}
      : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// Cropping needs a region.
func.func @crops_nothing(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.resize' op roi has 1 entries, must have 2}}
  %y = "tri.resize"(%x)
      {sizes = array<i64: 8>, scales = array<f64: 2.0>, coordinate_transform = "tf_crop_and_resize", roi = array<f64: 0.0>}
      : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// There is nothing between true and false.
func.func @mixes_bools(%x: tensor<4xi1>) {
  // expected-error @below {{'tri.resize' op element type is i1, mode 'linear' must have a number}}
  %y = "tri.resize"(%x) {sizes = array<i64: 8>, scales = array<f64: 2.0>, mode = "linear"}
      : (tensor<4xi1>) -> tensor<8xi1>
  return
}

// Places between pixels are floats.
func.func @grid_of_integers(%x: tensor<1x2x4x4xf32>, %grid: tensor<1x3x3x2xi64>) {
  // expected-error @below {{'tri.grid_sample' op grid has element type i64, must be a float}}
  %y = "tri.grid_sample"(%x, %grid)
      : (tensor<1x2x4x4xf32>, tensor<1x3x3x2xi64>) -> tensor<1x2x3x3xf32>
  return
}

// Input and grid have the same axes.
func.func @grid_of_another_rank(%x: tensor<1x2x4x4xf32>, %grid: tensor<1x3x2xf32>) {
  // expected-error @below {{'tri.grid_sample' op input has rank 4, grid 3, must be the same, 3 or more}}
  %y = "tri.grid_sample"(%x, %grid) : (tensor<1x2x4x4xf32>, tensor<1x3x2xf32>) -> tensor<1x2x3xf32>
  return
}

// One coordinate for each.
func.func @grid_of_three_coordinates(%x: tensor<1x2x4x4xf32>, %grid: tensor<1x3x3x3xf32>) {
  // expected-error @below {{'tri.grid_sample' op grid is tensor<1x3x3x3xf32>, must have 1 batches and 2 axes}}
  %y = "tri.grid_sample"(%x, %grid)
      : (tensor<1x2x4x4xf32>, tensor<1x3x3x3xf32>) -> tensor<1x2x3x3xf32>
  return
}

// Outside has a known look.
func.func @padding_is_unknown(%x: tensor<1x2x4x4xf32>, %grid: tensor<1x3x3x2xf32>) {
  // expected-error @below {{'tri.grid_sample' op padding_mode is 'wrap', must be one of zeros, border, reflection}}
  %y = "tri.grid_sample"(%x, %grid) {padding_mode = "wrap"}
      : (tensor<1x2x4x4xf32>, tensor<1x3x3x2xf32>) -> tensor<1x2x3x3xf32>
  return
}

// There is nothing between pixels that are not there.
func.func @resizes_nothing(%x: tensor<1x0x4xf32>) {
  // expected-error @below {{'tri.resize' op input is tensor<1x0x4xf32>, must not be empty along axis 1}}
  %y = "tri.resize"(%x) {scales = array<f64: 1.0, 2.0, 1.0>, sizes = array<i64: 1, 2, 4>}
      : (tensor<1x0x4xf32>) -> tensor<1x2x4xf32>
  return
}

func.func @samples_nothing(%x: tensor<1x2x0x4xf32>, %grid: tensor<1x3x3x2xf32>) {
  // expected-error @below {{'tri.grid_sample' op input is tensor<1x2x0x4xf32>, must have pixels}}
  %y = "tri.grid_sample"(%x, %grid)
      : (tensor<1x2x0x4xf32>, tensor<1x3x3x2xf32>) -> tensor<1x2x3x3xf32>
  return
}

// The table of weights of an axis is in the kernel.
func.func @table_is_too_large(%x: tensor<1x1x8x8xf32>) {
  // expected-error @below {{'tri.resize' op needs 800000000 weights to resample axis 3, must need at most 67108864}}
  %y = "tri.resize"(%x) {sizes = array<i64: 1, 1, 8, 100000000>, scales = array<f64: 1.0, 1.0, 1.0, 12500000.0>, mode = "linear"}
      : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x100000000xf32>
  return
}
