// RUN: trivium-opt %s --split-input-file --lower-to-buffers | FileCheck %s

// What is joined is made at its place in what stays: nothing is copied. Who else reads a part reads
// it there.
// CHECK:         %[[PART:.*]] = "dla.alloc"() : () -> memref<1x4x4x64xi8, "sram">
// CHECK:         "dla.copy_tile"(%{{.*}}, %[[PART]])
// CHECK-NOT:       destination_at
// CHECK:         "dla.copy_tile"(%[[PART]], %[[PART]])
// CHECK-SAME:      destination_at = array<i64: 0, 0, 0, 32>
// CHECK-NOT:     "dla.copy_tile"
// CHECK:         "dla.pool_tile"(%[[PART]]
// CHECK-LABEL: func.func @in_sram
func.func @in_sram(%x: tensor<1x4x4x32xi8>) -> tensor<1x2x2x64xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x4x4x32xi8>):
    %0 = "dla.copy"(%a) {dla.resident, multiplier = 3, shift = 1} : (tensor<1x4x4x32xi8>) -> tensor<1x4x4x32xi8>
    %1 = "dla.copy"(%0) {dla.resident, multiplier = 3, shift = 2} : (tensor<1x4x4x32xi8>) -> tensor<1x4x4x32xi8>
    %2 = "dla.concat"(%0, %1) {dla.resident, axis = 3} : (tensor<1x4x4x32xi8>, tensor<1x4x4x32xi8>) -> tensor<1x4x4x64xi8>
    %3 = "dla.pool"(%2) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x4x4x64xi8>) -> tensor<1x2x2x64xi8>
    "tri.yield"(%3) : (tensor<1x2x2x64xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x4x4x32xi8>) -> tensor<1x2x2x64xi8>
  return %y : tensor<1x2x2x64xi8>
}

// -----

// In dram, too: each part is stored to its place in the output, and loaded from there.
// CHECK:         ^bb0(%{{.*}}: memref<1x4x4x32xi8, "dram.inputs">, %[[Y:.*]]: memref<1x8x4x32xi8, "dram.outputs">):
// CHECK:         "dla.store"(%{{.*}}, %[[Y]])
// CHECK-NOT:       destination_at
// CHECK:         "dla.load"(%[[Y]]
// CHECK:         "dla.store"(%{{.*}}, %[[Y]])
// CHECK-SAME:      destination_at = array<i64: 0, 4, 0, 0>
// CHECK-NEXT:    "dla.end"
// CHECK-LABEL: func.func @in_dram
func.func @in_dram(%x: tensor<1x4x4x32xi8>) -> tensor<1x8x4x32xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x4x4x32xi8>):
    %0 = "dla.copy"(%a) {multiplier = 3, shift = 1} : (tensor<1x4x4x32xi8>) -> tensor<1x4x4x32xi8>
    %1 = "dla.copy"(%0) {multiplier = 3, shift = 2} : (tensor<1x4x4x32xi8>) -> tensor<1x4x4x32xi8>
    %2 = "dla.concat"(%0, %1) {axis = 1} : (tensor<1x4x4x32xi8>, tensor<1x4x4x32xi8>) -> tensor<1x8x4x32xi8>
    "tri.yield"(%2) : (tensor<1x8x4x32xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x4x4x32xi8>) -> tensor<1x8x4x32xi8>
  return %y : tensor<1x8x4x32xi8>
}

// -----

// A part that stays for its readers while the whole is in dram is stored to its place there.
// CHECK:         ^bb0(%{{.*}}: memref<1x4x4x32xi8, "dram.inputs">, %[[Y:.*]]: memref<1x4x8x32xi8, "dram.outputs">):
// CHECK:         %[[PART:.*]] = "dla.alloc"() : () -> memref<1x4x4x32xi8, "sram">
// CHECK:         "dla.copy_tile"(%{{.*}}, %[[PART]])
// CHECK-NEXT:    "dla.store"(%[[PART]], %[[Y]])
// CHECK:         "dla.copy_tile"(%[[PART]], %[[TILE:[^)]*]])
// CHECK-NEXT:    "dla.store"(%[[TILE]], %[[Y]])
// CHECK-SAME:      destination_at = array<i64: 0, 0, 4, 0>
// CHECK-NEXT:    "dla.end"
// CHECK-LABEL: func.func @in_both
func.func @in_both(%x: tensor<1x4x4x32xi8>) -> tensor<1x4x8x32xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x4x4x32xi8>):
    %0 = "dla.copy"(%a) {dla.resident, multiplier = 3, shift = 1} : (tensor<1x4x4x32xi8>) -> tensor<1x4x4x32xi8>
    %1 = "dla.copy"(%0) {multiplier = 3, shift = 2} : (tensor<1x4x4x32xi8>) -> tensor<1x4x4x32xi8>
    %2 = "dla.concat"(%0, %1) {axis = 2} : (tensor<1x4x4x32xi8>, tensor<1x4x4x32xi8>) -> tensor<1x4x8x32xi8>
    "tri.yield"(%2) : (tensor<1x4x8x32xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x4x4x32xi8>) -> tensor<1x4x8x32xi8>
  return %y : tensor<1x4x8x32xi8>
}

