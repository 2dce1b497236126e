// RUN: trivium-opt %s --emit=triton --split-input-file --verify-diagnostics

// expected-error @below {{'tile.kernel' op has 4294967296 programs, a launch has 2147483647 at most}}
"tile.kernel"() ({
^bb0(%y: memref<1xf32>):
  "tile.return"() : () -> ()
}) {sym_name = "many", grid = ["65536", "65536"]} : () -> ()

// -----

// expected-error @below {{'tile.kernel' op multiplies matrices of ui8, which Triton does not}}
"tile.kernel"() ({
^bb0(%y: memref<16x16xi32>):
  %a = "tile.full"() {value = dense<1> : tensor<ui8>, shape = ["16", "16"]} : () -> tensor<16x16xui8>
  %acc = "tile.full"() {value = dense<1> : tensor<i32>, shape = ["16", "16"]} : () -> tensor<16x16xi32>
  %c = "tile.dot"(%a, %a, %acc) : (tensor<16x16xui8>, tensor<16x16xui8>, tensor<16x16xi32>) -> tensor<16x16xi32>
  "tile.return"() : () -> ()
}) {sym_name = "bytes", grid = ["1"]} : () -> ()

// -----

// expected-error @below {{'tile.kernel' op adds to i16 in memory, which Triton does not}}
"tile.kernel"() ({
^bb0(%y: memref<4xi16>):
  %zero = "tile.full"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tile.full"() {value = dense<1> : tensor<i16>} : () -> tensor<i16>
  "tile.store"(%one, %y, %zero) {accumulate = true} : (tensor<i16>, memref<4xi16>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "shorts", grid = ["1"]} : () -> ()

// -----

// expected-error @below {{'tile.kernel' op describes argument 0 in two ways}}
"tile.kernel"() ({
^bb0(%y: memref<64x64xf32>):
  %zero = "tile.full"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %a = "tile.load_block"(%y, %zero, %zero) {block = ["16", "16"]} : (memref<64x64xf32>, tensor<i32>, tensor<i32>) -> tensor<16x16xf32>
  %view = "tile.view"(%y) {shape = array<i64: 32, 64>} : (memref<64x64xf32>) -> memref<32x64xf32>
  %b = "tile.load_block"(%view, %zero, %zero) {block = ["16", "16"]} : (memref<32x64xf32>, tensor<i32>, tensor<i32>) -> tensor<16x16xf32>
  "tile.return"() : () -> ()
}) {sym_name = "twice", grid = ["1"]} : () -> ()

// -----

// expected-error @below {{'tile.kernel' op has a dimension of 3000000000 elements, indices go to 2147483648}}
"tile.kernel"() ({
^bb0(%y: memref<3000000000xi32>):
  %zero = "tile.full"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  "tile.store"(%zero, %y, %zero) : (tensor<i32>, memref<3000000000xi32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "long", grid = ["1"]} : () -> ()
