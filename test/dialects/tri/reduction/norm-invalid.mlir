// RUN: trivium-opt %s --verify-diagnostics

// Channels are axis 1.
func.func @batch_norm_without_channels(%x: tensor<4xf32>, %scale: tensor<4xf32>, %bias: tensor<4xf32>, %mean: tensor<4xf32>, %var: tensor<4xf32>) {
  // expected-error @below {{'tri.batch_norm' op input has rank 1, must have 2 or more: batch, channels, …}}
  %y = "tri.batch_norm"(%x, %scale, %bias, %mean, %var)
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// Each channel has its own numbers.
func.func @variance_of_another_size(%x: tensor<2x4x3xf32>, %scale: tensor<4xf32>, %bias: tensor<4xf32>, %mean: tensor<4xf32>, %var: tensor<3xf32>) {
  // expected-error @below {{'tri.batch_norm' op var is tensor<3xf32>, must have one axis of 4 elements}}
  %y = "tri.batch_norm"(%x, %scale, %bias, %mean, %var)
      : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>
  return
}

// A scale has the normalised axes, or fewer.
func.func @scale_does_not_broadcast(%x: tensor<2x4xf32>, %scale: tensor<1x2x4xf32>) {
  // expected-error @below {{'tri.layer_norm' op scale is tensor<1x2x4xf32>, must broadcast to tensor<2x4xf32>}}
  %y = "tri.layer_norm"(%x, %scale) {operandSegmentSizes = array<i32: 1, 1, 0>}
      : (tensor<2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x4xf32>
  return
}

// Norms are of floats.
func.func @rms_of_integers(%x: tensor<2x4xi32>) {
  // expected-error @below {{'tri.rms_norm' op element type is i32, must be a float}}
  %y = "tri.rms_norm"(%x) : (tensor<2x4xi32>) -> tensor<2x4xi32>
  return
}

// Groups of channels have pixels.
func.func @group_norm_without_pixels(%x: tensor<2x4xf32>, %scale: tensor<4xf32>, %bias: tensor<4xf32>) {
  // expected-error @below {{'tri.group_norm' op input has rank 2, must have 3 or more: batch, channels, pixels}}
  %y = "tri.group_norm"(%x, %scale, %bias) {groups = 2}
      : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// All groups are of one size.
func.func @channels_do_not_split(%x: tensor<2x4x3xf32>, %scale: tensor<4xf32>, %bias: tensor<4xf32>) {
  // expected-error @below {{'tri.group_norm' op 4 channels do not split in 3 groups}}
  %y = "tri.group_norm"(%x, %scale, %bias) {groups = 3}
      : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  return
}

// So has each instance.
func.func @instance_norm_without_pixels(%x: tensor<2x4xf32>, %scale: tensor<4xf32>, %bias: tensor<4xf32>) {
  // expected-error @below {{'tri.instance_norm' op input has rank 2, must have 3 or more: batch, channels, pixels}}
  %y = "tri.instance_norm"(%x, %scale, %bias)
      : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// Vectors have length by sum or by squares.
func.func @third_norm(%x: tensor<2x4xf32>) {
  // expected-error @below {{'tri.lp_normalize' op p is 3, must be 1 or 2}}
  %y = "tri.lp_normalize"(%x) {p = 3} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// Local response is over neighbouring channels.
func.func @response_without_channels(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.lrn' op input has rank 1, must have 2 or more: batch, channels, …}}
  %y = "tri.lrn"(%x) {size = 3} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// Of one at least.
func.func @response_of_nobody(%x: tensor<1x4x8xf32>) {
  // expected-error @below {{'tri.lrn' op size is 0, must be at least 1}}
  %y = "tri.lrn"(%x) {size = 0} : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  return
}

func.func @least_norm_below_zero(%x: tensor<2x4xf32>) {
  // expected-error @below {{'tri.lp_normalize' op epsilon is -1.0, must be at least 0}}
  %y = "tri.lp_normalize"(%x) {epsilon = -1.0} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
