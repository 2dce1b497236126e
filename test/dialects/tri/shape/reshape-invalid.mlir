// RUN: trivium-opt %s --verify-diagnostics

// Shapes are fully known here: no -1.
func.func @reshape_keeps_a_placeholder(%x: tensor<2x6xf32>) {
  // expected-error @below {{'tri.reshape' op shape is [-1], must not be negative}}
  %y = "tri.reshape"(%x) {shape = array<i64: -1>} : (tensor<2x6xf32>) -> tensor<12xf32>
  return
}

// All elements stay.
func.func @reshape_loses_elements(%x: tensor<2x6xf32>) {
  // expected-error @below {{'tri.reshape' op shape [2, 5] has 10 elements, x has 12}}
  %y = "tri.reshape"(%x) {shape = array<i64: 2, 5>} : (tensor<2x6xf32>) -> tensor<2x5xf32>
  return
}

// Each axis comes once.
func.func @permutation_repeats(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.transpose' op permutation [0, 0] does not name each of 2 axes once}}
  %y = "tri.transpose"(%x) {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// All axes are listed.
func.func @slice_of_fewer_axes(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.slice' op starts has 1 entries, must have 2}}
  %y = "tri.slice"(%x) {starts = array<i64: 0>, sizes = array<i64: 1, 3>, steps = array<i64: 1, 1>}
      : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return
}

// A step goes somewhere.
func.func @slice_stands_still(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.slice' op axis 0 has size 2 and step 0, must be >= 0 and not 0}}
  %y = "tri.slice"(%x) {starts = array<i64: 0>, sizes = array<i64: 2>, steps = array<i64: 0>}
      : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// And stays inside.
func.func @slice_runs_over_the_end(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.slice' op takes elements 1 to 5 of the 4 of axis 0}}
  %y = "tri.slice"(%x) {starts = array<i64: 1>, sizes = array<i64: 3>, steps = array<i64: 2>}
      : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// Backwards, too.
func.func @slice_runs_over_the_beginning(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.slice' op takes elements 1 to -1 of the 4 of axis 0}}
  %y = "tri.slice"(%x) {starts = array<i64: 1>, sizes = array<i64: 3>, steps = array<i64: -1>}
      : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// There is something to join.
func.func @joins_nothing() {
  // expected-error @below {{'tri.concat' op has no operands, must have at least 1}}
  %y = "tri.concat"() {axis = 0} : () -> tensor<2xf32>
  return
}

// All other axes are the same.
func.func @joined_shapes_differ(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error @below {{'tri.concat' op joins tensor<2x3xf32> and tensor<2x4xf32>, must differ in axis 0 only}}
  %y = "tri.concat"(%a, %b) {axis = 0} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// Parts have sizes.
func.func @part_of_negative_size(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.split' op sizes are [5, -1], must not be negative}}
  %y:2 = "tri.split"(%x) {axis = 0, sizes = array<i64: 5, -1>}
      : (tensor<4xf32>) -> (tensor<5xf32>, tensor<1xf32>)
  return
}

// And are all of it together.
func.func @parts_do_not_add_up(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.split' op sizes [1, 2] add up to 3, must be 4}}
  %y:2 = "tri.split"(%x) {axis = 0, sizes = array<i64: 1, 2>}
      : (tensor<4xf32>) -> (tensor<1xf32>, tensor<2xf32>)
  return
}

// The result is what was asked for.
func.func @expands_to_less(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expand' op x is tensor<2x3xf32>, must broadcast to shape [1, 3]}}
  %y = "tri.expand"(%x) {shape = array<i64: 1, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// In known sizes.
func.func @expands_to_negative_sizes(%x: tensor<1xf32>) {
  // expected-error @below {{'tri.expand' op shape is [-1], must not be negative}}
  %y = "tri.expand"(%x) {shape = array<i64: -1>} : (tensor<1xf32>) -> tensor<2xf32>
  return
}

// Each axis says how often.
func.func @tiles_of_fewer_axes(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.tile' op repeats has 1 entries, must have 2}}
  %y = "tri.tile"(%x) {repeats = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// Never is the least.
func.func @tiles_less_than_never(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.tile' op repeats are [-1], must not be negative}}
  %y = "tri.tile"(%x) {repeats = array<i64: -1>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// Triangles are parts of matrices.
func.func @triangle_of_a_vector(%x: tensor<4xf32>) {
  // expected-error @below {{'tri.trilu' op x has rank 1, must have at least 2}}
  %y = "tri.trilu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// An order names each axis once.
func.func @order_names_an_axis_twice(%x: tensor<2x3xf32, [0, 0]>) {
  // expected-error @below {{'tri.relu' op tensor<2x3xf32, [0, 0]> is in no order: it must name each of 2 axes once}}
  %0 = "tri.relu"(%x) : (tensor<2x3xf32, [0, 0]>) -> tensor<2x3xf32>
  return
}

func.func @order_of_another_rank(%x: tensor<2x3xf32, [0]>) {
  // expected-error @below {{is in no order: it must name each of 2 axes once}}
  %0 = "tri.relu"(%x) : (tensor<2x3xf32, [0]>) -> tensor<2x3xf32>
  return
}

func.func @order_of_words(%x: tensor<2x3xf32>) {
  // expected-error @below {{is in no order: it must name each of 2 axes once}}
  %0 = "tri.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32, "rows">
  return
}

// What goes without saying is not said.
func.func @order_is_row_major(%x: tensor<2x3xf32, [0, 1]>) {
  // expected-error @below {{'tri.relu' op tensor<2x3xf32, [0, 1]> is in row-major order, which must be left out}}
  %0 = "tri.relu"(%x) : (tensor<2x3xf32, [0, 1]>) -> tensor<2x3xf32>
  return
}
