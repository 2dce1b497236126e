// RUN: trivium-opt %s --split-input-file --lower-to-buffers | FileCheck %s

// What works value by value writes over what it is made of, where both stay and nobody reads that
// any more.
// CHECK:         %[[A:[^ ]*]] = "dla.alloc"() : () -> memref<1x8x8x16xi8, "sram">
// CHECK:         "dla.load"(%{{.*}}, %[[TILE:[^)]*]])
// CHECK-NEXT:    "dla.copy_tile"(%[[TILE]], %[[A]])
// CHECK-NEXT:    "dla.copy_tile"(%[[A]], %[[A]])
// CHECK:         "dla.pool_tile"(%[[A]]
// CHECK-LABEL: func.func @in_place
func.func @in_place(%x: tensor<1x8x8x3xi8>) -> tensor<1x4x4x3xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x8x8x3xi8>):
    %0 = "dla.copy"(%a) {dla.resident} : (tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
    %1 = "dla.copy"(%0) {dla.resident, multiplier = 3, shift = 1} : (tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
    %2 = "dla.pool"(%1) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x8x3xi8>) -> tensor<1x4x4x3xi8>
    "tri.yield"(%2) : (tensor<1x4x4x3xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x8x8x3xi8>) -> tensor<1x4x4x3xi8>
  return %y : tensor<1x4x4x3xi8>
}

// -----

// The second image is as good, where the first one is read later.
// CHECK:         "dla.copy_tile"(%{{.*}}, %[[B:[^)]*]]) {channels = 3 : i64, columns = 8 : i64, multiplier = 3
// CHECK:         "dla.eltwise_tile"(%[[A:[^,]*]], %[[B]], %[[B]])
// CHECK:         "dla.eltwise_tile"(%[[B]], %{{.*}}, %[[A]])
// CHECK-LABEL: func.func @over_the_second
func.func @over_the_second(%x: tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x8x8x3xi8>):
    %0 = "dla.copy"(%a) {dla.resident} : (tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
    %1 = "dla.copy"(%a) {dla.resident, multiplier = 3} : (tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
    %2 = "dla.eltwise"(%0, %1) {dla.resident, operator = "max"} : (tensor<1x8x8x3xi8>, tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
    %3 = "dla.eltwise"(%2, %0) {operator = "add"} : (tensor<1x8x8x3xi8>, tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
    "tri.yield"(%3) : (tensor<1x8x8x3xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
  return %y : tensor<1x8x8x3xi8>
}

// -----

// What is read later is kept.
// CHECK:         "dla.copy_tile"(%{{.*}}, %[[A:[^)]*]])
// CHECK:         %[[B:[^ ]*]] = "dla.alloc"() : () -> memref<1x8x8x16xi8, "sram">
// CHECK-NEXT:    "dla.copy_tile"(%[[A]], %[[B]])
// CHECK-LABEL: func.func @read_later
func.func @read_later(%x: tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x8x8x3xi8>):
    %0 = "dla.copy"(%a) {dla.resident} : (tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
    %1 = "dla.copy"(%0) {dla.resident, multiplier = 3, shift = 1} : (tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
    %2 = "dla.eltwise"(%0, %1) {operator = "max"} : (tensor<1x8x8x3xi8>, tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
    "tri.yield"(%2) : (tensor<1x8x8x3xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
  return %y : tensor<1x8x8x3xi8>
}

// -----

// A pool needs its neighbours as they were, though its result is as large.
// CHECK:         "dla.copy_tile"(%{{.*}}, %[[A:[^)]*]])
// CHECK:         %[[B:[^ ]*]] = "dla.alloc"() : () -> memref<1x8x8x16xi8, "sram">
// CHECK-NEXT:    "dla.pool_tile"(%[[A]], %[[B]])
// CHECK-LABEL: func.func @pool
func.func @pool(%x: tensor<1x8x8x3xi8>) -> tensor<1x4x4x3xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x8x8x3xi8>):
    %0 = "dla.copy"(%a) {dla.resident} : (tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
    %1 = "dla.pool"(%0) {dla.resident, mode = "max", kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x3xi8>) -> tensor<1x8x8x3xi8>
    %2 = "dla.pool"(%1) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x8x3xi8>) -> tensor<1x4x4x3xi8>
    "tri.yield"(%2) : (tensor<1x4x4x3xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x8x8x3xi8>) -> tensor<1x4x4x3xi8>
  return %y : tensor<1x4x4x3xi8>
}

// -----

// One row for all is no place for a whole image, and a part has its place in what it is joined to.
// CHECK:         "dla.eltwise_tile"(%[[IMAGE:[^,]*]], %[[IMAGE]], %{{.*}})
// CHECK:         %[[ALL:[^ ]*]] = "dla.alloc"() : () -> memref<1x8x8x32xi8, "sram">
// CHECK:         "dla.copy_tile"(%[[IMAGE]], %[[ALL]])
// CHECK:         "dla.copy_tile"(%[[ALL]], %[[ALL]])
// CHECK-SAME:      destination_at = array<i64: 0, 0, 0, 16>
// CHECK-LABEL: func.func @row_and_part
func.func @row_and_part(%x: tensor<1x8x8x16xi8>, %row: tensor<1x1x8x16xi8>) -> tensor<1x4x4x32xi8> {
  %y = "tri.group"(%x, %row) ({
  ^bb0(%a: tensor<1x8x8x16xi8>, %r: tensor<1x1x8x16xi8>):
    %0 = "dla.copy"(%r) {dla.resident} : (tensor<1x1x8x16xi8>) -> tensor<1x1x8x16xi8>
    %1 = "dla.copy"(%a) {dla.resident} : (tensor<1x8x8x16xi8>) -> tensor<1x8x8x16xi8>
    %2 = "dla.eltwise"(%1, %0) {dla.resident, operator = "max"} : (tensor<1x8x8x16xi8>, tensor<1x1x8x16xi8>) -> tensor<1x8x8x16xi8>
    %3 = "dla.copy"(%2) {dla.resident, multiplier = 3} : (tensor<1x8x8x16xi8>) -> tensor<1x8x8x16xi8>
    %4 = "dla.copy"(%3) {dla.resident, multiplier = 5} : (tensor<1x8x8x16xi8>) -> tensor<1x8x8x16xi8>
    %5 = "dla.concat"(%3, %4) {dla.resident, axis = 3} : (tensor<1x8x8x16xi8>, tensor<1x8x8x16xi8>) -> tensor<1x8x8x32xi8>
    %6 = "dla.pool"(%5) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x8x32xi8>) -> tensor<1x4x4x32xi8>
    "tri.yield"(%6) : (tensor<1x4x4x32xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x8x8x16xi8>, tensor<1x1x8x16xi8>) -> tensor<1x4x4x32xi8>
  return %y : tensor<1x4x4x32xi8>
}
