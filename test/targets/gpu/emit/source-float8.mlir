// RUN: trivium-opt %s --emit=triton | FileCheck %s

// Floats of 8 bits have pointers of their own; sums of one instruction are added to those of f32.
// CHECK:      def square(
// CHECK:          a = tl.load(
// CHECK:              other=0.0,
// CHECK:          wide = a.to(tl.float32)
// CHECK:          dot = tl.dot(a, transpose, full, max_num_imprecise_acc=32, out_dtype=tl.float32)
"tile.kernel"() ({
^bb0(%x: memref<30x32xf8E4M3FN> loc("x"), %y: memref<32x32xf32> loc("y"), %w: memref<32x32xf32> loc("w")):
  %i = "tile.arange"() {block = "32"} : () -> tensor<32xi32>
  %r = "tile.expand"(%i) {axis = 1 : i64} : (tensor<32xi32>) -> tensor<32x1xi32>
  %c = "tile.expand"(%i) {axis = 0 : i64} : (tensor<32xi32>) -> tensor<1x32xi32>
  %a = "tile.load"(%x, %r, %c) {high = array<i64: 0>} : (memref<30x32xf8E4M3FN>, tensor<32x1xi32>, tensor<1x32xi32>) -> tensor<32x32xf8E4M3FN> loc("a")
  %f = "tile.cast"(%a) {to = "f32"} : (tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32> loc("wide")
  "tile.store"(%f, %w, %r, %c) : (tensor<32x32xf32>, memref<32x32xf32>, tensor<32x1xi32>, tensor<1x32xi32>) -> ()
  %b = "tile.transpose"(%a) : (tensor<32x32xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
  %z = "tile.full"() {value = dense<0.0> : tensor<f32>, shape = ["32", "32"]} : () -> tensor<32x32xf32>
  %p = "tile.dot"(%a, %b, %z) : (tensor<32x32xf8E4M3FN>, tensor<32x32xf8E4M3FN>, tensor<32x32xf32>) -> tensor<32x32xf32>
  "tile.store"(%p, %y, %r, %c) : (tensor<32x32xf32>, memref<32x32xf32>, tensor<32x1xi32>, tensor<1x32xi32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "square", grid = ["1"]} : () -> ()
