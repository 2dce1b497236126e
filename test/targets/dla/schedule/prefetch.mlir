// RUN: trivium-opt %s --prefetch="depth=1" | FileCheck %s

// The second tile is loaded before the first one is computed, the first one stored after the
// second one is.
// CHECK:       "dla.program"
// CHECK:         "dla.load"(%[[X:.*]], %[[A:[0-9]+]])
// CHECK:         "dla.load"(%[[X]], %[[B:[0-9]+]])
// CHECK:         "dla.copy_tile"(%[[A]], %[[C:[0-9]+]])
// CHECK:         "dla.copy_tile"(%[[B]], %[[D:[0-9]+]])
// CHECK-NEXT:    "dla.store"(%[[C]],
// CHECK-NEXT:    "dla.store"(%[[D]],
// CHECK:         sym_name = "tiles"
"dla.program"() ({
^bb0(%x: memref<1x2x4x16xi8, "dram.inputs">, %y: memref<1x2x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() : () -> memref<1x1x4x16xi8, "sram">
  "dla.load"(%x, %a) {rows = 1, columns = 4, channels = 16} : (memref<1x2x4x16xi8, "dram.inputs">, memref<1x1x4x16xi8, "sram">) -> ()
  %c = "dla.alloc"() : () -> memref<1x1x4x16xi8, "sram">
  "dla.copy_tile"(%a, %c) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x1x4x16xi8, "sram">) -> ()
  "dla.store"(%c, %y) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x2x4x16xi8, "dram.outputs">) -> ()
  %b = "dla.alloc"() : () -> memref<1x1x4x16xi8, "sram">
  "dla.load"(%x, %b) {source_at = array<i64: 0, 1, 0, 0>, rows = 1, columns = 4, channels = 16} : (memref<1x2x4x16xi8, "dram.inputs">, memref<1x1x4x16xi8, "sram">) -> ()
  %d = "dla.alloc"() : () -> memref<1x1x4x16xi8, "sram">
  "dla.copy_tile"(%b, %d) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x1x4x16xi8, "sram">) -> ()
  "dla.store"(%d, %y) {destination_at = array<i64: 0, 1, 0, 0>, rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x2x4x16xi8, "dram.outputs">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "tiles", target = "vanilla", atom = 16} : () -> ()

// A load does not pass the store of what it loads.
// CHECK:       "dla.program"
// CHECK:         "dla.copy_tile"
// CHECK:         "dla.store"(%{{[0-9]+}}, %[[KEPT:[0-9]+]]) {
// CHECK:         "dla.load"(%[[KEPT]],
// CHECK:         sym_name = "by_way_of_dram"
"dla.program"() ({
^bb0(%x: memref<1x1x4x16xi8, "dram.inputs">, %y: memref<1x1x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() : () -> memref<1x1x4x16xi8, "sram">
  "dla.load"(%x, %a) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "dram.inputs">, memref<1x1x4x16xi8, "sram">) -> ()
  %c = "dla.alloc"() : () -> memref<1x1x4x16xi8, "sram">
  "dla.copy_tile"(%a, %c) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x1x4x16xi8, "sram">) -> ()
  %k = "dla.alloc"() : () -> memref<1x1x4x16xi8, "dram.activations">
  "dla.store"(%c, %k) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x1x4x16xi8, "dram.activations">) -> ()
  %b = "dla.alloc"() : () -> memref<1x1x4x16xi8, "sram">
  "dla.load"(%k, %b) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "dram.activations">, memref<1x1x4x16xi8, "sram">) -> ()
  %d = "dla.alloc"() : () -> memref<1x1x4x16xi8, "sram">
  "dla.copy_tile"(%b, %d) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x1x4x16xi8, "sram">) -> ()
  "dla.store"(%d, %y) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x1x4x16xi8, "dram.outputs">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "by_way_of_dram", target = "vanilla", atom = 16} : () -> ()

