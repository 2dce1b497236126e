// RUN: trivium-opt %s --emit=triton | FileCheck %s

// What is read and written by the block is passed as a descriptor. No precision is printed for f16:
// there is but one.
// CHECK:      def descriptors(a_desc, b_desc, y_desc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
// CHECK:          for k in range(0, 96, BK):
// CHECK-NEXT:         a = a_desc.load([row, k])
// CHECK-NEXT:         b = b_desc.load([column, k])
// CHECK-NEXT:         transpose = tl.trans(b)
// CHECK-NEXT:         acc = tl.dot(a, transpose, acc, out_dtype=tl.float32)
// CHECK-NEXT:     acc_f16 = acc.to(tl.float16)
// CHECK-NEXT:     y_desc.store([row, column], acc_f16)
"tile.kernel"() ({
^bb0(%a: memref<100x96xf16> loc("a"), %b: memref<72x96xf16> loc("b"), %y: memref<100x72xf16> loc("y")):
  %row_program = "tile.program_id"() {axis = 0 : i64} : () -> tensor<i32> loc("row_program")
  %BM_size = "tile.block_size"() {block = "BM"} : () -> tensor<i32>
  %row = "tile.binary"(%row_program, %BM_size) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32> loc("row")
  %column_program = "tile.program_id"() {axis = 1 : i64} : () -> tensor<i32> loc("column_program")
  %BN_size = "tile.block_size"() {block = "BN"} : () -> tensor<i32>
  %column = "tile.binary"(%column_program, %BN_size) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32> loc("column")
  %zeros = "tile.full"() {value = dense<0.0> : tensor<f32>, shape = ["BM", "BN"]} : () -> tensor<?x?xf32, ["BM", "BN"]>
  %lower = "tile.full"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %upper = "tile.full"() {value = dense<96> : tensor<i32>} : () -> tensor<i32>
  %BK_size = "tile.block_size"() {block = "BK"} : () -> tensor<i32>
  %product = "tile.for"(%lower, %upper, %BK_size, %zeros) ({
  ^bb0(%k: tensor<i32> loc("k"), %acc: tensor<?x?xf32, ["BM", "BN"]> loc("acc")):
    %at = "tile.load_block"(%a, %row, %k) {block = ["BM", "BK"]} : (memref<100x96xf16>, tensor<i32>, tensor<i32>) -> tensor<?x?xf16, ["BM", "BK"]>
    %bt = "tile.load_block"(%b, %column, %k) {block = ["BN", "BK"]} : (memref<72x96xf16>, tensor<i32>, tensor<i32>) -> tensor<?x?xf16, ["BN", "BK"]>
    %bx = "tile.transpose"(%bt) : (tensor<?x?xf16, ["BN", "BK"]>) -> tensor<?x?xf16, ["BK", "BN"]>
    %next = "tile.dot"(%at, %bx, %acc) : (tensor<?x?xf16, ["BM", "BK"]>, tensor<?x?xf16, ["BK", "BN"]>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
    "tile.yield"(%next) : (tensor<?x?xf32, ["BM", "BN"]>) -> ()
  }) {stages = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
  %half = "tile.cast"(%product) {to = "f16"} : (tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf16, ["BM", "BN"]>
  "tile.store_block"(%half, %y, %row, %column) : (tensor<?x?xf16, ["BM", "BN"]>, memref<100x72xf16>, tensor<i32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "descriptors", grid = ["100/BM", "72/BN"], blocks = ["BM=64", "BN=32", "BK=32"], warps = 4, stages = 3} : () -> ()
