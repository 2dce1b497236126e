// RUN: trivium-opt %s --verify-diagnostics

// There are four operators.
func.func @unknown_operator(%x: tensor<1x5x4x3xi8>, %w: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.eltwise' op operator is 'sub', must be one of add, mul, max, min}}
  %y = "dla.eltwise"(%x, %w) {operator = "sub"} : (tensor<1x5x4x3xi8>, tensor<1x5x4x3xi8>) -> tensor<1x5x4x3xi8>
  return
}

// Both tensors are images of bytes.
func.func @other_floats(%x: tensor<1x5x4x3xi8>, %w: tensor<1x5x4x3xf32>) {
  // expected-error @below {{'dla.eltwise' op other is tensor<1x5x4x3xf32>, must be of i8 with rank 4}}
  %y = "dla.eltwise"(%x, %w) {operator = "add"} : (tensor<1x5x4x3xi8>, tensor<1x5x4x3xf32>) -> tensor<1x5x4x3xi8>
  return
}

// Sizes are equal, or that of the second one is 1.
func.func @other_rows(%x: tensor<1x5x4x3xi8>, %w: tensor<1x2x4x3xi8>) {
  // expected-error @below {{'dla.eltwise' op combines tensor<1x5x4x3xi8> with tensor<1x2x4x3xi8>}}
  %y = "dla.eltwise"(%x, %w) {operator = "add"} : (tensor<1x5x4x3xi8>, tensor<1x2x4x3xi8>) -> tensor<1x5x4x3xi8>
  return
}

// Not that of the first one.
func.func @first_repeats(%x: tensor<1x1x4x3xi8>, %w: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.eltwise' op combines tensor<1x1x4x3xi8> with tensor<1x5x4x3xi8>}}
  %y = "dla.eltwise"(%x, %w) {operator = "add"} : (tensor<1x1x4x3xi8>, tensor<1x5x4x3xi8>) -> tensor<1x5x4x3xi8>
  return
}

// A channel is not repeated.
func.func @channels_repeat(%x: tensor<1x5x4x3xi8>, %w: tensor<1x5x4x1xi8>) {
  // expected-error @below {{'dla.eltwise' op combines tensor<1x5x4x3xi8> with tensor<1x5x4x1xi8>}}
  %y = "dla.eltwise"(%x, %w) {operator = "add"} : (tensor<1x5x4x3xi8>, tensor<1x5x4x1xi8>) -> tensor<1x5x4x3xi8>
  return
}

// Both have a multiplier.
func.func @other_multiplier(%x: tensor<1x5x4x3xi8>, %w: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.eltwise' op multiplier is 2147483648, must be in [0, 2^31)}}
  %y = "dla.eltwise"(%x, %w) {operator = "add", other_multiplier = 2147483648} : (tensor<1x5x4x3xi8>, tensor<1x5x4x3xi8>) -> tensor<1x5x4x3xi8>
  return
}

// And a zero point.
func.func @other_zero(%x: tensor<1x5x4x3xi8>, %w: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.eltwise' op zero point is 200, must be in -128:127}}
  %y = "dla.eltwise"(%x, %w) {operator = "add", other_zero = 200} : (tensor<1x5x4x3xi8>, tensor<1x5x4x3xi8>) -> tensor<1x5x4x3xi8>
  return
}

// Results are bytes.
func.func @eltwise_bounds(%x: tensor<1x5x4x3xi8>, %w: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.eltwise' op clamps to 0:255, must be in -128:127 of i8}}
  %y = "dla.eltwise"(%x, %w) {operator = "add", low = 0, high = 255} : (tensor<1x5x4x3xi8>, tensor<1x5x4x3xi8>) -> tensor<1x5x4x3xi8>
  return
}

// A table has an entry for each byte.
func.func @short_table(%x: tensor<1x5x4x3xi8>, %w: tensor<128xi8>) {
  // expected-error @below {{'dla.lookup' op table is tensor<128xi8>, must be tensor<256xi8>}}
  %y = "dla.lookup"(%x, %w) {} : (tensor<1x5x4x3xi8>, tensor<128xi8>) -> tensor<1x5x4x3xi8>
  return
}

