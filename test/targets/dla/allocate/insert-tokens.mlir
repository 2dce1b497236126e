// RUN: trivium-opt %s --insert-tokens | FileCheck %s

// What is written on one engine is read on another one after it; the load of %t brings that of %x
// along, which is before it on the same engine.
// CHECK-LABEL: "dla.program"
// CHECK:         %[[LOADED:.*]] = "dla.load"(%{{[^,]*}}, %{{[^,]*}}) {{.*}}engine = "load"
// CHECK:         %[[TABLE:.*]] = "dla.load_weights"(%{{[^,]*}}, %{{[^,]*}}) {{.*}}engine = "load"
// CHECK:         %[[MADE:.*]] = "dla.lookup_tile"(%[[TABLE]], %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) {{.*}}engine = "vec"
// CHECK:         "dla.store"(%[[MADE]], %{{[^,]*}}, %{{[^,]*}}) {{.*}}engine = "store"
// CHECK:         sym_name = "read_after_write"
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %t: memref<256xi8, "dram.constants">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x16xi8, "sram">
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x16xi8, "sram">) -> ()
  %w = "dla.alloc"() {address = 0} : () -> memref<256xi8, "weights">
  "dla.load_weights"(%t, %w) {length = 256} : (memref<256xi8, "dram.constants">, memref<256xi8, "weights">) -> ()
  %b = "dla.alloc"() {address = 256} : () -> memref<1x4x4x16xi8, "sram">
  "dla.lookup_tile"(%a, %b, %w) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "sram">, memref<256xi8, "weights">) -> ()
  "dla.store"(%b, %y) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "read_after_write", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0, 0>} : () -> ()

// Another buffer has the bytes that the store reads: it may only be loaded when that is done. The
// copy, which read them, too, was before the store.
// CHECK-LABEL: "dla.program"
// CHECK:         %[[LOADED:.*]] = "dla.load"
// CHECK:         %[[COPIED:.*]] = "dla.copy_tile"(%[[LOADED]], %{{[^,]*}}, %{{[^,]*}})
// CHECK:         %[[STORED:.*]] = "dla.store"(%[[COPIED]], %{{[^,]*}}, %{{[^,]*}})
// CHECK:         "dla.load"(%[[STORED]], %{{[^,]*}}, %{{[^,]*}})
// CHECK:         sym_name = "write_after_read"
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x16xi8, "sram">
  %b = "dla.alloc"() {address = 256} : () -> memref<1x4x4x16xi8, "sram">
  %c = "dla.alloc"() {address = 128} : () -> memref<1x4x4x16xi8, "sram">
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x16xi8, "sram">) -> ()
  "dla.copy_tile"(%a, %b) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "sram">) -> ()
  "dla.store"(%b, %y) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> ()
  "dla.load"(%x, %c) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x16xi8, "sram">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "write_after_read", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// Loads of rows into bytes that nobody has, reads of the same bytes, and ops of one engine.
// CHECK-LABEL: "dla.program"
// CHECK:         %[[FIRST:.*]] = "dla.load"(%{{[^,]*}}, %{{[^,]*}})
// CHECK:         %[[SECOND:.*]] = "dla.load"(%{{[^,]*}}, %{{[^,]*}})
// CHECK:         "dla.copy_tile"(%[[FIRST]], %{{[^,]*}}, %{{[^,]*}})
// CHECK:         "dla.copy_tile"(%{{[^,]*}}, %{{[^,]*}}) {{.*}}engine = "vec"
// CHECK:         "dla.store"(%[[FIRST]], %{{[^,]*}}, %{{[^,]*}})
// CHECK:         sym_name = "keeps_what_is_apart"
"dla.program"() ({
^bb0(%x: memref<1x2x4x16xi8, "dram.inputs">, %y: memref<1x1x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x2x4x16xi8, "sram">
  %b = "dla.alloc"() {address = 128} : () -> memref<1x1x4x16xi8, "sram">
  "dla.load"(%x, %a) {rows = 1, columns = 4, channels = 16} : (memref<1x2x4x16xi8, "dram.inputs">, memref<1x2x4x16xi8, "sram">) -> ()
  "dla.load"(%x, %a) {source_at = array<i64: 0, 1, 0, 0>, destination_at = array<i64: 0, 1, 0, 0>, rows = 1, columns = 4, channels = 16} : (memref<1x2x4x16xi8, "dram.inputs">, memref<1x2x4x16xi8, "sram">) -> ()
  "dla.copy_tile"(%a, %b) {rows = 1, columns = 4, channels = 16} : (memref<1x2x4x16xi8, "sram">, memref<1x1x4x16xi8, "sram">) -> ()
  "dla.copy_tile"(%b, %b) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x1x4x16xi8, "sram">) -> ()
  "dla.store"(%a, %y) {rows = 1, columns = 4, channels = 16} : (memref<1x2x4x16xi8, "sram">, memref<1x1x4x16xi8, "dram.outputs">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "keeps_what_is_apart", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()
