// RUN: trivium-opt %s --verify-diagnostics

// Accelerators compute on bytes.
func.func @floats(%x: tensor<1x5x4x3xf32>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op x is tensor<1x5x4x3xf32>, must be of i8 with rank 4, and not empty}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>} : (tensor<1x5x4x3xf32>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// These have a sign.
func.func @unsigned(%x: tensor<1x5x4x3xui8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op x is tensor<1x5x4x3xui8>, must be of i8 with rank 4}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>} : (tensor<1x5x4x3xui8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// An image alone is a batch of one.
func.func @no_batch(%x: tensor<5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op x is tensor<5x4x3xi8>, must be of i8 with rank 4}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>} : (tensor<5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Of nothing there is nothing to compute.
func.func @no_images(%x: tensor<0x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op x is tensor<0x5x4x3xi8>, must be of i8 with rank 4, and not empty}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>} : (tensor<0x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Groups of channels are no mode.
func.func @unknown_mode(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op mode is 'grouped', must be one of dense, depthwise}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, mode = "grouped"} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Weights are bytes, too.
func.func @wide_weights(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi16>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op weights of a dense conv are tensor<3x2x3x2xi16>}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi16>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// A dense conv has filters.
func.func @dense_without_filters(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op weights of a dense conv are tensor<3x2x3xi8>}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x3xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// One by channel has none.
func.func @depthwise_with_filters(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op weights of a depthwise conv are tensor<3x2x3x2xi8>}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, mode = "depthwise"} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Not even none.
func.func @no_filters(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x0xi8>, %b: tensor<0xi32>) {
  // expected-error @below {{'dla.conv' op weights of a dense conv are tensor<3x2x3x0xi8>}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x0xi8>, tensor<0xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Weights are of the channels of x.
func.func @other_channels(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x4x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op weights are of 4 channels, x has 3}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x4x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Also where each is by itself.
func.func @other_depthwise_channels(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op weights are of 2 channels, x has 3}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, mode = "depthwise"} : (tensor<1x5x4x3xi8>, tensor<3x2x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// A bias for each filter.
func.func @few_biases(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<1xi32>) {
  // expected-error @below {{'dla.conv' op bias is tensor<1xi32>, must be tensor<2xi32>}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<1xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Of 32 bits.
func.func @narrow_bias(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi8>) {
  // expected-error @below {{'dla.conv' op bias is tensor<2xi8>, must be tensor<2xi32>}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi8>) -> tensor<1x3x3x2xi8>
  return
}

// Factors have a multiplier and a shift each.
func.func @multipliers_without_shifts(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op has 2 multipliers and 1 shifts, must have 1 or 2 of each}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1, 1>, shift = array<i64: 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// One for all filters, or one for each.
func.func @too_many_factors(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op has 3 multipliers and 3 shifts, must have 1 or 2 of each}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1, 1, 1>, shift = array<i64: 0, 0, 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// But at least one.
func.func @no_factors(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op has 0 multipliers and 0 shifts, must have 1 or 2 of each}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64>, shift = array<i64>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Multipliers have no sign.
func.func @negative_multiplier(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op multiplier is -1, must be in [0, 2^31)}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: -1>, shift = array<i64: 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// And 31 bits.
func.func @wide_multiplier(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op multiplier is 2147483648, must be in [0, 2^31)}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 2147483648>, shift = array<i64: 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Shifts are to the right.
func.func @left_shift(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op shift is -1, must be 0 to 62}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: -1>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// In 64 bits.
func.func @far_shift(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op shift is 63, must be 0 to 62}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 63>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Roundings have names.
func.func @unknown_rounding(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op rounding is 'nearest', must be one of half_away, half_even, half_up}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, rounding = "nearest"} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Zero points are bytes.
func.func @wide_zero(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op zero point is 128, must be in -128:127}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, source_zero = 128} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// That of the result, too.
func.func @wide_destination_zero(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op zero point is -129, must be in -128:127}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, destination_zero = -129} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// So are bounds.
func.func @wide_bounds(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op clamps to -128:128, must be in -128:127 of i8}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, high = 128} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Of which one is lower.
func.func @empty_bounds(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op clamps to 1:0, must be in -128:127 of i8}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, low = 1, high = 0} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// A stride for rows, one for columns.
func.func @one_stride(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op strides has 1 entries, must have 2}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Kernels move.
func.func @stands(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op strides is (0, 1), must be at least 1}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, strides = array<i64: 0, 1>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Taps are apart.
func.func @no_dilation(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op dilations is (1, 0), must be at least 1}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, dilations = array<i64: 1, 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Pads are on four sides.
func.func @two_pads(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op pads are (1, 1), must be 4 numbers, none negative}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, pads = array<i64: 1, 1>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// They add.
func.func @crops(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op pads are (0, 0, -1, 0), must be 4 numbers, none negative}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, pads = array<i64: 0, 0, -1, 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// A kernel fits between them.
func.func @tall_kernel(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op kernel spans 7 rows, the padded image has 6}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, pads = array<i64: 1, 0, 0, 0>, dilations = array<i64: 3, 1>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Along both axes.
func.func @wide_kernel(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op kernel spans 5 columns, the padded image has 4}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>, dilations = array<i64: 1, 4>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// What comes of it follows.
func.func @other_result(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op result is tensor<1x5x4x2xi8>, inferred tensor<1x3x3x2xi8>}}
  %y = "dla.conv"(%x, %w, %b) {multiplier = array<i64: 1>, shift = array<i64: 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x5x4x2xi8>
  return
}