// Of bytes.
func.func @table_of_words(%x: tensor<1x5x4x3xi8>, %w: tensor<256xi32>) {
  // expected-error @below {{'dla.lookup' op table is tensor<256xi32>, must be tensor<256xi8>}}
  %y = "dla.lookup"(%x, %w) {} : (tensor<1x5x4x3xi8>, tensor<256xi32>) -> tensor<1x5x4x3xi8>
  return
}

// What is looked up is an image.
func.func @looks_up_a_vector(%x: tensor<5xi8>, %w: tensor<256xi8>) {
  // expected-error @below {{'dla.lookup' op x is tensor<5xi8>, must be of i8 with rank 4}}
  %y = "dla.lookup"(%x, %w) {} : (tensor<5xi8>, tensor<256xi8>) -> tensor<5xi8>
  return
}

// There are rows and columns.
func.func @three_sizes(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.resize' op out has 3 entries, must have 2}}
  %y = "dla.resize"(%x) {out = array<i64: 1, 2, 2>, step = array<i64: 65536, 65536>} : (tensor<1x5x4x3xi8>) -> tensor<1x2x2x3xi8>
  return
}

// At least one of each.
func.func @to_nothing(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.resize' op out is (0, 2), must be at least 1}}
  %y = "dla.resize"(%x) {out = array<i64: 0, 2>, step = array<i64: 65536, 65536>} : (tensor<1x5x4x3xi8>) -> tensor<1x2x2x3xi8>
  return
}

// Positions go on.
func.func @backwards(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.resize' op step is (65536, -1), must be at least 0}}
  %y = "dla.resize"(%x) {out = array<i64: 2, 2>, step = array<i64: 65536, -1>} : (tensor<1x5x4x3xi8>) -> tensor<1x2x2x3xi8>
  return
}

// From numbers of 32 bits.
func.func @far_before(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.resize' op start is (-2147483649, 0), must be at least -2147483648}}
  %y = "dla.resize"(%x) {out = array<i64: 2, 2>, step = array<i64: 65536, 65536>, start = array<i64: -2147483649, 0>} : (tensor<1x5x4x3xi8>) -> tensor<1x2x2x3xi8>
  return
}

// With a sign.
func.func @far_behind(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.resize' op start is (0, 2147483648), must have at most 32 bits}}
  %y = "dla.resize"(%x) {out = array<i64: 2, 2>, step = array<i64: 65536, 65536>, start = array<i64: 0, 2147483648>} : (tensor<1x5x4x3xi8>) -> tensor<1x2x2x3xi8>
  return
}

// By such without one.
func.func @far_apart(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.resize' op step is (4294967296, 1), must have at most 32 bits}}
  %y = "dla.resize"(%x) {out = array<i64: 2, 2>, step = array<i64: 4294967296, 1>} : (tensor<1x5x4x3xi8>) -> tensor<1x2x2x3xi8>
  return
}

// What is copied is scaled as all else is.
func.func @copy_shift(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.copy' op shift is 63, must be 0 to 62}}
  %y = "dla.copy"(%x) {shift = 63} : (tensor<1x5x4x3xi8>) -> tensor<1x5x4x3xi8>
  return
}

// From a zero point that is a byte.
func.func @copy_zero(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.copy' op zero point is -200, must be in -128:127}}
  %y = "dla.copy"(%x) {source_zero = -200} : (tensor<1x5x4x3xi8>) -> tensor<1x5x4x3xi8>
  return
}

// To bounds that are.
func.func @copy_bounds(%x: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.copy' op clamps to 5:4, must be in -128:127 of i8}}
  %y = "dla.copy"(%x) {low = 5, high = 4} : (tensor<1x5x4x3xi8>) -> tensor<1x5x4x3xi8>
  return
}

// Of nothing no type follows.
func.func @joins_nothing() {
  // expected-error @below {{'dla.concat' op concatenates nothing}}
  %y = "dla.concat"() {axis = 3} : () -> tensor<1x5x4x3xi8>
  return
}

