// RUN: trivium-opt %s --split-input-file --assign-residency | FileCheck %s
// RUN: trivium-opt %s --split-input-file --assign-residency="share=0" | FileCheck %s --check-prefix=NONE

// What one op makes and the next one takes stays in sram; the last result has to leave it.
// CHECK-LABEL: func.func @chain
// CHECK:         %[[A:.*]] = "dla.copy"(%{{.*}}) {{.*}}dla.resident
// CHECK:         "dla.pool"(%[[A]])
// CHECK-NOT:     dla.resident
// CHECK:         return
// NONE-LABEL:  func.func @chain
// NONE-NOT:      dla.resident
func.func @chain(%x: tensor<1x8x8x32xi8>) -> tensor<1x4x4x32xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x8x8x32xi8>):
    %0 = "dla.copy"(%a) : (tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xi8>
    %1 = "dla.pool"(%0) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x8x32xi8>) -> tensor<1x4x4x32xi8>
    "tri.yield"(%1) : (tensor<1x4x4x32xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x8x8x32xi8>) -> tensor<1x4x4x32xi8>
  return %y : tensor<1x4x4x32xi8>
}

// -----

// An input that is used twice stays, too: it is loaded once.
// CHECK-LABEL: func.func @used_twice
// CHECK:         "dla.eltwise"
// CHECK:         {dla.resident = array<i64: 0>, target = "vanilla"}
func.func @used_twice(%x: tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x8x8x32xi8>):
    %0 = "dla.copy"(%a) : (tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xi8>
    %1 = "dla.eltwise"(%0, %a) {operator = "max"} : (tensor<1x8x8x32xi8>, tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xi8>
    "tri.yield"(%1) : (tensor<1x8x8x32xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xi8>
  return %y : tensor<1x8x8x32xi8>
}

// -----

// What is larger than sram, 256 KiB, does not stay.
// CHECK-LABEL: func.func @too_large
// CHECK-NOT:     dla.resident
func.func @too_large(%x: tensor<1x96x96x32xi8>) -> tensor<1x48x48x32xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x96x96x32xi8>):
    %0 = "dla.copy"(%a) : (tensor<1x96x96x32xi8>) -> tensor<1x96x96x32xi8>
    %1 = "dla.pool"(%0) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x96x96x32xi8>) -> tensor<1x48x48x32xi8>
    "tri.yield"(%1) : (tensor<1x48x48x32xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x96x96x32xi8>) -> tensor<1x48x48x32xi8>
  return %y : tensor<1x48x48x32xi8>
}

// -----

