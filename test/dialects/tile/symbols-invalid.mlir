// RUN: trivium-opt %s --split-input-file --verify-diagnostics

// Each dynamic size has an expression.
// expected-error @below {{'tile.kernel' op memref<?x?xf32, {sizes = ["N", ""]}> must have expressions for dynamic sizes, and for no others}}
"tile.kernel"() ({
^bb0(%x: memref<?x?xf32, {sizes = ["N", ""]}>):
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], trivium.symbols = {N = "1.."}} : () -> ()

// -----

// A number needs none.
// expected-error @below {{'tile.kernel' op memref<?x4xf32, {sizes = ["N", "4"]}> must have expressions for dynamic sizes, and for no others}}
"tile.kernel"() ({
^bb0(%x: memref<?x4xf32, {sizes = ["N", "4"]}>):
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], trivium.symbols = {N = "1.."}} : () -> ()

// -----

// Expressions have one spelling.
// expected-error @below {{'tile.kernel' op memref<?xf32, {sizes = ["N + N"]}> has expression 'N + N', must be spelled 2*N}}
"tile.kernel"() ({
^bb0(%x: memref<?xf32, {sizes = ["N + N"]}>):
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], trivium.symbols = {N = "1.."}} : () -> ()

// -----

// Of symbols that are declared.
// expected-error @below {{grid has 'M/BM', must be like 128/BM or 8: }}
"tile.kernel"() ({
^bb0(%x: memref<4xf32>):
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["M/BM"], blocks = ["BM=16"], trivium.symbols = {N = "1.."}} : () -> ()

// -----

// A memory space has nothing else.
// expected-error @below {{'tile.kernel' op memref<?xf32, {shape = ["N"], sizes = ["N"]}> has keys ['shape', 'sizes'], must have 'sizes', and may 'strides'}}
"tile.kernel"() ({
^bb0(%x: memref<?xf32, {shape = ["N"], sizes = ["N"]}>):
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], trivium.symbols = {N = "1.."}} : () -> ()

// -----

// A view stays inside where sizes decide it.
"tile.kernel"() ({
^bb0(%x: memref<?xf32, {sizes = ["N"]}>):
  // expected-error @below {{'tile.view' op reaches N + 1 elements of N}}
  %y = "tile.view"(%x) {shape = ["N + 1"], strides = array<i64>} : (memref<?xf32, {sizes = ["N"]}>) -> memref<?xf32, {sizes = ["N + 1"]}>
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], trivium.symbols = {N = "1.."}} : () -> ()