// Sram has 256 KiB: two tiles of 160 KiB are not there at once.
// CHECK:       "dla.program"
// CHECK:         "dla.load"
// CHECK:         "dla.copy_tile"
// CHECK:         "dla.load"
// CHECK:         sym_name = "no_room"
"dla.program"() ({
^bb0(%x: memref<2x64x80x32xi8, "dram.inputs">, %y: memref<1x1x4x32xi8, "dram.outputs">):
  %c = "dla.alloc"() : () -> memref<1x1x4x32xi8, "sram">
  %a = "dla.alloc"() : () -> memref<1x64x80x32xi8, "sram">
  "dla.load"(%x, %a) {rows = 64, columns = 80, channels = 32} : (memref<2x64x80x32xi8, "dram.inputs">, memref<1x64x80x32xi8, "sram">) -> ()
  "dla.copy_tile"(%a, %c) {rows = 1, columns = 4, channels = 32} : (memref<1x64x80x32xi8, "sram">, memref<1x1x4x32xi8, "sram">) -> ()
  %b = "dla.alloc"() : () -> memref<1x64x80x32xi8, "sram">
  "dla.load"(%x, %b) {source_at = array<i64: 1, 0, 0, 0>, rows = 64, columns = 80, channels = 32} : (memref<2x64x80x32xi8, "dram.inputs">, memref<1x64x80x32xi8, "sram">) -> ()
  "dla.eltwise_tile"(%b, %c, %c) {operator = "max", rows = 1, columns = 4, channels = 32} : (memref<1x64x80x32xi8, "sram">, memref<1x1x4x32xi8, "sram">, memref<1x1x4x32xi8, "sram">) -> ()
  "dla.store"(%c, %y) {rows = 1, columns = 4, channels = 32} : (memref<1x1x4x32xi8, "sram">, memref<1x1x4x32xi8, "dram.outputs">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "no_room", target = "vanilla", atom = 16} : () -> ()

// Weights are loaded ahead as far as a tenth of their memory, 64 KiB, stays free.
// CHECK:       "dla.program"
// CHECK:         "dla.load_weights"(%{{.*}}, %[[W:[0-9]+]]) {length = 29440
// CHECK:         "dla.load_weights"(%{{.*}}, %[[V:[0-9]+]]) {length = 29440
// CHECK:         "dla.lookup_tile"(%{{.*}}, %{{.*}}, %[[W]])
// CHECK:         "dla.lookup_tile"(%{{.*}}, %{{.*}}, %[[V]])
// CHECK:         "dla.load_weights"(%{{.*}}, %[[U:[0-9]+]]) {length = 29700
// CHECK:         "dla.lookup_tile"(%{{.*}}, %{{.*}}, %[[U]])
// CHECK:         sym_name = "weights"
"dla.program"() ({
^bb0(%code: memref<29700xi8, "dram.constants">):
  %a = "dla.alloc"() : () -> memref<1x1x4x16xi8, "sram">
  %w = "dla.alloc"() : () -> memref<29440xi8, "weights">
  "dla.load_weights"(%code, %w) {length = 29440} : (memref<29700xi8, "dram.constants">, memref<29440xi8, "weights">) -> ()
  "dla.lookup_tile"(%a, %a, %w) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x1x4x16xi8, "sram">, memref<29440xi8, "weights">) -> ()
  %v = "dla.alloc"() : () -> memref<29440xi8, "weights">
  "dla.load_weights"(%code, %v) {length = 29440} : (memref<29700xi8, "dram.constants">, memref<29440xi8, "weights">) -> ()
  "dla.lookup_tile"(%a, %a, %v) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x1x4x16xi8, "sram">, memref<29440xi8, "weights">) -> ()
  %u = "dla.alloc"() : () -> memref<29700xi8, "weights">
  "dla.load_weights"(%code, %u) {length = 29700} : (memref<29700xi8, "dram.constants">, memref<29700xi8, "weights">) -> ()
  "dla.lookup_tile"(%a, %a, %u) {rows = 1, columns = 4, channels = 16} : (memref<1x1x4x16xi8, "sram">, memref<1x1x4x16xi8, "sram">, memref<29700xi8, "weights">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "weights", target = "vanilla", atom = 16} : () -> ()
