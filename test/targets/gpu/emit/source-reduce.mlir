// RUN: trivium-opt %s --emit=triton | FileCheck %s

// What is out of bounds is padded with what changes no result. A product needs a function of its own.
// CHECK:      @triton.jit
// CHECK-NEXT: def _product(a, b):
// CHECK-NEXT:     return a * b
// CHECK:      @triton.jit
// CHECK-NEXT: def softmax(x_ptr, y_ptr, best_ptr, product_ptr, running_ptr, BM: tl.constexpr, BN: tl.constexpr):
// CHECK:              other=float("-inf"),
// CHECK:          max_1 = tl.max(x, 1)
// CHECK-NEXT:     shifted = x - max_1[:, None]
// CHECK-NEXT:     exp = tl.exp(shifted)
// CHECK-NEXT:     sum_1 = tl.sum(exp, 1)
// CHECK-NEXT:     div = exp / sum_1[:, None]
// CHECK:          argmax = tl.argmax(x, 1)
// CHECK:          prod = tl.reduce(padded, 1, _product)
// CHECK:          cumsum = tl.cumsum(exp, 1, reverse=True)
"tile.kernel"() ({
^bb0(%x: memref<5x20xf32> loc("x"), %y: memref<5x20xf32> loc("y"), %best: memref<5xi32> loc("best"), %product: memref<5xf32> loc("product"), %running: memref<5x20xf32> loc("running")):
  %program = "tile.program_id"() {axis = 0 : i64} : () -> tensor<i32> loc("program")
  %BM_size = "tile.block_size"() {block = "BM"} : () -> tensor<i32>
  %rows_first = "tile.binary"(%program, %BM_size) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32> loc("rows_first")
  %rows_lanes = "tile.arange"() {block = "BM"} : () -> tensor<?xi32, ["BM"]> loc("rows_lanes")
  %rows = "tile.binary"(%rows_first, %rows_lanes) {function = "add"} : (tensor<i32>, tensor<?xi32, ["BM"]>) -> tensor<?xi32, ["BM"]> loc("rows")
  %columns = "tile.arange"() {block = "BN"} : () -> tensor<?xi32, ["BN"]> loc("columns")
  %r = "tile.expand"(%rows) {axis = 1 : i64} : (tensor<?xi32, ["BM"]>) -> tensor<?x1xi32, ["BM", ""]>
  %c = "tile.expand"(%columns) {axis = 0 : i64} : (tensor<?xi32, ["BN"]>) -> tensor<1x?xi32, ["", "BN"]>
  %xs = "tile.load"(%x, %r, %c) {high = array<i64: 0, 1>, pad = 0xFFF0000000000000 : f64} : (memref<5x20xf32>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
  %most = "tile.reduce"(%xs) {kind = "max", axis = 1 : i64} : (tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?xf32, ["BM"]>
  %me = "tile.expand"(%most) {axis = 1 : i64} : (tensor<?xf32, ["BM"]>) -> tensor<?x1xf32, ["BM", ""]>
  %d = "tile.binary"(%xs, %me) {function = "sub"} : (tensor<?x?xf32, ["BM", "BN"]>, tensor<?x1xf32, ["BM", ""]>) -> tensor<?x?xf32, ["BM", "BN"]> loc("shifted")
  %e = "tile.unary"(%d) {function = "exp"} : (tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
  %s = "tile.reduce"(%e) {kind = "sum", axis = 1 : i64} : (tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?xf32, ["BM"]>
  %se = "tile.expand"(%s) {axis = 1 : i64} : (tensor<?xf32, ["BM"]>) -> tensor<?x1xf32, ["BM", ""]>
  %q = "tile.binary"(%e, %se) {function = "div"} : (tensor<?x?xf32, ["BM", "BN"]>, tensor<?x1xf32, ["BM", ""]>) -> tensor<?x?xf32, ["BM", "BN"]>
  "tile.store"(%q, %y, %r, %c) {high = array<i64: 0, 1>} : (tensor<?x?xf32, ["BM", "BN"]>, memref<5x20xf32>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BN"]>) -> ()
  %w = "tile.reduce"(%xs) {kind = "argmax", axis = 1 : i64} : (tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?xi32, ["BM"]>
  "tile.store"(%w, %best, %rows) {high = array<i64: 0>} : (tensor<?xi32, ["BM"]>, memref<5xi32>, tensor<?xi32, ["BM"]>) -> ()
  %ones = "tile.load"(%x, %r, %c) {high = array<i64: 0, 1>, pad = 1.0 : f64} : (memref<5x20xf32>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]> loc("padded")
  %p = "tile.reduce"(%ones) {kind = "prod", axis = 1 : i64} : (tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?xf32, ["BM"]>
  "tile.store"(%p, %product, %rows) {high = array<i64: 0>} : (tensor<?xf32, ["BM"]>, memref<5xf32>, tensor<?xi32, ["BM"]>) -> ()
  %cs = "tile.scan"(%e) {kind = "sum", axis = 1 : i64, reverse = true} : (tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
  "tile.store"(%cs, %running, %r, %c) {high = array<i64: 0, 1>} : (tensor<?x?xf32, ["BM", "BN"]>, memref<5x20xf32>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BN"]>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "softmax", grid = ["5/BM"], blocks = ["BM=4", "BN=32"]} : () -> ()
