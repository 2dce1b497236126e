// RUN: trivium-opt %s | FileCheck %s
// RUN: trivium-opt %s | trivium-opt | FileCheck %s

// Sizes of memory and of the grid may depend on symbols: an attribute declares them, memory spaces
// have the expressions, and the program may ask for a size.
// CHECK-LABEL: "tile.kernel"() ({
// CHECK-NEXT:    ^bb0(%[[X:.*]]: memref<?x?xf32, {sizes = ["N", "T"]}>, %[[Y:.*]]: memref<?x4xf32, strided<[?, 1]>, {sizes = ["N", ""], strides = ["2*T", ""]}>):
// CHECK-NEXT:      %{{.*}} = "tile.size_of"() {size = "N*T"} : () -> tensor<i32>
// CHECK-NEXT:      %{{.*}} = "tile.view"(%[[X]]) {shape = ["N*T"], strides = array<i64>} : (memref<?x?xf32, {sizes = ["N", "T"]}>) -> memref<?xf32, {sizes = ["N*T"]}>
// CHECK:         }) {blocks = ["BM=16"], grid = ["N*T/BM", "(T + 1)//2"], sym_name = "symbolic", trivium.symbols = {N = "1..8", T = "2..:128"}} : () -> ()
"tile.kernel"() ({
^bb0(%x: memref<?x?xf32, {sizes = ["N", "T"]}>, %y: memref<?x4xf32, strided<[?, 1]>, {sizes = ["N", ""], strides = ["2*T", ""]}>):
  %count = "tile.size_of"() {size = "N*T"} : () -> tensor<i32>
  %flat = "tile.view"(%x) {shape = ["N*T"], strides = array<i64>} : (memref<?x?xf32, {sizes = ["N", "T"]}>) -> memref<?xf32, {sizes = ["N*T"]}>
  "tile.return"() : () -> ()
}) {sym_name = "symbolic", grid = ["N*T/BM", "(T + 1)//2"], blocks = ["BM=16"], trivium.symbols = {N = "1..8", T = "2..:128"}} : () -> ()
