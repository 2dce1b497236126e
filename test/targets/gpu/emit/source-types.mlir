// RUN: trivium-opt %s --emit=triton | FileCheck %s

// An i1 lies in memory as a byte. f16 and bf16 are widened and rounded where the IR says so.
// CHECK:      def types(
// CHECK-NEXT:     flags_ptr,
// CHECK:          flags = tl.load(flags_ptr + index, mask=index < 40, other=0) != 0
// CHECK-NEXT:     bytes_1 = tl.load(bytes_ptr + index, mask=index < 40, other=3)
// CHECK:          not_1 = ~flags
// CHECK-NEXT:     tl.store(y_ptr + index, not_1.to(tl.int8), mask=index < 40)
// CHECK-NEXT:     halves_f32 = halves.to(tl.float32)
// CHECK:          mul_bf16 = mul.to(tl.bfloat16)
// CHECK:          quotient = small // -3
// CHECK:          bit_cast = halves_f32.to(tl.int32, bitcast=True)
// CHECK:          shift_right = bytes_1 >> 2
"tile.kernel"() ({
^bb0(%flags: memref<40xi1> loc("flags"), %bytes: memref<40xui8> loc("bytes"), %halves: memref<40xbf16> loc("halves"), %small: memref<40xi8> loc("small"), %y: memref<40xi1> loc("y"), %z: memref<40xbf16> loc("z"), %w: memref<40xi8> loc("w"), %v: memref<40xi32> loc("v"), %u: memref<40xui8> loc("u"), %t: memref<40xi64> loc("t")):
  %program = "tile.program_id"() {axis = 0 : i64} : () -> tensor<i32> loc("program")
  %BLOCK_size = "tile.block_size"() {block = "BLOCK"} : () -> tensor<i32>
  %index_first = "tile.binary"(%program, %BLOCK_size) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32> loc("index_first")
  %index_lanes = "tile.arange"() {block = "BLOCK"} : () -> tensor<?xi32, ["BLOCK"]> loc("index_lanes")
  %index = "tile.binary"(%index_first, %index_lanes) {function = "add"} : (tensor<i32>, tensor<?xi32, ["BLOCK"]>) -> tensor<?xi32, ["BLOCK"]> loc("index")
  %f = "tile.load"(%flags, %index) {high = array<i64: 0>} : (memref<40xi1>, tensor<?xi32, ["BLOCK"]>) -> tensor<?xi1, ["BLOCK"]>
  %b = "tile.load"(%bytes, %index) {high = array<i64: 0>, pad = 3.0 : f64} : (memref<40xui8>, tensor<?xi32, ["BLOCK"]>) -> tensor<?xui8, ["BLOCK"]>
  %h = "tile.load"(%halves, %index) {high = array<i64: 0>} : (memref<40xbf16>, tensor<?xi32, ["BLOCK"]>) -> tensor<?xbf16, ["BLOCK"]>
  %s = "tile.load"(%small, %index) {high = array<i64: 0>} : (memref<40xi8>, tensor<?xi32, ["BLOCK"]>) -> tensor<?xi8, ["BLOCK"]>
  %nf = "tile.unary"(%f) {function = "not"} : (tensor<?xi1, ["BLOCK"]>) -> tensor<?xi1, ["BLOCK"]>
  "tile.store"(%nf, %y, %index) {high = array<i64: 0>} : (tensor<?xi1, ["BLOCK"]>, memref<40xi1>, tensor<?xi32, ["BLOCK"]>) -> ()
  %hf = "tile.cast"(%h) {to = "f32"} : (tensor<?xbf16, ["BLOCK"]>) -> tensor<?xf32, ["BLOCK"]>
  %bf = "tile.cast"(%b) {to = "f32"} : (tensor<?xui8, ["BLOCK"]>) -> tensor<?xf32, ["BLOCK"]>
  %m = "tile.binary"(%hf, %bf) {function = "mul"} : (tensor<?xf32, ["BLOCK"]>, tensor<?xf32, ["BLOCK"]>) -> tensor<?xf32, ["BLOCK"]>
  %mh = "tile.cast"(%m) {to = "bf16"} : (tensor<?xf32, ["BLOCK"]>) -> tensor<?xbf16, ["BLOCK"]>
  "tile.store"(%mh, %z, %index) {high = array<i64: 0>} : (tensor<?xbf16, ["BLOCK"]>, memref<40xbf16>, tensor<?xi32, ["BLOCK"]>) -> ()
  %minus = "tile.full"() {value = dense<-3> : tensor<i8>} : () -> tensor<i8>
  %sq = "tile.binary"(%s, %minus) {function = "quotient"} : (tensor<?xi8, ["BLOCK"]>, tensor<i8>) -> tensor<?xi8, ["BLOCK"]>
  "tile.store"(%sq, %w, %index) {high = array<i64: 0>} : (tensor<?xi8, ["BLOCK"]>, memref<40xi8>, tensor<?xi32, ["BLOCK"]>) -> ()
  %bits = "tile.bit_cast"(%hf) {to = "i32"} : (tensor<?xf32, ["BLOCK"]>) -> tensor<?xi32, ["BLOCK"]>
  "tile.store"(%bits, %v, %index) {high = array<i64: 0>} : (tensor<?xi32, ["BLOCK"]>, memref<40xi32>, tensor<?xi32, ["BLOCK"]>) -> ()
  %two = "tile.full"() {value = dense<2> : tensor<ui8>} : () -> tensor<ui8>
  %sh = "tile.binary"(%b, %two) {function = "shift_right"} : (tensor<?xui8, ["BLOCK"]>, tensor<ui8>) -> tensor<?xui8, ["BLOCK"]>
  "tile.store"(%sh, %u, %index) {high = array<i64: 0>} : (tensor<?xui8, ["BLOCK"]>, memref<40xui8>, tensor<?xi32, ["BLOCK"]>) -> ()
  %sl = "tile.cast"(%s) {to = "i64"} : (tensor<?xi8, ["BLOCK"]>) -> tensor<?xi64, ["BLOCK"]>
  %mx = "tile.binary"(%sl, %sl) {function = "min"} : (tensor<?xi64, ["BLOCK"]>, tensor<?xi64, ["BLOCK"]>) -> tensor<?xi64, ["BLOCK"]>
  %fi = "tile.cast"(%f) {to = "i64"} : (tensor<?xi1, ["BLOCK"]>) -> tensor<?xi64, ["BLOCK"]>
  %tt = "tile.binary"(%mx, %fi) {function = "add"} : (tensor<?xi64, ["BLOCK"]>, tensor<?xi64, ["BLOCK"]>) -> tensor<?xi64, ["BLOCK"]>
  "tile.store"(%tt, %t, %index) {high = array<i64: 0>} : (tensor<?xi64, ["BLOCK"]>, memref<40xi64>, tensor<?xi32, ["BLOCK"]>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "types", grid = ["40/BLOCK"], blocks = ["BLOCK=16"]} : () -> ()

// From 2^31 elements on, 32 bits do not count them.
// CHECK:      def large(x_ptr, y_ptr, B: tl.constexpr):
// CHECK:          x = tl.load(x_ptr + tl.cast(row, tl.int64) * 1073741824 + tl.cast(lanes, tl.int64))
// CHECK-NEXT:     tl.store(y_ptr + lanes, x)
"tile.kernel"() ({
^bb0(%x: memref<3x1073741824xf32> loc("x"), %y: memref<16xf32> loc("y")):
  %zero = "tile.full"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %lanes = "tile.arange"() {block = "B"} : () -> tensor<?xi32, ["B"]> loc("lanes")
  %two = "tile.full"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %least = "tile.full"() {value = dense<0> : tensor<i32>, shape = ["B"]} : () -> tensor<?xi32, ["B"]>
  %row = "tile.binary"(%least, %two) {function = "add"} : (tensor<?xi32, ["B"]>, tensor<i32>) -> tensor<?xi32, ["B"]> loc("row")
  %v = "tile.load"(%x, %row, %lanes) : (memref<3x1073741824xf32>, tensor<?xi32, ["B"]>, tensor<?xi32, ["B"]>) -> tensor<?xf32, ["B"]>
  "tile.store"(%v, %y, %lanes) : (tensor<?xf32, ["B"]>, memref<16xf32>, tensor<?xi32, ["B"]>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "large", grid = ["1"], blocks = ["B=16"]} : () -> ()
