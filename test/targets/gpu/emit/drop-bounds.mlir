// RUN: trivium-opt %s --drop-bounds --split-input-file | FileCheck %s

// Blocks of 32 cover 128 elements exactly: no index is out of bounds.
// CHECK: "tile.load"{{.*}}{high = array<i64>, low = array<i64>}
// CHECK: "tile.store"{{.*}}{high = array<i64>, low = array<i64>}
"tile.kernel"() ({
^bb0(%x: memref<128xf32>, %y: memref<128xf32>):
  %program = "tile.program_id"() {axis = 0} : () -> tensor<i32>
  %size = "tile.block_size"() {block = "B"} : () -> tensor<i32>
  %first = "tile.binary"(%program, %size) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %lane = "tile.arange"() {block = "B"} : () -> tensor<?xi32, ["B"]>
  %i = "tile.binary"(%first, %lane) {function = "add"} : (tensor<i32>, tensor<?xi32, ["B"]>) -> tensor<?xi32, ["B"]>
  %v = "tile.load"(%x, %i) {high = array<i64: 0>, low = array<i64: 0>} : (memref<128xf32>, tensor<?xi32, ["B"]>) -> tensor<?xf32, ["B"]>
  "tile.store"(%v, %y, %i) {high = array<i64: 0>, low = array<i64: 0>} : (tensor<?xf32, ["B"]>, memref<128xf32>, tensor<?xi32, ["B"]>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "whole", grid = ["128/B"], blocks = ["B=32"]} : () -> ()

// -----

// The last block reaches beyond 100 elements: the check of the upper end stays.
// CHECK: "tile.load"{{.*}}{high = array<i64: 0>, low = array<i64>}
"tile.kernel"() ({
^bb0(%x: memref<100xf32>):
  %program = "tile.program_id"() {axis = 0} : () -> tensor<i32>
  %size = "tile.block_size"() {block = "B"} : () -> tensor<i32>
  %first = "tile.binary"(%program, %size) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %lane = "tile.arange"() {block = "B"} : () -> tensor<?xi32, ["B"]>
  %i = "tile.binary"(%first, %lane) {function = "add"} : (tensor<i32>, tensor<?xi32, ["B"]>) -> tensor<?xi32, ["B"]>
  %v = "tile.load"(%x, %i) {high = array<i64: 0>, low = array<i64: 0>} : (memref<100xf32>, tensor<?xi32, ["B"]>) -> tensor<?xf32, ["B"]>
  "tile.return"() : () -> ()
}) {sym_name = "ragged", grid = ["100/B"], blocks = ["B=32"]} : () -> ()

// -----

// The window of a padded convolution begins before the row: the lower check stays, the upper goes.
// CHECK: "tile.load"{{.*}}{high = array<i64>, low = array<i64: 0>}
"tile.kernel"() ({
^bb0(%x: memref<32xf32>):
  %lane = "tile.arange"() {block = "B"} : () -> tensor<?xi32, ["B"]>
  %one = "tile.full"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %i = "tile.binary"(%lane, %one) {function = "sub"} : (tensor<?xi32, ["B"]>, tensor<i32>) -> tensor<?xi32, ["B"]>
  %v = "tile.load"(%x, %i) {high = array<i64: 0>, low = array<i64: 0>} : (memref<32xf32>, tensor<?xi32, ["B"]>) -> tensor<?xf32, ["B"]>
  "tile.return"() : () -> ()
}) {sym_name = "window", grid = ["1"], blocks = ["B=32"]} : () -> ()

// -----

// A loop in steps of 32 up to 96 ends at 95; one up to 100 goes beyond.
// CHECK: "tile.for"
// CHECK:   "tile.load"{{.*}}{high = array<i64>, low = array<i64>}
// CHECK: "tile.for"
// CHECK:   "tile.load"{{.*}}{high = array<i64: 0>, low = array<i64>}
"tile.kernel"() ({
^bb0(%x: memref<96xf32>, %z: memref<100xf32>):
  %zero = "tile.full"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %even = "tile.full"() {value = dense<96> : tensor<i32>} : () -> tensor<i32>
  %odd = "tile.full"() {value = dense<100> : tensor<i32>} : () -> tensor<i32>
  %size = "tile.block_size"() {block = "B"} : () -> tensor<i32>
  %lane = "tile.arange"() {block = "B"} : () -> tensor<?xi32, ["B"]>
  "tile.for"(%zero, %even, %size) ({
  ^bb0(%k: tensor<i32>):
    %i = "tile.binary"(%k, %lane) {function = "add"} : (tensor<i32>, tensor<?xi32, ["B"]>) -> tensor<?xi32, ["B"]>
    %v = "tile.load"(%x, %i) {high = array<i64: 0>, low = array<i64: 0>} : (memref<96xf32>, tensor<?xi32, ["B"]>) -> tensor<?xf32, ["B"]>
    "tile.yield"() : () -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  "tile.for"(%zero, %odd, %size) ({
  ^bb0(%k: tensor<i32>):
    %i = "tile.binary"(%k, %lane) {function = "add"} : (tensor<i32>, tensor<?xi32, ["B"]>) -> tensor<?xi32, ["B"]>
    %v = "tile.load"(%z, %i) {high = array<i64: 0>, low = array<i64: 0>} : (memref<100xf32>, tensor<?xi32, ["B"]>) -> tensor<?xf32, ["B"]>
    "tile.yield"() : () -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "loops", grid = ["1"], blocks = ["B=32"]} : () -> ()

// -----

// What is loaded is not known: both checks stay.
// CHECK: "tile.load"
// CHECK: "tile.load"{{.*}}{high = array<i64: 0>, low = array<i64: 0>}
"tile.kernel"() ({
^bb0(%places: memref<32xi32>, %x: memref<100xf32>):
  %lane = "tile.arange"() {block = "B"} : () -> tensor<?xi32, ["B"]>
  %i = "tile.load"(%places, %lane) : (memref<32xi32>, tensor<?xi32, ["B"]>) -> tensor<?xi32, ["B"]>
  %v = "tile.load"(%x, %i) {high = array<i64: 0>, low = array<i64: 0>} : (memref<100xf32>, tensor<?xi32, ["B"]>) -> tensor<?xf32, ["B"]>
  "tile.return"() : () -> ()
}) {sym_name = "gather", grid = ["1"], blocks = ["B=32"]} : () -> ()
