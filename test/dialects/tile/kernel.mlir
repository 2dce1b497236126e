// RUN: trivium-opt %s | FileCheck %s

// A kernel has a grid, block sizes, and memory as arguments; its tiles name the block sizes.
// CHECK-LABEL: "tile.kernel"() ({
// CHECK-NEXT:    ^bb0(%[[X:.*]]: memref<100xf32>, %[[Y:.*]]: memref<100xf32>):
// CHECK-NEXT:      %[[PROGRAM:.*]] = "tile.program_id"() {axis = 0 : i64} : () -> tensor<i32>
// CHECK-NEXT:      %[[SIZE:.*]] = "tile.block_size"() {block = "BM"} : () -> tensor<i32>
// CHECK-NEXT:      %[[FIRST:.*]] = "tile.binary"(%[[PROGRAM]], %[[SIZE]])
// CHECK-NEXT:      %[[STEPS:.*]] = "tile.arange"() {block = "BM"} : () -> tensor<?xi32, ["BM"]>
// CHECK-NEXT:      %[[ROWS:.*]] = "tile.binary"(%[[FIRST]], %[[STEPS]])
// CHECK:           "tile.store"(%{{.*}}, %[[Y]], %[[ROWS]])
// CHECK-NEXT:      "tile.return"() : () -> ()
// CHECK-NEXT:    }) {blocks = ["BM=16"], grid = ["100/BM"], group = 0 : i64, stages = 2 : i64, sym_name = "copy", warps = 8 : i64} : () -> ()
"tile.kernel"() ({
^bb0(%x: memref<100xf32>, %y: memref<100xf32>):
  %program = "tile.program_id"() {axis = 0} : () -> tensor<i32>
  %size = "tile.block_size"() {block = "BM"} : () -> tensor<i32>
  %first = "tile.binary"(%program, %size) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %steps = "tile.arange"() {block = "BM"} : () -> tensor<?xi32, ["BM"]>
  %rows = "tile.binary"(%first, %steps) {function = "add"} : (tensor<i32>, tensor<?xi32, ["BM"]>) -> tensor<?xi32, ["BM"]>
  %a = "tile.load"(%x, %rows) {high = array<i64: 0>} : (memref<100xf32>, tensor<?xi32, ["BM"]>) -> tensor<?xf32, ["BM"]>
  "tile.store"(%a, %y, %rows) {high = array<i64: 0>} : (tensor<?xf32, ["BM"]>, memref<100xf32>, tensor<?xi32, ["BM"]>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "copy", grid = ["100/BM"], blocks = ["BM=16"], group = 0, warps = 8, stages = 2} : () -> ()

// Programs may walk two axes in bands; a range may have a size without a name. Candidates are settings
// to try.
// CHECK-LABEL: "tile.kernel"() ({
// CHECK:         "tile.arange"() {block = "8"} : () -> tensor<8xi32>
// CHECK:       }) {blocks = ["BM=2"], candidates = ["BM=4 warps=2 stages=3"], grid = ["3", "4"], group = 2 : i64, sym_name = "bands"} : () -> ()
"tile.kernel"() ({
^bb0(%y: memref<4x3xf32, strided<[1, 4]>>):
  %steps = "tile.arange"() {block = "8"} : () -> tensor<8xi32>
  "tile.return"() : () -> ()
}) {sym_name = "bands", grid = ["3", "4"], group = 2, blocks = ["BM=2"], candidates = ["BM=4 warps=2 stages=3"]} : () -> ()
