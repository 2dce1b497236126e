// RUN: trivium-opt %s --emit=triton | FileCheck %s

// A loop carries its sum in one variable, from the first value to the last. Programs walk the grid
// in bands of two rows of blocks. A line that is too long gets one for each argument.
// CHECK:      def matmul(a_ptr, b_ptr, bias_ptr, y_ptr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
// CHECK-NEXT:     program = tl.program_id(0)
// CHECK-NEXT:     band_start = program // (2 * tl.cdiv(72, BN)) * 2
// CHECK-NEXT:     band_height = tl.minimum(tl.cdiv(100, BM) - band_start, 2)
// CHECK-NEXT:     row_program = band_start + program % (2 * tl.cdiv(72, BN)) % band_height
// CHECK-NEXT:     column_program = program % (2 * tl.cdiv(72, BN)) // band_height
// CHECK:          acc = tl.full((BM, BN), 0.0, tl.float32)
// CHECK-NEXT:     for k in tl.range(0, 96, BK, num_stages=2):
// CHECK:              a = tl.load(
// CHECK-NEXT:             a_ptr + rows[:, None] * 96 + ks[None, :],
// CHECK-NEXT:             mask=(rows[:, None] < 100) & (ks[None, :] < 96),
// CHECK-NEXT:             other=0.0,
// CHECK-NEXT:         )
// CHECK:              acc = tl.dot(a, b, acc, input_precision="ieee", out_dtype=tl.float32)
// CHECK-NEXT:     bias = tl.load(bias_ptr + columns[None, :], mask=columns[None, :] < 72, other=0.0)
// CHECK-NEXT:     biased = acc + bias
// CHECK-NEXT:     relu = tl.maximum(biased, 0.0, propagate_nan=tl.PropagateNan.ALL)
// CHECK-NEXT:     tl.store(
"tile.kernel"() ({
^bb0(%a: memref<100x96xf32> loc("a"), %b: memref<96x72xf32> loc("b"), %bias: memref<72xf32> loc("bias"), %y: memref<100x72xf32> loc("y")):
  %row_program = "tile.program_id"() {axis = 0 : i64} : () -> tensor<i32> loc("row_program")
  %BM_size = "tile.block_size"() {block = "BM"} : () -> tensor<i32>
  %rows_first = "tile.binary"(%row_program, %BM_size) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32> loc("rows_first")
  %rows_lanes = "tile.arange"() {block = "BM"} : () -> tensor<?xi32, ["BM"]> loc("rows_lanes")
  %rows = "tile.binary"(%rows_first, %rows_lanes) {function = "add"} : (tensor<i32>, tensor<?xi32, ["BM"]>) -> tensor<?xi32, ["BM"]> loc("rows")
  %column_program = "tile.program_id"() {axis = 1 : i64} : () -> tensor<i32> loc("column_program")
  %BN_size = "tile.block_size"() {block = "BN"} : () -> tensor<i32>
  %columns_first = "tile.binary"(%column_program, %BN_size) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32> loc("columns_first")
  %columns_lanes = "tile.arange"() {block = "BN"} : () -> tensor<?xi32, ["BN"]> loc("columns_lanes")
  %columns = "tile.binary"(%columns_first, %columns_lanes) {function = "add"} : (tensor<i32>, tensor<?xi32, ["BN"]>) -> tensor<?xi32, ["BN"]> loc("columns")
  %r = "tile.expand"(%rows) {axis = 1 : i64} : (tensor<?xi32, ["BM"]>) -> tensor<?x1xi32, ["BM", ""]>
  %c = "tile.expand"(%columns) {axis = 0 : i64} : (tensor<?xi32, ["BN"]>) -> tensor<1x?xi32, ["", "BN"]>
  %zeros = "tile.full"() {value = dense<0.0> : tensor<f32>, shape = ["BM", "BN"]} : () -> tensor<?x?xf32, ["BM", "BN"]>
  %lower = "tile.full"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %upper = "tile.full"() {value = dense<96> : tensor<i32>} : () -> tensor<i32>
  %BK_size = "tile.block_size"() {block = "BK"} : () -> tensor<i32>
  %product = "tile.for"(%lower, %upper, %BK_size, %zeros) ({
  ^bb0(%k: tensor<i32> loc("k"), %acc: tensor<?x?xf32, ["BM", "BN"]> loc("acc")):
    %k_lanes = "tile.arange"() {block = "BK"} : () -> tensor<?xi32, ["BK"]> loc("k_lanes")
    %ks = "tile.binary"(%k, %k_lanes) {function = "add"} : (tensor<i32>, tensor<?xi32, ["BK"]>) -> tensor<?xi32, ["BK"]> loc("ks")
    %kr = "tile.expand"(%ks) {axis = 0 : i64} : (tensor<?xi32, ["BK"]>) -> tensor<1x?xi32, ["", "BK"]>
    %kc = "tile.expand"(%ks) {axis = 1 : i64} : (tensor<?xi32, ["BK"]>) -> tensor<?x1xi32, ["BK", ""]>
    %at = "tile.load"(%a, %r, %kr) {high = array<i64: 0, 1>} : (memref<100x96xf32>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BK"]>) -> tensor<?x?xf32, ["BM", "BK"]>
    %bt = "tile.load"(%b, %kc, %c) {high = array<i64: 0, 1>} : (memref<96x72xf32>, tensor<?x1xi32, ["BK", ""]>, tensor<1x?xi32, ["", "BN"]>) -> tensor<?x?xf32, ["BK", "BN"]>
    %next = "tile.dot"(%at, %bt, %acc) {precision = "ieee"} : (tensor<?x?xf32, ["BM", "BK"]>, tensor<?x?xf32, ["BK", "BN"]>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
    "tile.yield"(%next) : (tensor<?x?xf32, ["BM", "BN"]>) -> ()
  }) {stages = 2 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
  %bv = "tile.load"(%bias, %c) {high = array<i64: 0>} : (memref<72xf32>, tensor<1x?xi32, ["", "BN"]>) -> tensor<1x?xf32, ["", "BN"]>
  %sum = "tile.binary"(%product, %bv) {function = "add"} : (tensor<?x?xf32, ["BM", "BN"]>, tensor<1x?xf32, ["", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]> loc("biased")
  %zero = "tile.full"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %relu = "tile.binary"(%sum, %zero) {function = "max"} : (tensor<?x?xf32, ["BM", "BN"]>, tensor<f32>) -> tensor<?x?xf32, ["BM", "BN"]> loc("relu")
  "tile.store"(%relu, %y, %r, %c) {high = array<i64: 0, 1>} : (tensor<?x?xf32, ["BM", "BN"]>, memref<100x72xf32>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BN"]>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "matmul", grid = ["100/BM", "72/BN"], blocks = ["BM=32", "BN=32", "BK=32"], group = 2, warps = 4, stages = 3} : () -> ()
