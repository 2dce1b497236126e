// RUN: trivium-opt %s | FileCheck %s

// A window of a buffer starts somewhere in it; a border is filled while it is loaded.
// CHECK-LABEL: "dla.program"
// CHECK:         %[[A:.*]] = "dla.alloc"() : () -> memref<1x6x4x16xi8, "sram">
// CHECK:         "dla.load"(%{{.*}}, %[[A]])
// CHECK-SAME:    fill = -3
// CHECK-SAME:    source_at = array<i64: 1, 2, 0, 0>
// CHECK-SAME:    top = 1
// CHECK:         %[[W:.*]] = "dla.alloc"() : () -> memref<64xi8, "weights">
// CHECK:         "dla.load_weights"(%{{.*}}, %[[W]])
// CHECK-SAME:    length = 32
// CHECK:         %[[SPILLED:.*]] = "dla.alloc"() : () -> memref<1x6x4x16xi8, "dram.activations">
// CHECK:         "dla.store"(%[[A]], %[[SPILLED]])
// CHECK:         "dla.store"(%[[A]], %{{.*}})
"dla.program"() ({
^bb0(%x: memref<2x8x4x16xi8, "dram.inputs">, %c: memref<96xi8, "dram.constants">, %y: memref<1x6x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() : () -> memref<1x6x4x16xi8, "sram">
  "dla.load"(%x, %a) {rows = 5, columns = 4, channels = 16, source_at = array<i64: 1, 2, 0, 0>, top = 1, fill = -3} : (memref<2x8x4x16xi8, "dram.inputs">, memref<1x6x4x16xi8, "sram">) -> ()
  %w = "dla.alloc"() : () -> memref<64xi8, "weights">
  "dla.load_weights"(%c, %w) {length = 32, source_at = 64, destination_at = 32} : (memref<96xi8, "dram.constants">, memref<64xi8, "weights">) -> ()
  %spilled = "dla.alloc"() : () -> memref<1x6x4x16xi8, "dram.activations">
  "dla.store"(%a, %spilled) {rows = 6, columns = 4, channels = 16} : (memref<1x6x4x16xi8, "sram">, memref<1x6x4x16xi8, "dram.activations">) -> ()
  "dla.store"(%a, %y) {rows = 6, columns = 2, channels = 16, destination_at = array<i64: 0, 0, 2, 0>} : (memref<1x6x4x16xi8, "sram">, memref<1x6x4x16xi8, "dram.outputs">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "moves", target = "vanilla", atom = 16} : () -> ()