// The first one does not say by how much to multiply.
func.func @lacks_a_factor(%x: tensor<1x5x4x3xi8>, %w: tensor<3x2x3x2xi8>, %b: tensor<2xi32>) {
  // expected-error @below {{'dla.conv' op lacks attribute 'multiplier'}}
  %y = "dla.conv"(%x, %w, %b) {shift = array<i64: 0>} : (tensor<1x5x4x3xi8>, tensor<3x2x3x2xi8>, tensor<2xi32>) -> tensor<1x3x3x2xi8>
  return
}

// Pools are of two kinds.
func.func @unknown_pool(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.pool' op mode is 'sum', must be one of max, average}}
  %y = "dla.pool"(%x) {mode = "sum", kernel = array<i64: 2, 2>} : (tensor<1x5x4x3xi8>) -> tensor<1x4x3x3xi8>
  return
}

// What divides is said by one name.
func.func @unknown_divisor(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.pool' op divisor is 'kernel', must be one of none, inside}}
  %y = "dla.pool"(%x) {mode = "max", kernel = array<i64: 2, 2>, divisor = "kernel"} : (tensor<1x5x4x3xi8>) -> tensor<1x4x3x3xi8>
  return
}

// Kernels have rows and columns.
func.func @pool_of_one_number(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.pool' op kernel has 1 entries, must have 2}}
  %y = "dla.pool"(%x) {mode = "max", kernel = array<i64: 2>} : (tensor<1x5x4x3xi8>) -> tensor<1x4x3x3xi8>
  return
}

// At least one of each.
func.func @empty_kernel(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.pool' op kernel is (0, 2), must be at least 1}}
  %y = "dla.pool"(%x) {mode = "max", kernel = array<i64: 0, 2>} : (tensor<1x5x4x3xi8>) -> tensor<1x4x3x3xi8>
  return
}

// The first window is nothing but border: what is the greatest of nothing?
func.func @above_the_image(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.pool' op pools a window that has nothing of the image}}
  %y = "dla.pool"(%x) {mode = "max", kernel = array<i64: 2, 2>, pads = array<i64: 2, 0, 0, 0>} : (tensor<1x5x4x3xi8>) -> tensor<1x4x3x3xi8>
  return
}

// So is the last one.
func.func @right_of_the_image(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.pool' op pools a window that has nothing of the image}}
  %y = "dla.pool"(%x) {mode = "max", kernel = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 2>} : (tensor<1x5x4x3xi8>) -> tensor<1x4x3x3xi8>
  return
}

// The taps of this one are on both sides of the one column.
func.func @around_the_image(%x: tensor<1x5x1x3xi8>) {
  // expected-error @below {{'dla.pool' op pools a window that has nothing of the image}}
  %y = "dla.pool"(%x) {mode = "max", kernel = array<i64: 2, 2>, pads = array<i64: 0, 1, 0, 1>, dilations = array<i64: 1, 2>} : (tensor<1x5x1x3xi8>) -> tensor<1x4x3x3xi8>
  return
}

// The division is exact: in 64 bits.
func.func @divides_by_too_much(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.pool' op divides by 4 << 60, which must be at most 2^61}}
  %y = "dla.pool"(%x) {mode = "average", kernel = array<i64: 2, 2>, divisor = "inside", shift = 60} : (tensor<1x5x4x3xi8>) -> tensor<1x4x3x3xi8>
  return
}

// As sums are.
func.func @too_many_values(%x: tensor<1x2048x2049x3xi8>) {
  // expected-error @below {{'dla.pool' op pools windows of 4196352 values, must be at most 4194304}}
  %y = "dla.pool"(%x) {mode = "average", kernel = array<i64: 2048, 2049>} : (tensor<1x2048x2049x3xi8>) -> tensor<1x4x3x3xi8>
  return
}

// There is one multiplier.
func.func @pool_factor(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.pool' op multiplier is -5, must be in [0, 2^31)}}
  %y = "dla.pool"(%x) {mode = "max", kernel = array<i64: 2, 2>, multiplier = -5} : (tensor<1x5x4x3xi8>) -> tensor<1x4x3x3xi8>
  return
}

// And one pair of bounds.
func.func @pool_bounds(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.pool' op clamps to -129:127, must be in -128:127 of i8}}
  %y = "dla.pool"(%x) {mode = "max", kernel = array<i64: 2, 2>, low = -129} : (tensor<1x5x4x3xi8>) -> tensor<1x4x3x3xi8>
  return
}

// Pools keep channels.
func.func @pool_result(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.pool' op result is tensor<1x4x3x2xi8>, inferred tensor<1x4x3x3xi8>}}
  %y = "dla.pool"(%x) {mode = "max", kernel = array<i64: 2, 2>} : (tensor<1x5x4x3xi8>) -> tensor<1x4x3x2xi8>
  return
}