// While both sides of the sum stayed, the convolution would have no room for its image, and would
// load 2 MiB of weights four times: its result goes out.
// CHECK-LABEL: func.func @leaves_room
// CHECK:         "dla.copy"
// CHECK:         "dla.conv"
// CHECK-NOT:     dla.resident
// CHECK:         "dla.eltwise"
func.func @leaves_room(%x: tensor<1x7x7x2048xi8>, %y: tensor<1x14x14x1024xi8>) -> tensor<1x7x7x2048xi8> {
  %w = "tri.constant"() {value = dense<1> : tensor<1x1x1024x2048xi8>} : () -> tensor<1x1x1024x2048xi8>
  %b = "tri.constant"() {value = dense<0> : tensor<2048xi32>} : () -> tensor<2048xi32>
  %z = "tri.group"(%x, %y, %w, %b) ({
  ^bb0(%a: tensor<1x7x7x2048xi8>, %i: tensor<1x14x14x1024xi8>, %k: tensor<1x1x1024x2048xi8>, %c: tensor<2048xi32>):
    %0 = "dla.copy"(%a) : (tensor<1x7x7x2048xi8>) -> tensor<1x7x7x2048xi8>
    %1 = "dla.conv"(%i, %k, %c) {strides = array<i64: 2, 2>, multiplier = array<i64: 1>, shift = array<i64: 4>} : (tensor<1x14x14x1024xi8>, tensor<1x1x1024x2048xi8>, tensor<2048xi32>) -> tensor<1x7x7x2048xi8>
    %2 = "dla.eltwise"(%0, %1) {operator = "max"} : (tensor<1x7x7x2048xi8>, tensor<1x7x7x2048xi8>) -> tensor<1x7x7x2048xi8>
    "tri.yield"(%2) : (tensor<1x7x7x2048xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x7x7x2048xi8>, tensor<1x14x14x1024xi8>, tensor<1x1x1024x2048xi8>, tensor<2048xi32>) -> tensor<1x7x7x2048xi8>
  return %z : tensor<1x7x7x2048xi8>
}

// -----

// There is room for both sides where there are few channels: weights are loaded once anyway.
// CHECK-LABEL: func.func @has_room
// CHECK:         "dla.copy"{{.*}}dla.resident
// CHECK:         "dla.conv"{{.*}}dla.resident
// CHECK:         "dla.eltwise"
func.func @has_room(%x: tensor<1x7x7x64xi8>, %y: tensor<1x14x14x1024xi8>) -> tensor<1x7x7x64xi8> {
  %w = "tri.constant"() {value = dense<1> : tensor<1x1x1024x64xi8>} : () -> tensor<1x1x1024x64xi8>
  %b = "tri.constant"() {value = dense<0> : tensor<64xi32>} : () -> tensor<64xi32>
  %z = "tri.group"(%x, %y, %w, %b) ({
  ^bb0(%a: tensor<1x7x7x64xi8>, %i: tensor<1x14x14x1024xi8>, %k: tensor<1x1x1024x64xi8>, %c: tensor<64xi32>):
    %0 = "dla.copy"(%a) : (tensor<1x7x7x64xi8>) -> tensor<1x7x7x64xi8>
    %1 = "dla.conv"(%i, %k, %c) {strides = array<i64: 2, 2>, multiplier = array<i64: 1>, shift = array<i64: 4>} : (tensor<1x14x14x1024xi8>, tensor<1x1x1024x64xi8>, tensor<64xi32>) -> tensor<1x7x7x64xi8>
    %2 = "dla.eltwise"(%0, %1) {operator = "max"} : (tensor<1x7x7x64xi8>, tensor<1x7x7x64xi8>) -> tensor<1x7x7x64xi8>
    "tri.yield"(%2) : (tensor<1x7x7x64xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x7x7x64xi8>, tensor<1x14x14x1024xi8>, tensor<1x1x1024x64xi8>, tensor<64xi32>) -> tensor<1x7x7x64xi8>
  return %z : tensor<1x7x7x64xi8>
}

// -----

// What is made at its place in a joined image takes no room of its own: both parts and the whole
// stay, 160 KiB of 256.
// CHECK-LABEL: func.func @joined
// CHECK:         "dla.copy"{{.*}}dla.resident
// CHECK:         "dla.copy"{{.*}}dla.resident
// CHECK:         "dla.concat"
// CHECK-NOT:     dla.copies
// CHECK-SAME:    dla.resident
func.func @joined(%x: tensor<1x32x40x64xi8>) -> tensor<1x16x20x128xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x32x40x64xi8>):
    %0 = "dla.copy"(%a) {multiplier = 3, shift = 1} : (tensor<1x32x40x64xi8>) -> tensor<1x32x40x64xi8>
    %1 = "dla.copy"(%a) {multiplier = 3, shift = 2} : (tensor<1x32x40x64xi8>) -> tensor<1x32x40x64xi8>
    %2 = "dla.concat"(%0, %1) {axis = 3} : (tensor<1x32x40x64xi8>, tensor<1x32x40x64xi8>) -> tensor<1x32x40x128xi8>
    %3 = "dla.pool"(%2) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x32x40x128xi8>) -> tensor<1x16x20x128xi8>
    "tri.yield"(%3) : (tensor<1x16x20x128xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x32x40x64xi8>) -> tensor<1x16x20x128xi8>
  return %y : tensor<1x16x20x128xi8>
}

// -----

// The joined image, 114 KiB, would be in the way from its first part on, which has 14 KiB: meanwhile
// another value stays, of 196 KiB. The parts stay, and are copied when that is gone.
// CHECK-LABEL: func.func @joined_later
// CHECK:         "dla.copy"{{.*}}dla.resident
// CHECK:         "dla.resize"{{.*}}dla.resident
// CHECK:         "dla.pool"{{.*}}dla.resident
// CHECK:         "dla.resize"{{.*}}dla.resident
// CHECK:         "dla.concat"{{.*}}dla.copies, dla.resident
func.func @joined_later(%x: tensor<1x7x64x32xi8>) -> tensor<1x57x64x32xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x7x64x32xi8>):
    %0 = "dla.copy"(%a) {multiplier = 3, shift = 1} : (tensor<1x7x64x32xi8>) -> tensor<1x7x64x32xi8>
    %1 = "dla.resize"(%a) {out = array<i64: 98, 64>, step = array<i64: 4681, 65536>, start = array<i64: 0, 0>} : (tensor<1x7x64x32xi8>) -> tensor<1x98x64x32xi8>
    %2 = "dla.pool"(%1) {mode = "max", kernel = array<i64: 14, 1>, strides = array<i64: 14, 1>} : (tensor<1x98x64x32xi8>) -> tensor<1x7x64x32xi8>
    %3 = "dla.resize"(%2) {out = array<i64: 50, 64>, step = array<i64: 9175, 65536>, start = array<i64: 0, 0>} : (tensor<1x7x64x32xi8>) -> tensor<1x50x64x32xi8>
    %4 = "dla.concat"(%0, %3) {axis = 1} : (tensor<1x7x64x32xi8>, tensor<1x50x64x32xi8>) -> tensor<1x57x64x32xi8>
    %5 = "dla.pool"(%4) {mode = "max", kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x57x64x32xi8>) -> tensor<1x57x64x32xi8>
    "tri.yield"(%5) : (tensor<1x57x64x32xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x7x64x32xi8>) -> tensor<1x57x64x32xi8>
  return %y : tensor<1x57x64x32xi8>
}

