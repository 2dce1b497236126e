// RUN: trivium-opt %s --simplify-indices --split-input-file | FileCheck %s

// All 64 indices are below 64: the quotient is zero, the remainder changes nothing.
// CHECK-NOT: "remainder"
// CHECK-NOT: "quotient"
// CHECK: "tile.store"
"tile.kernel"() ({
^bb0(%y: memref<1x64xi32>):
  %lane = "tile.arange"() {block = "B"} : () -> tensor<?xi32, ["B"]>
  %size = "tile.full"() {value = dense<64> : tensor<i32>} : () -> tensor<i32>
  %q = "tile.binary"(%lane, %size) {function = "quotient"} : (tensor<?xi32, ["B"]>, tensor<i32>) -> tensor<?xi32, ["B"]>
  %r = "tile.binary"(%lane, %size) {function = "remainder"} : (tensor<?xi32, ["B"]>, tensor<i32>) -> tensor<?xi32, ["B"]>
  "tile.store"(%lane, %y, %q, %r) : (tensor<?xi32, ["B"]>, memref<1x64xi32>, tensor<?xi32, ["B"]>, tensor<?xi32, ["B"]>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "inside", grid = ["1"], blocks = ["B=64"]} : () -> ()

// -----

// Of 64 indices half are beyond 32: both stay.
// CHECK: "quotient"
// CHECK: "remainder"
"tile.kernel"() ({
^bb0(%y: memref<2x32xi32>):
  %lane = "tile.arange"() {block = "B"} : () -> tensor<?xi32, ["B"]>
  %size = "tile.full"() {value = dense<32> : tensor<i32>} : () -> tensor<i32>
  %q = "tile.binary"(%lane, %size) {function = "quotient"} : (tensor<?xi32, ["B"]>, tensor<i32>) -> tensor<?xi32, ["B"]>
  %r = "tile.binary"(%lane, %size) {function = "remainder"} : (tensor<?xi32, ["B"]>, tensor<i32>) -> tensor<?xi32, ["B"]>
  "tile.store"(%lane, %y, %q, %r) : (tensor<?xi32, ["B"]>, memref<2x32xi32>, tensor<?xi32, ["B"]>, tensor<?xi32, ["B"]>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "beyond", grid = ["1"], blocks = ["B=64"]} : () -> ()
