// RUN: trivium-opt %s --verify-diagnostics

// Tiles are in no memory.
func.func @loads_from_a_tile(%x: tensor<8xf32>, %i: tensor<i32>) {
  // expected-error @below {{'tile.load' op operand 0 is tile<8xf32>, must be in memory}}
  %a = "tile.load"(%x, %i) : (tensor<8xf32>, tensor<i32>) -> tensor<f32>
  return
}

// One index for each dimension.
func.func @too_few_indices(%x: memref<8x8xf32>, %i: tensor<i32>) {
  // expected-error @below {{'tile.load' op has 1 indices for 2 dimensions}}
  %a = "tile.load"(%x, %i) : (memref<8x8xf32>, tensor<i32>) -> tensor<f32>
  return
}

// Of the type that programs count in.
func.func @index_is_wide(%x: memref<8xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{'tile.load' op index 0 is tile<4xi64>, must be of i32}}
  %a = "tile.load"(%x, %i) : (memref<8xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// Named sizes are equal when their names are.
func.func @indices_do_not_broadcast(%x: memref<8x8xf32>, %i: tensor<?xi32, ["BM"]>, %j: tensor<?xi32, ["BN"]>) {
  // expected-error @below {{'tile.load' op tiles tile<BMxi32> and tile<BNxi32> do not broadcast}}
  %a = "tile.load"(%x, %i, %j) : (memref<8x8xf32>, tensor<?xi32, ["BM"]>, tensor<?xi32, ["BN"]>) -> tensor<?xf32, ["BM"]>
  return
}

// Bounds are those of dimensions.
func.func @checks_no_dimension(%x: memref<8xf32>, %i: tensor<i32>) {
  // expected-error @below {{'tile.load' op checks dimension 1, must be in [0, 1)}}
  %a = "tile.load"(%x, %i) {high = array<i64: 1>} : (memref<8xf32>, tensor<i32>) -> tensor<f32>
  return
}

// Padding is a number of the type.
func.func @pads_integers_with_a_fraction(%x: memref<8xi8>, %i: tensor<i32>) {
  // expected-error @below {{'tile.load' op pads with 0.5, which i8 does not hold}}
  %a = "tile.load"(%x, %i) {high = array<i64: 0>, pad = 0.5 : f64} : (memref<8xi8>, tensor<i32>) -> tensor<i8>
  return
}

// One that it can hold.
func.func @pads_bytes_with_more(%x: memref<8xui8>, %i: tensor<i32>) {
  // expected-error @below {{'tile.load' op pads with -1.0, which ui8 does not hold}}
  %a = "tile.load"(%x, %i) {high = array<i64: 0>, pad = -1.0 : f64} : (memref<8xui8>, tensor<i32>) -> tensor<ui8>
  return
}

// Bools are two.
func.func @pads_bools_with_two(%x: memref<8xi1>, %i: tensor<i32>) {
  // expected-error @below {{'tile.load' op pads with 2.0, which i1 does not hold}}
  %a = "tile.load"(%x, %i) {high = array<i64: 0>, pad = 2.0 : f64} : (memref<8xi1>, tensor<i32>) -> tensor<i1>
  return
}

// Floats of 8 bits are padded with zeros.
func.func @pads_floats_of_8_bits_with_one(%x: memref<8xf8E4M3FN>, %i: tensor<i32>) {
  // expected-error @below {{'tile.load' op pads with 1.0, which f8E4M3FN does not hold}}
  %a = "tile.load"(%x, %i) {high = array<i64: 0>, pad = 1.0 : f64} : (memref<8xf8E4M3FN>, tensor<i32>) -> tensor<f8E4M3FN>
  return
}

// They are not added up.
func.func @adds_up_floats_of_8_bits(%a: tensor<4xf8E4M3FN>, %y: memref<8xf8E4M3FN>, %i: tensor<4xi32>) {
  // expected-error @below {{'tile.store' op takes elements of f8E4M3FN, which must be cast first}}
  "tile.store"(%a, %y, %i) {accumulate = true} : (tensor<4xf8E4M3FN>, memref<8xf8E4M3FN>, tensor<4xi32>) -> ()
  return
}

// What is in memory is loaded first.
func.func @stores_memory(%x: memref<f32>, %y: memref<f32>) {
  // expected-error @below {{'tile.store' op operand 0 is memory<f32, strides ()>, must be a tile}}
  "tile.store"(%x, %y) : (memref<f32>, memref<f32>) -> ()
  return
}

// Stores convert nothing.
func.func @stores_another_type(%a: tensor<4xf32>, %y: memref<8xf16>, %i: tensor<4xi32>) {
  // expected-error @below {{'tile.store' op stores tile<4xf32> to memory of f16, must be of the same type}}
  "tile.store"(%a, %y, %i) : (tensor<4xf32>, memref<8xf16>, tensor<4xi32>) -> ()
  return
}

// Indices do not broadcast to the value: where would the elements go?
func.func @stores_more_than_there_are_indices(%a: tensor<4xf32>, %y: memref<8xf32>, %i: tensor<i32>) {
  // expected-error @below {{'tile.store' op stores tile<4xf32>, which does not broadcast to tile<i32>}}
  "tile.store"(%a, %y, %i) : (tensor<4xf32>, memref<8xf32>, tensor<i32>) -> ()
  return
}

// What is seen several times can be loaded only.
func.func @stores_to_a_repeated_row(%a: tensor<f32>, %y: memref<4x8xf32, strided<[0, 1]>>, %i: tensor<i32>) {
  // expected-error @below {{'tile.store' op stores to memory<4x8xf32, strides (0, 1)>, whose elements overlap}}
  "tile.store"(%a, %y, %i, %i) : (tensor<f32>, memref<4x8xf32, strided<[0, 1]>>, tensor<i32>, tensor<i32>) -> ()
  return
}

// Rows that begin in the one before are so, too.
func.func @stores_to_windows(%a: tensor<4x8xf32>, %y: memref<4x8xf32, strided<[7, 1]>>, %i: tensor<i32>) {
  // expected-error @below {{'tile.store_block' op stores to memory<4x8xf32, strides (7, 1)>, whose elements overlap}}
  "tile.store_block"(%a, %y, %i, %i) : (tensor<4x8xf32>, memref<4x8xf32, strided<[7, 1]>>, tensor<i32>, tensor<i32>) -> ()
  return
}

// Sums are of numbers.
func.func @accumulates_bools(%a: tensor<i1>, %y: memref<8xi1>, %i: tensor<i32>) {
  // expected-error @below {{'tile.store' op adds up elements of i1, must be numbers}}
  "tile.store"(%a, %y, %i) {accumulate = true} : (tensor<i1>, memref<8xi1>, tensor<i32>) -> ()
  return
}

// A block has an offset and a size in each dimension.
func.func @block_lacks_a_size(%x: memref<8x8xf32>, %i: tensor<i32>) {
  // expected-error @below {{'tile.load_block' op has 2 offsets and 1 sizes for 2 dimensions}}
  %a = "tile.load_block"(%x, %i, %i) {block = ["BM"]} : (memref<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<?xf32, ["BM"]>
  return
}

// One that is a power of two, or has a name.
func.func @block_has_an_odd_size(%x: memref<8xf32>, %i: tensor<i32>) {
  // expected-error @below {{'tile.load_block' op size is '08', must be a power of two or the name of a block size}}
  %a = "tile.load_block"(%x, %i) {block = ["08"]} : (memref<8xf32>, tensor<i32>) -> tensor<8xf32>
  return
}

// There is one block, not many.
func.func @offset_is_a_tile(%x: memref<8xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{'tile.load_block' op offset 0 is tile<4xi32>, must be a scalar}}
  %a = "tile.load_block"(%x, %i) {block = ["4"]} : (memref<8xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// Hardware that moves blocks wants neighbours to be neighbours.
func.func @rows_are_far_apart(%x: memref<8x8xf32, strided<[1, 8]>>, %i: tensor<i32>) {
  // expected-error @below {{'tile.load_block' op memory<8x8xf32, strides (1, 8)> must have a last stride of 1}}
  %a = "tile.load_block"(%x, %i, %i) {block = ["4", "4"]} : (memref<8x8xf32, strided<[1, 8]>>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  return
}

// One stride for each dimension.
func.func @view_lacks_a_stride(%x: memref<8x8xf32>) {
  // expected-error @below {{'tile.view' op has 1 strides for 2 dimensions}}
  %a = "tile.view"(%x) {shape = array<i64: 8, 8>, strides = array<i64: 1>} : (memref<8x8xf32>) -> memref<8x8xf32>
  return
}

// Nothing lies before the first element.
func.func @view_runs_backwards(%x: memref<8xf32>) {
  // expected-error @below {{'tile.view' op has shape (8,) and strides (-1,), must not be negative}}
  %a = "tile.view"(%x) {shape = array<i64: 8>, strides = array<i64: -1>} : (memref<8xf32>) -> memref<8xf32>
  return
}

// And nothing behind the last.
func.func @view_is_larger(%x: memref<8x8xf32>) {
  // expected-error @below {{'tile.view' op reaches 65 elements of 64}}
  %a = "tile.view"(%x) {shape = array<i64: 65>} : (memref<8x8xf32>) -> memref<65xf32>
  return
}

// A size that is not known has a name.
func.func @size_has_no_name(%x: memref<8xf32>, %i: tensor<?xi32>) {
  // expected-error @below {{'tile.load' op tensor<?xi32> has dynamic sizes, must name a block size for each}}
  %a = "tile.load"(%x, %i) : (memref<8xf32>, tensor<?xi32>) -> tensor<?xf32>
  return
}

// Only such a size has.
func.func @known_size_has_a_name(%x: memref<8xf32>, %i: tensor<?x4xi32, ["BM", "BN"]>) {
  // expected-error @below {{'tile.load' op tensor<?x4xi32, ["BM", "BN"]> must name a block size where a size is dynamic, and only there}}
  %a = "tile.load"(%x, %i) : (memref<8xf32>, tensor<?x4xi32, ["BM", "BN"]>) -> tensor<?x4xf32, ["BM", "BN"]>
  return
}

// A name is one of Python.
func.func @name_is_not_one(%x: memref<8xf32>, %i: tensor<?xi32, ["B M"]>) {
  // expected-error @below {{'tile.load' op tensor<?xi32, ["B M"]> names block size 'B M', must be an identifier}}
  %a = "tile.load"(%x, %i) : (memref<8xf32>, tensor<?xi32, ["B M"]>) -> tensor<?xf32, ["B M"]>
  return
}

// Tiles have no order in memory.
func.func @tile_has_an_order(%x: memref<8xf32>, %i: tensor<4xi32, [0]>) {
  // expected-error @below {{'tile.load' op tensor<4xi32, [0]> has an encoding, must have none: no size has a name}}
  %a = "tile.load"(%x, %i) : (memref<8xf32>, tensor<4xi32, [0]>) -> tensor<4xf32>
  return
}
