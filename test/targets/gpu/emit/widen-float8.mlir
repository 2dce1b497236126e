// RUN: trivium-opt %s --widen-float8 --split-input-file | FileCheck %s

// Bits of f8E5M2 are the first half of those of f16, and memory is of bytes.
// CHECK: ^bb0(%[[X:.*]]: memref<16x32xui8>, %[[Y:.*]]: memref<16x16xf32>):
// CHECK: %[[BITS:.*]] = "tile.load"(%[[X]], {{.*}} -> tensor<16x32xui8>
// CHECK: "tile.transpose"(%[[BITS]]) : (tensor<16x32xui8>) -> tensor<32x16xui8>
// CHECK: %[[WIDE:.*]] = "tile.cast"(%[[BITS]]) {to = "i16"}
// CHECK: "tile.binary"(%{{.*}}, %{{.*}}) {function = "shift_left"}
// CHECK: "tile.bit_cast"(%{{.*}}) {to = "f16"}
// CHECK-NOT: f8E5M2
// CHECK: "tile.dot"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>)
"tile.kernel"() ({
^bb0(%x: memref<16x32xf8E5M2>, %y: memref<16x16xf32>):
  %i = "tile.arange"() {block = "16"} : () -> tensor<16xi32>
  %j = "tile.arange"() {block = "32"} : () -> tensor<32xi32>
  %r = "tile.expand"(%i) {axis = 1 : i64} : (tensor<16xi32>) -> tensor<16x1xi32>
  %c = "tile.expand"(%j) {axis = 0 : i64} : (tensor<32xi32>) -> tensor<1x32xi32>
  %n = "tile.expand"(%i) {axis = 0 : i64} : (tensor<16xi32>) -> tensor<1x16xi32>
  %a = "tile.load"(%x, %r, %c) : (memref<16x32xf8E5M2>, tensor<16x1xi32>, tensor<1x32xi32>) -> tensor<16x32xf8E5M2>
  %b = "tile.transpose"(%a) : (tensor<16x32xf8E5M2>) -> tensor<32x16xf8E5M2>
  %z = "tile.full"() {value = dense<0.0> : tensor<f32>, shape = ["16", "16"]} : () -> tensor<16x16xf32>
  %p = "tile.dot"(%a, %b, %z) : (tensor<16x32xf8E5M2>, tensor<32x16xf8E5M2>, tensor<16x16xf32>) -> tensor<16x16xf32>
  "tile.store"(%p, %y, %r, %n) : (tensor<16x16xf32>, memref<16x16xf32>, tensor<16x1xi32>, tensor<1x16xi32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "square", grid = ["1"]} : () -> ()

// -----

// Casts are widened in f32.
// CHECK: ^bb0(%[[X:.*]]: memref<16xui8>, %{{.*}}: memref<16xf16>):
// CHECK: %[[BITS:.*]] = "tile.load"(%[[X]], {{.*}} -> tensor<16xui8>
// CHECK: "tile.cast"(%[[BITS]]) {to = "i32"}
// CHECK-NOT: f8E4M3FN
// CHECK: "tile.cast"(%{{.*}}) {to = "f16"} : (tensor<16xf32>) -> tensor<16xf16>
"tile.kernel"() ({
^bb0(%x: memref<16xf8E4M3FN>, %y: memref<16xf16>):
  %i = "tile.arange"() {block = "16"} : () -> tensor<16xi32>
  %a = "tile.load"(%x, %i) : (memref<16xf8E4M3FN>, tensor<16xi32>) -> tensor<16xf8E4M3FN>
  %b = "tile.cast"(%a) {to = "f16"} : (tensor<16xf8E4M3FN>) -> tensor<16xf16>
  "tile.store"(%b, %y, %i) : (tensor<16xf16>, memref<16xf16>, tensor<16xi32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "widened", grid = ["1"]} : () -> ()

// -----

// Other products stay as they are, and so do bytes.
// CHECK: ^bb0(%[[X:.*]]: memref<16x16xi8>, %{{.*}}: memref<16x16xi32>):
// CHECK: %[[A:.*]] = "tile.load"(%[[X]]
// CHECK-NEXT: %[[Z:.*]] = "tile.full"
// CHECK-NEXT: "tile.dot"(%[[A]], %[[A]], %[[Z]]) : (tensor<16x16xi8>, tensor<16x16xi8>, tensor<16x16xi32>)
"tile.kernel"() ({
^bb0(%x: memref<16x16xi8>, %y: memref<16x16xi32>):
  %i = "tile.arange"() {block = "16"} : () -> tensor<16xi32>
  %r = "tile.expand"(%i) {axis = 1 : i64} : (tensor<16xi32>) -> tensor<16x1xi32>
  %c = "tile.expand"(%i) {axis = 0 : i64} : (tensor<16xi32>) -> tensor<1x16xi32>
  %a = "tile.load"(%x, %r, %c) : (memref<16x16xi8>, tensor<16x1xi32>, tensor<1x16xi32>) -> tensor<16x16xi8>
  %z = "tile.full"() {value = dense<0> : tensor<i32>, shape = ["16", "16"]} : () -> tensor<16x16xi32>
  %p = "tile.dot"(%a, %a, %z) : (tensor<16x16xi8>, tensor<16x16xi8>, tensor<16x16xi32>) -> tensor<16x16xi32>
  "tile.store"(%p, %y, %r, %c) : (tensor<16x16xi32>, memref<16x16xi32>, tensor<16x1xi32>, tensor<1x16xi32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "bytes", grid = ["1"]} : () -> ()

// -----

// Bits are stored as they are.
// CHECK: ^bb0(%[[X:.*]]: memref<16xui8>, %[[Y:.*]]: memref<16xui8>):
// CHECK: %[[BITS:.*]] = "tile.load"(%[[X]]
// CHECK-NEXT: "tile.store"(%[[BITS]], %[[Y]], {{.*}} : (tensor<16xui8>, memref<16xui8>, tensor<16xi32>)
"tile.kernel"() ({
^bb0(%x: memref<16xui8>, %y: memref<16xf8E4M3FN>):
  %i = "tile.arange"() {block = "16"} : () -> tensor<16xi32>
  %a = "tile.load"(%x, %i) : (memref<16xui8>, tensor<16xi32>) -> tensor<16xui8>
  %b = "tile.bit_cast"(%a) {to = "f8E4M3FN"} : (tensor<16xui8>) -> tensor<16xf8E4M3FN>
  "tile.store"(%b, %y, %i) : (tensor<16xf8E4M3FN>, memref<16xf8E4M3FN>, tensor<16xi32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "stored", grid = ["1"]} : () -> ()
