// RUN: trivium-opt %s --use-descriptors --split-input-file | FileCheck %s

// Factors of a product, and what it makes, are blocks of matrices with rows of 128 bytes.
// CHECK: %[[A:.*]] = "tile.load_block"(%arg0, %[[ROW:.*]], %[[K:.*]]) {block = ["BM", "BK"]}
// CHECK: %[[B:.*]] = "tile.load_block"(%arg1, %[[K]], %[[COLUMN:.*]]) {block = ["BK", "BN"]}
// CHECK: %[[Y:.*]] = "tile.dot"(%[[A]], %[[B]]
// CHECK: "tile.store_block"(%{{.*}}, %arg2, %[[ROW]], %[[COLUMN]])
// CHECK-NOT: "tile.arange"
"tile.kernel"() ({
^bb0(%x: memref<64x64xf16>, %w: memref<64x64xf16>, %y: memref<64x64xf16>):
  %size = "tile.block_size"() {block = "BM"} : () -> tensor<i32>
  %m = "tile.program_id"() {axis = 0} : () -> tensor<i32>
  %row = "tile.binary"(%m, %size) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %rm = "tile.arange"() {block = "BM"} : () -> tensor<?xi32, ["BM"]>
  %rk = "tile.arange"() {block = "BK"} : () -> tensor<?xi32, ["BK"]>
  %rn = "tile.arange"() {block = "BN"} : () -> tensor<?xi32, ["BN"]>
  %i = "tile.binary"(%rm, %row) {function = "add"} : (tensor<?xi32, ["BM"]>, tensor<i32>) -> tensor<?xi32, ["BM"]>
  %rows = "tile.expand"(%i) {axis = 1} : (tensor<?xi32, ["BM"]>) -> tensor<?x1xi32, ["BM", ""]>
  %ka = "tile.expand"(%rk) {axis = 0} : (tensor<?xi32, ["BK"]>) -> tensor<1x?xi32, ["", "BK"]>
  %kb = "tile.expand"(%rk) {axis = 1} : (tensor<?xi32, ["BK"]>) -> tensor<?x1xi32, ["BK", ""]>
  %columns = "tile.expand"(%rn) {axis = 0} : (tensor<?xi32, ["BN"]>) -> tensor<1x?xi32, ["", "BN"]>
  %a = "tile.load"(%x, %rows, %ka) {high = array<i64: 0, 1>} : (memref<64x64xf16>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BK"]>) -> tensor<?x?xf16, ["BM", "BK"]>
  %b = "tile.load"(%w, %kb, %columns) {high = array<i64: 0, 1>} : (memref<64x64xf16>, tensor<?x1xi32, ["BK", ""]>, tensor<1x?xi32, ["", "BN"]>) -> tensor<?x?xf16, ["BK", "BN"]>
  %zero = "tile.full"() {shape = ["BM", "BN"], value = dense<0.0> : tensor<f32>} : () -> tensor<?x?xf32, ["BM", "BN"]>
  %d = "tile.dot"(%a, %b, %zero) : (tensor<?x?xf16, ["BM", "BK"]>, tensor<?x?xf16, ["BK", "BN"]>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
  %r = "tile.cast"(%d) {to = "f16"} : (tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf16, ["BM", "BN"]>
  "tile.store"(%r, %y, %rows, %columns) {high = array<i64: 0, 1>} : (tensor<?x?xf16, ["BM", "BN"]>, memref<64x64xf16>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BN"]>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "product", grid = ["64/BM"], blocks = ["BM=32", "BN=64", "BK=64"]} : () -> ()

// -----

// The second factor lies by columns: a block of it is loaded as it lies, and transposed.
// CHECK: %[[V:.*]] = "tile.view"(%arg1)
// CHECK: %[[B:.*]] = "tile.load_block"(%[[V]], %{{.*}}, %{{.*}}) {block = ["BN", "BK"]}
// CHECK: %[[T:.*]] = "tile.transpose"(%[[B]])
// CHECK: "tile.dot"(%{{.*}}, %[[T]]
"tile.kernel"() ({
^bb0(%x: memref<64x64xf16>, %w: memref<64x64xf16, strided<[1, 64]>>, %y: memref<64x64xf16>):
  %rm = "tile.arange"() {block = "BM"} : () -> tensor<?xi32, ["BM"]>
  %rk = "tile.arange"() {block = "BK"} : () -> tensor<?xi32, ["BK"]>
  %rn = "tile.arange"() {block = "BN"} : () -> tensor<?xi32, ["BN"]>
  %rows = "tile.expand"(%rm) {axis = 1} : (tensor<?xi32, ["BM"]>) -> tensor<?x1xi32, ["BM", ""]>
  %ka = "tile.expand"(%rk) {axis = 0} : (tensor<?xi32, ["BK"]>) -> tensor<1x?xi32, ["", "BK"]>
  %kb = "tile.expand"(%rk) {axis = 1} : (tensor<?xi32, ["BK"]>) -> tensor<?x1xi32, ["BK", ""]>
  %columns = "tile.expand"(%rn) {axis = 0} : (tensor<?xi32, ["BN"]>) -> tensor<1x?xi32, ["", "BN"]>
  %a = "tile.load"(%x, %rows, %ka) : (memref<64x64xf16>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BK"]>) -> tensor<?x?xf16, ["BM", "BK"]>
  %b = "tile.load"(%w, %kb, %columns) : (memref<64x64xf16, strided<[1, 64]>>, tensor<?x1xi32, ["BK", ""]>, tensor<1x?xi32, ["", "BN"]>) -> tensor<?x?xf16, ["BK", "BN"]>
  %zero = "tile.full"() {shape = ["BM", "BN"], value = dense<0.0> : tensor<f32>} : () -> tensor<?x?xf32, ["BM", "BN"]>
  %d = "tile.dot"(%a, %b, %zero) : (tensor<?x?xf16, ["BM", "BK"]>, tensor<?x?xf16, ["BK", "BN"]>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
  %r = "tile.cast"(%d) {to = "f16"} : (tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf16, ["BM", "BN"]>
  "tile.store"(%r, %y, %rows, %columns) : (tensor<?x?xf16, ["BM", "BN"]>, memref<64x64xf16>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BN"]>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "by_columns", grid = ["1"], blocks = ["BM=64", "BN=64", "BK=64"]} : () -> ()

// -----

// Rows of 120 bytes do not all begin at a multiple of 16; blocks before the first row, and rows
// that are gathered, have no descriptor either.
// CHECK-NOT: "tile.load_block"
// CHECK-COUNT-3: "tile.load"
// CHECK-NOT: "tile.load_block"
"tile.kernel"() ({
^bb0(%x: memref<64x60xf16>, %v: memref<64x64xf16>, %w: memref<64x64xf16>, %y: memref<64x64xf32>):
  %rm = "tile.arange"() {block = "BM"} : () -> tensor<?xi32, ["BM"]>
  %two = "tile.full"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %before = "tile.full"() {value = dense<-2> : tensor<i32>} : () -> tensor<i32>
  %every = "tile.binary"(%rm, %two) {function = "mul"} : (tensor<?xi32, ["BM"]>, tensor<i32>) -> tensor<?xi32, ["BM"]>
  %early = "tile.binary"(%rm, %before) {function = "add"} : (tensor<?xi32, ["BM"]>, tensor<i32>) -> tensor<?xi32, ["BM"]>
  %rows = "tile.expand"(%rm) {axis = 1} : (tensor<?xi32, ["BM"]>) -> tensor<?x1xi32, ["BM", ""]>
  %gathered = "tile.expand"(%every) {axis = 1} : (tensor<?xi32, ["BM"]>) -> tensor<?x1xi32, ["BM", ""]>
  %low = "tile.expand"(%early) {axis = 1} : (tensor<?xi32, ["BM"]>) -> tensor<?x1xi32, ["BM", ""]>
  %columns = "tile.expand"(%rm) {axis = 0} : (tensor<?xi32, ["BM"]>) -> tensor<1x?xi32, ["", "BM"]>
  %a = "tile.load"(%x, %rows, %columns) {high = array<i64: 0, 1>} : (memref<64x60xf16>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BM"]>) -> tensor<?x?xf16, ["BM", "BM"]>
  %b = "tile.load"(%v, %low, %columns) {low = array<i64: 0>} : (memref<64x64xf16>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BM"]>) -> tensor<?x?xf16, ["BM", "BM"]>
  %c = "tile.load"(%w, %gathered, %columns) {high = array<i64: 0>} : (memref<64x64xf16>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BM"]>) -> tensor<?x?xf16, ["BM", "BM"]>
  %zero = "tile.full"() {shape = ["BM", "BM"], value = dense<0.0> : tensor<f32>} : () -> tensor<?x?xf32, ["BM", "BM"]>
  %d = "tile.dot"(%a, %b, %zero) : (tensor<?x?xf16, ["BM", "BM"]>, tensor<?x?xf16, ["BM", "BM"]>, tensor<?x?xf32, ["BM", "BM"]>) -> tensor<?x?xf32, ["BM", "BM"]>
  %e = "tile.dot"(%a, %c, %d) : (tensor<?x?xf16, ["BM", "BM"]>, tensor<?x?xf16, ["BM", "BM"]>, tensor<?x?xf32, ["BM", "BM"]>) -> tensor<?x?xf32, ["BM", "BM"]>
  "tile.store"(%e, %y, %gathered, %columns) {high = array<i64: 0>} : (tensor<?x?xf32, ["BM", "BM"]>, memref<64x64xf32>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BM"]>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "misfits", grid = ["1"], blocks = ["BM=64"]} : () -> ()

// -----

// Without matrix units loads stay what they are: f32 is multiplied as it is.
// CHECK-NOT: "tile.load_block"
// CHECK-NOT: "tile.store_block"
"tile.kernel"() ({
^bb0(%x: memref<64x64xf32>, %y: memref<64x64xf32>):
  %rm = "tile.arange"() {block = "BM"} : () -> tensor<?xi32, ["BM"]>
  %rows = "tile.expand"(%rm) {axis = 1} : (tensor<?xi32, ["BM"]>) -> tensor<?x1xi32, ["BM", ""]>
  %columns = "tile.expand"(%rm) {axis = 0} : (tensor<?xi32, ["BM"]>) -> tensor<1x?xi32, ["", "BM"]>
  %a = "tile.load"(%x, %rows, %columns) : (memref<64x64xf32>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BM"]>) -> tensor<?x?xf32, ["BM", "BM"]>
  %d = "tile.dot"(%a, %a, %a) : (tensor<?x?xf32, ["BM", "BM"]>, tensor<?x?xf32, ["BM", "BM"]>, tensor<?x?xf32, ["BM", "BM"]>) -> tensor<?x?xf32, ["BM", "BM"]>
  "tile.store"(%d, %y, %rows, %columns) : (tensor<?x?xf32, ["BM", "BM"]>, memref<64x64xf32>, tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BM"]>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "exact", grid = ["1"], blocks = ["BM=64"]} : () -> ()