// -----

// Both values stay, though each has 160 KiB of 256: the second one is made in place of the first.
// CHECK-LABEL: func.func @in_place
// CHECK:         "dla.copy"{{.*}}dla.resident
// CHECK:         "dla.copy"{{.*}}dla.resident
// CHECK:         "dla.pool"
func.func @in_place(%x: tensor<1x32x40x128xi8>) -> tensor<1x16x20x128xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x32x40x128xi8>):
    %0 = "dla.copy"(%a) {multiplier = 3, shift = 1} : (tensor<1x32x40x128xi8>) -> tensor<1x32x40x128xi8>
    %1 = "dla.copy"(%0) {multiplier = 3, shift = 2} : (tensor<1x32x40x128xi8>) -> tensor<1x32x40x128xi8>
    %2 = "dla.pool"(%1) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x32x40x128xi8>) -> tensor<1x16x20x128xi8>
    "tri.yield"(%2) : (tensor<1x16x20x128xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x32x40x128xi8>) -> tensor<1x16x20x128xi8>
  return %y : tensor<1x16x20x128xi8>
}

// -----

// Only one of the two does when a pool, which needs its neighbours, is between them.
// CHECK-LABEL: func.func @not_in_place
// CHECK-COUNT-1: dla.resident
// CHECK-NOT:     dla.resident
func.func @not_in_place(%x: tensor<1x32x40x128xi8>) -> tensor<1x16x20x128xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x32x40x128xi8>):
    %0 = "dla.copy"(%a) {multiplier = 3, shift = 1} : (tensor<1x32x40x128xi8>) -> tensor<1x32x40x128xi8>
    %1 = "dla.pool"(%0) {mode = "max", kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x40x128xi8>) -> tensor<1x32x40x128xi8>
    %2 = "dla.pool"(%1) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x32x40x128xi8>) -> tensor<1x16x20x128xi8>
    "tri.yield"(%2) : (tensor<1x16x20x128xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x32x40x128xi8>) -> tensor<1x16x20x128xi8>
  return %y : tensor<1x16x20x128xi8>
}
