// RUN: trivium-opt %s --verify-diagnostics

// A tile is full of one number.
func.func @value_has_elements() {
  // expected-error @below {{'tile.full' op value is tensor<2xf32>, must have no dimensions}}
  %a = "tile.full"() {shape = ["2"], value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  return
}

// Sizes have one spelling.
func.func @size_is_a_sum() {
  // expected-error @below {{'tile.full' op size is 'BM+1', must be a power of two or the name of a block size}}
  %a = "tile.full"() {shape = ["BM+1"], value = dense<1.0> : tensor<f32>} : () -> tensor<?xf32, ["BM"]>
  return
}

// Arithmetic is on tiles.
func.func @computes_in_memory(%x: memref<4xf32>) {
  // expected-error @below {{'tile.unary' op operand or result is memory<4xf32, strides (1,)>, must be a tile}}
  %a = "tile.unary"(%x) {function = "exp"} : (memref<4xf32>) -> tensor<4xf32>
  return
}

// Functions have names.
func.func @function_is_unknown(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.unary' op function is 'add', must be one of abs, ceil,}}
  %a = "tile.unary"(%x) {function = "add"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// Roots of integers are no integers.
func.func @root_of_integers(%x: tensor<4xi32>) {
  // expected-error @below {{'tile.unary' op function sqrt takes floats, not i32}}
  %a = "tile.unary"(%x) {function = "sqrt"} : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// Neither are their ratios: quotients are.
func.func @ratio_of_integers(%x: tensor<4xi32>) {
  // expected-error @below {{'tile.binary' op function div takes floats, not i32}}
  %a = "tile.binary"(%x, %x) {function = "div"} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// Bits are those of integers.
func.func @bits_of_floats(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.binary' op function xor takes integers, not f32}}
  %a = "tile.binary"(%x, %x) {function = "xor"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// Bools have logic, and no sums.
func.func @sum_of_bools(%x: tensor<4xi1>) {
  // expected-error @below {{'tile.binary' op function add takes numbers, not i1}}
  %a = "tile.binary"(%x, %x) {function = "add"} : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// There are no conversions by the way.
func.func @types_differ(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error @below {{'tile.binary' op operands are of f32 and f16, must be the same}}
  %c = "tile.binary"(%a, %b) {function = "add"} : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// A size with a name is none without.
func.func @sizes_differ(%a: tensor<?xf32, ["BM"]>, %b: tensor<4xf32>) {
  // expected-error @below {{'tile.binary' op tiles tile<BMxf32> and tile<4xf32> do not broadcast}}
  %c = "tile.binary"(%a, %b) {function = "add"} : (tensor<?xf32, ["BM"]>, tensor<4xf32>) -> tensor<?xf32, ["BM"]>
  return
}

// The result is as large as both.
func.func @result_is_smaller(%a: tensor<4x1xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{'tile.binary' op result is tile<4x1xf32>, inferred tile<4x8xf32>}}
  %c = "tile.binary"(%a, %b) {function = "add"} : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x1xf32>
  return
}

// A condition holds or does not.
func.func @condition_is_a_number(%c: tensor<4xi32>, %a: tensor<4xf32>) {
  // expected-error @below {{'tile.where' op condition is tile<4xi32>, must be of i1}}
  %d = "tile.where"(%c, %a, %a) : (tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// Element types are those of MLIR.
func.func @casts_to_float(%x: tensor<4xi32>) {
  // expected-error @below {{'tile.cast' op casts to 'float', must be one of f64, f32,}}
  %a = "tile.cast"(%x) {to = "float"} : (tensor<4xi32>) -> tensor<4xf32>
  return
}

// Bits are neither made nor lost.
func.func @sees_fewer_bits(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.bit_cast' op sees f32 as i16, must be of the same size, and not i1}}
  %a = "tile.bit_cast"(%x) {to = "i16"} : (tensor<4xf32>) -> tensor<4xi16>
  return
}

// How many a bool has is not said.
func.func @sees_bytes_as_bools(%x: tensor<4xi8>) {
  // expected-error @below {{'tile.bit_cast' op sees i8 as i1, must be of the same size, and not i1}}
  %a = "tile.bit_cast"(%x) {to = "i1"} : (tensor<4xi8>) -> tensor<4xi1>
  return
}

// Nothing computes with floats of 8 bits.
func.func @adds_floats_of_8_bits(%x: tensor<4xf8E4M3FN>) {
  // expected-error @below {{'tile.binary' op takes elements of f8E4M3FN, which must be cast first}}
  %0 = "tile.binary"(%x, %x) {function = "add"} : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// Nothing chooses between them.
func.func @selects_floats_of_8_bits(%c: tensor<4xi1>, %x: tensor<4xf8E5M2>) {
  // expected-error @below {{'tile.where' op takes elements of f8E5M2, which must be cast first}}
  %0 = "tile.where"(%c, %x, %x) : (tensor<4xi1>, tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  return
}

// Nothing looks at their bits.
func.func @sees_floats_of_8_bits_as_bytes(%x: tensor<4xf8E5M2>) {
  // expected-error @below {{'tile.bit_cast' op takes elements of f8E5M2, which must be cast first}}
  %0 = "tile.bit_cast"(%x) {to = "ui8"} : (tensor<4xf8E5M2>) -> tensor<4xui8>
  return
}

// They are made of bytes without a sign.
func.func @sees_bytes_as_floats_of_8_bits(%x: tensor<4xi8>) {
  // expected-error @below {{'tile.bit_cast' op sees i8 as f8E5M2, which is made of ui8}}
  %0 = "tile.bit_cast"(%x) {to = "f8E5M2"} : (tensor<4xi8>) -> tensor<4xf8E5M2>
  return
}

// No cast makes them.
func.func @casts_to_floats_of_8_bits(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.cast' op casts to 'f8E4M3FN', must be one of f64, f32,}}
  %0 = "tile.cast"(%x) {to = "f8E4M3FN"} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  return
}

// Not even constants.
func.func @fills_with_floats_of_8_bits() {
  // expected-error @below {{'tile.full' op takes elements of f8E4M3FN, which must be cast first}}
  %0 = "tile.full"() {value = dense<1.0> : tensor<f8E4M3FN>} : () -> tensor<f8E4M3FN>
  return
}