// -----

// What was joined is joined again, at its place in the larger image; what it has been joined to
// before is copied.
// CHECK:         %[[ALL:.*]] = "dla.alloc"() : () -> memref<1x4x4x48xi8, "sram">
// CHECK:         "dla.copy_tile"(%{{.*}}, %[[ALL]])
// CHECK-SAME:      destination_at = array<i64: 0, 0, 0, 16>
// CHECK:         "dla.lookup_tile"(%[[ALL]], %[[ALL]]
// CHECK-SAME:      destination_at = array<i64: 0, 0, 0, 32>
// CHECK-SAME:      source_at = array<i64: 0, 0, 0, 16>
// CHECK-NEXT:    "dla.copy_tile"(%[[ALL]], %[[ALL]])
// CHECK-NOT:       destination_at
// CHECK-SAME:      source_at = array<i64: 0, 0, 0, 16>
// CHECK-NOT:     "dla.copy_tile"
// CHECK:         "dla.pool_tile"(%[[ALL]]
// CHECK-LABEL: func.func @of_joined
func.func @of_joined(%x: tensor<1x4x4x16xi8>) -> tensor<1x2x2x48xi8> {
  %t = "tri.constant"() {value = dense<1> : tensor<256xi8>} : () -> tensor<256xi8>
  %y = "tri.group"(%x, %t) ({
  ^bb0(%a: tensor<1x4x4x16xi8>, %table: tensor<256xi8>):
    %0 = "dla.copy"(%a) {dla.resident, multiplier = 3, shift = 1} : (tensor<1x4x4x16xi8>) -> tensor<1x4x4x16xi8>
    %1 = "dla.lookup"(%0, %table) {dla.resident} : (tensor<1x4x4x16xi8>, tensor<256xi8>) -> tensor<1x4x4x16xi8>
    %2 = "dla.concat"(%0, %1) {dla.resident, axis = 3} : (tensor<1x4x4x16xi8>, tensor<1x4x4x16xi8>) -> tensor<1x4x4x32xi8>
    %3 = "dla.concat"(%0, %2) {dla.resident, axis = 3} : (tensor<1x4x4x16xi8>, tensor<1x4x4x32xi8>) -> tensor<1x4x4x48xi8>
    %4 = "dla.pool"(%3) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x4x4x48xi8>) -> tensor<1x2x2x48xi8>
    "tri.yield"(%4) : (tensor<1x2x2x48xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x4x4x16xi8>, tensor<256xi8>) -> tensor<1x2x2x48xi8>
  return %y : tensor<1x2x2x48xi8>
}

// -----

// An output has a place of its own, and so has an input: both are copied.
// CHECK:         ^bb0(%[[X:.*]]: memref<1x4x4x16xi8, "dram.inputs">, %[[OUT:.*]]: memref<1x4x4x16xi8, "dram.outputs">, %[[Y:.*]]: memref<1x4x4x32xi8, "dram.outputs">):
// CHECK:         "dla.store"(%{{.*}}, %[[OUT]])
// CHECK:         "dla.load"(%[[X]], %[[INPUT:[^)]*]])
// CHECK-NEXT:    "dla.store"(%[[INPUT]], %[[Y]])
// CHECK:         "dla.load"(%[[OUT]], %[[COPY:[^)]*]])
// CHECK-NEXT:    "dla.store"(%[[COPY]], %[[Y]])
// CHECK-LABEL: func.func @elsewhere
func.func @elsewhere(%x: tensor<1x4x4x16xi8>) -> (tensor<1x4x4x16xi8>, tensor<1x4x4x32xi8>) {
  %y, %z = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x4x4x16xi8>):
    %0 = "dla.copy"(%a) {multiplier = 3, shift = 1} : (tensor<1x4x4x16xi8>) -> tensor<1x4x4x16xi8>
    %1 = "dla.concat"(%a, %0) {axis = 3} : (tensor<1x4x4x16xi8>, tensor<1x4x4x16xi8>) -> tensor<1x4x4x32xi8>
    "tri.yield"(%0, %1) : (tensor<1x4x4x16xi8>, tensor<1x4x4x32xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x4x4x16xi8>) -> (tensor<1x4x4x16xi8>, tensor<1x4x4x32xi8>)
  return %y, %z : tensor<1x4x4x16xi8>, tensor<1x4x4x32xi8>
}

// -----

