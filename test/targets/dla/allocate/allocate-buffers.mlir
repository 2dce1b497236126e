// RUN: trivium-opt %s --allocate-buffers | FileCheck %s

// A buffer gets the bytes of one that nothing uses any more; memories know nothing of one another.
// CHECK-LABEL: "dla.program"
// CHECK:         "dla.alloc"() {address = 0 : i64} : () -> memref<1x4x4x16xi8, "sram">
// CHECK:         "dla.alloc"() {address = 256 : i64} : () -> memref<1x4x4x16xi8, "sram">
// CHECK:         "dla.alloc"() {address = 0 : i64} : () -> memref<1x2x4x16xi8, "sram">
// CHECK:         "dla.alloc"() {address = 0 : i64} : () -> memref<256xi8, "weights">
// CHECK:         sym_name = "shares_bytes"
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %t: memref<256xi8, "dram.constants">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() : () -> memref<1x4x4x16xi8, "sram">
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x16xi8, "sram">) -> ()
  %b = "dla.alloc"() : () -> memref<1x4x4x16xi8, "sram">
  "dla.copy_tile"(%a, %b) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "sram">) -> ()
  %c = "dla.alloc"() : () -> memref<1x2x4x16xi8, "sram">
  %w = "dla.alloc"() : () -> memref<256xi8, "weights">
  "dla.load_weights"(%t, %w) {length = 256} : (memref<256xi8, "dram.constants">, memref<256xi8, "weights">) -> ()
  "dla.lookup_tile"(%b, %c, %w) {rows = 2, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "sram">, memref<1x2x4x16xi8, "sram">, memref<256xi8, "weights">) -> ()
  "dla.store"(%c, %y) {rows = 2, columns = 4, channels = 16} : (memref<1x2x4x16xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "shares_bytes", target = "vanilla", atom = 16} : () -> ()

// A load that was hoisted lives at once with what is computed on, so it gets bytes of its own.
// CHECK-LABEL: "dla.program"
// CHECK:         "dla.alloc"() {address = 0 : i64}
// CHECK:         "dla.alloc"() {address = 64 : i64}
// CHECK:         "dla.alloc"() {address = 128 : i64}
// CHECK:         sym_name = "keeps_double_buffers_apart"
"dla.program"() ({
^bb0(%x: memref<1x2x4x16xi8, "dram.inputs">, %y: memref<1x2x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() : () -> memref<1x1x4x16xi8, "sram">
  "dla.load"(%x, %a) {rows = 1, columns = 4, channels = 16} : (memref<1x2x4x16xi8, "dram.inputs">, memref<1x1x4x16xi8, "sram">) -> ()
  %b = "dla.alloc"() : () -> memref<1x1x4x16xi8, "sram">
  "dla.load"(%x, %b) {source_at = array<i64: 0, 1, 0, 0>, rows = 1, columns = 4, channels = 16} : (memref<1x2x4x16xi8, "dram.inputs">, memref<1x1x4x16xi8, "sram">) -> ()
  %c = "dla.alloc"() : () -> memref<1x1x4x16xi8, "sram">
  "dla.copy_tile"(%a, %c) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x1x4x16xi8, "sram">) -> ()
  "dla.store"(%c, %y) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x2x4x16xi8, "dram.outputs">) -> ()
  "dla.copy_tile"(%b, %c) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x1x4x16xi8, "sram">) -> ()
  "dla.store"(%c, %y) {destination_at = array<i64: 0, 1, 0, 0>, rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x2x4x16xi8, "dram.outputs">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "keeps_double_buffers_apart", target = "vanilla", atom = 16} : () -> ()

// Arguments follow one another in their regions, and what is spilled has a region of its own.
// CHECK-LABEL: "dla.program"
// CHECK:         "dla.alloc"() {address = 0 : i64} : () -> memref<1x1x3x16xi8, "dram.activations">
// CHECK:         argument_addresses = array<i64: 0, 0, 0, 48, 16>
// CHECK-SAME:    sym_name = "places_arguments"
"dla.program"() ({
^bb0(%x: memref<1x1x3x16xi8, "dram.inputs">, %t: memref<5xi8, "dram.constants">, %y: memref<1x1x3x16xi8, "dram.outputs">, %z: memref<1x1x1x16xi8, "dram.inputs">, %u: memref<5xi8, "dram.constants">):
  %a = "dla.alloc"() : () -> memref<1x1x3x16xi8, "sram">
  %s = "dla.alloc"() : () -> memref<1x1x3x16xi8, "dram.activations">
  "dla.load"(%x, %a) {rows = 1, columns = 3, channels = 16} : (memref<1x1x3x16xi8, "dram.inputs">, memref<1x1x3x16xi8, "sram">) -> ()
  "dla.store"(%a, %s) {rows = 1, columns = 3, channels = 16} : (memref<1x1x3x16xi8, "sram">, memref<1x1x3x16xi8, "dram.activations">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "places_arguments", target = "vanilla", atom = 16} : () -> ()

// Programs of other accelerators are left alone.
// CHECK-LABEL: "dla.program"
// CHECK:         "dla.alloc"() : ()
// CHECK:         sym_name = "keeps_other_targets"
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">):
  %a = "dla.alloc"() : () -> memref<1x4x4x16xi8, "sram">
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x16xi8, "sram">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "keeps_other_targets", target = "wukong", atom = 16} : () -> ()