// Programs run on one image after the other.
func.func @joins_batches(%a: tensor<1x5x4x3xi8>, %b: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.concat' op concatenates along the batch, must be rows, columns or channels}}
  %y = "dla.concat"(%a, %b) {axis = 0} : (tensor<1x5x4x3xi8>, tensor<1x5x4x3xi8>) -> tensor<2x5x4x3xi8>
  return
}

// By whatever name.
func.func @joins_batches_from_behind(%a: tensor<1x5x4x3xi8>, %b: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.concat' op concatenates along the batch, must be rows, columns or channels}}
  %y = "dla.concat"(%a, %b) {axis = -4} : (tensor<1x5x4x3xi8>, tensor<1x5x4x3xi8>) -> tensor<2x5x4x3xi8>
  return
}

// All other sizes are equal.
func.func @joins_other_rows(%a: tensor<1x5x4x3xi8>, %b: tensor<1x4x4x3xi8>) {
  // expected-error @below {{'dla.concat' op joins tensor<1x5x4x3xi8> and tensor<1x4x4x3xi8> along axis 3}}
  %y = "dla.concat"(%a, %b) {axis = 3} : (tensor<1x5x4x3xi8>, tensor<1x4x4x3xi8>) -> tensor<1x5x4x6xi8>
  return
}

// All are bytes.
func.func @joins_words(%a: tensor<1x5x4x3xi8>, %b: tensor<1x5x4x3xi32>) {
  // expected-error @below {{'dla.concat' op operand is tensor<1x5x4x3xi32>, must be of i8 with rank 4}}
  %y = "dla.concat"(%a, %b) {axis = 3} : (tensor<1x5x4x3xi8>, tensor<1x5x4x3xi32>) -> tensor<1x5x4x6xi8>
  return
}

// Images have four axes.
func.func @no_such_axis(%a: tensor<1x5x4x3xi8>, %b: tensor<1x5x4x3xi8>) {
  // expected-error @below {{'dla.concat' op axis 4 is outside [-4, 4) of a rank-4 tensor}}
  %y = "dla.concat"(%a, %b) {axis = 4} : (tensor<1x5x4x3xi8>, tensor<1x5x4x3xi8>) -> tensor<1x5x4x3xi8>
  return
}

// Rows, columns, channels: all images are taken.
func.func @takes_a_batch(%x: tensor<2x5x4x3xi8>) {
  // expected-error @below {{'dla.slice' op start and sizes must have 3 entries each: rows, columns, channels}}
  %y = "dla.slice"(%x) {start = array<i64: 0, 0, 0, 0>, sizes = array<i64: 2, 5, 4, 3>} : (tensor<2x5x4x3xi8>) -> tensor<2x5x4x3xi8>
  return
}

// There are 5 rows.
func.func @takes_too_much(%x: tensor<2x5x4x3xi8>) {
  // expected-error @below {{'dla.slice' op takes (4, 0, 0) to (6, 4, 3) of (5, 4, 3)}}
  %y = "dla.slice"(%x) {start = array<i64: 4, 0, 0>, sizes = array<i64: 2, 4, 3>} : (tensor<2x5x4x3xi8>) -> tensor<2x2x4x3xi8>
  return
}

// Rows do not count from behind.
func.func @takes_from_before(%x: tensor<2x5x4x3xi8>) {
  // expected-error @below {{'dla.slice' op takes (-1, 0, 0) to (0, 4, 3) of (5, 4, 3)}}
  %y = "dla.slice"(%x) {start = array<i64: -1, 0, 0>, sizes = array<i64: 1, 4, 3>} : (tensor<2x5x4x3xi8>) -> tensor<2x1x4x3xi8>
  return
}

// Images are never empty.
func.func @takes_nothing(%x: tensor<2x5x4x3xi8>) {
  // expected-error @below {{'dla.slice' op takes (0, 0, 0) to (5, 0, 3) of (5, 4, 3)}}
  %y = "dla.slice"(%x) {start = array<i64: 0, 0, 0>, sizes = array<i64: 5, 0, 3>} : (tensor<2x5x4x3xi8>) -> tensor<2x5x0x3xi8>
  return
}