// What pads the channels of a part would be written over the next one: it is copied, and so is the
// next one, which does not start at a whole grain.
// CHECK-COUNT-2: "dla.alloc"() : () -> memref<1x4x4x16xi8, "dram.activations">
// CHECK-LABEL: func.func @broken_grains
func.func @broken_grains(%x: tensor<1x4x4x8xi8>) -> tensor<1x4x4x16xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x4x4x8xi8>):
    %0 = "dla.copy"(%a) {multiplier = 3, shift = 1} : (tensor<1x4x4x8xi8>) -> tensor<1x4x4x8xi8>
    %1 = "dla.copy"(%a) {multiplier = 3, shift = 2} : (tensor<1x4x4x8xi8>) -> tensor<1x4x4x8xi8>
    %2 = "dla.concat"(%0, %1) {axis = 3} : (tensor<1x4x4x8xi8>, tensor<1x4x4x8xi8>) -> tensor<1x4x4x16xi8>
    "tri.yield"(%2) : (tensor<1x4x4x16xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x4x4x8xi8>) -> tensor<1x4x4x16xi8>
  return %y : tensor<1x4x4x16xi8>
}

// -----

// A concat that is marked copies its parts, which have places of their own before.
// CHECK:         %[[ALL:.*]] = "dla.alloc"() : () -> memref<1x4x4x32xi8, "sram">
// CHECK-COUNT-2: "dla.copy_tile"(%{{.*}}, %[[ALL]])
// CHECK-LABEL: func.func @marked
func.func @marked(%x: tensor<1x4x4x16xi8>) -> tensor<1x2x2x32xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x4x4x16xi8>):
    %0 = "dla.copy"(%a) {dla.resident, multiplier = 3, shift = 1} : (tensor<1x4x4x16xi8>) -> tensor<1x4x4x16xi8>
    %1 = "dla.copy"(%a) {dla.resident, multiplier = 3, shift = 2} : (tensor<1x4x4x16xi8>) -> tensor<1x4x4x16xi8>
    %2 = "dla.concat"(%0, %1) {dla.resident, dla.copies, axis = 3} : (tensor<1x4x4x16xi8>, tensor<1x4x4x16xi8>) -> tensor<1x4x4x32xi8>
    %3 = "dla.pool"(%2) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x4x4x32xi8>) -> tensor<1x2x2x32xi8>
    "tri.yield"(%3) : (tensor<1x2x2x32xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x4x4x16xi8>) -> tensor<1x2x2x32xi8>
  return %y : tensor<1x2x2x32xi8>
}

// -----

// A window is read where the image is that it is taken of; one of an input is taken first.
// CHECK:         %[[WHOLE:.*]] = "dla.alloc"() : () -> memref<1x4x4x32xi8, "sram">
// CHECK:         "dla.copy_tile"(%{{.*}}, %[[WHOLE]])
// CHECK-NOT:     "dla.copy_tile"
// CHECK:         "dla.pool_tile"(%[[WHOLE]]
// CHECK-SAME:      source_at = array<i64: 0, 2, 0, 16>
// CHECK-LABEL: func.func @windows
func.func @windows(%x: tensor<1x4x4x32xi8>) -> tensor<1x1x4x16xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x4x4x32xi8>):
    %0 = "dla.copy"(%a) {dla.resident, multiplier = 3, shift = 1} : (tensor<1x4x4x32xi8>) -> tensor<1x4x4x32xi8>
    %1 = "dla.slice"(%0) {dla.resident, start = array<i64: 2, 0, 16>, sizes = array<i64: 2, 4, 16>} : (tensor<1x4x4x32xi8>) -> tensor<1x2x4x16xi8>
    %2 = "dla.pool"(%1) {mode = "max", kernel = array<i64: 2, 1>} : (tensor<1x2x4x16xi8>) -> tensor<1x1x4x16xi8>
    "tri.yield"(%2) : (tensor<1x1x4x16xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x4x4x32xi8>) -> tensor<1x1x4x16xi8>
  return %y : tensor<1x1x4x16xi8>
}

// -----

// CHECK:         ^bb0(%[[X:.*]]: memref<1x4x4x32xi8, "dram.inputs">
// CHECK:         "dla.load"(%[[X]], %[[TILE:.*]]) {{.*}}source_at = array<i64: 0, 2, 0, 16>
// CHECK:         "dla.store"(%[[TILE]], %[[WINDOW:.*]]) {{.*}} -> ()
// CHECK:         "dla.load"(%[[WINDOW]]
// CHECK-LABEL: func.func @window_of_an_input
func.func @window_of_an_input(%x: tensor<1x4x4x32xi8>) -> tensor<1x1x4x16xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x4x4x32xi8>):
    %1 = "dla.slice"(%a) {start = array<i64: 2, 0, 16>, sizes = array<i64: 2, 4, 16>} : (tensor<1x4x4x32xi8>) -> tensor<1x2x4x16xi8>
    %2 = "dla.pool"(%1) {mode = "max", kernel = array<i64: 2, 1>} : (tensor<1x2x4x16xi8>) -> tensor<1x1x4x16xi8>
    "tri.yield"(%2) : (tensor<1x1x4x16xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x4x4x32xi8>) -> tensor<1x1x4x16xi8>
  return %y : tensor<1x1x4x16xi8>
}
