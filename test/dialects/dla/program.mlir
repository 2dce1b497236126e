// RUN: trivium-opt %s | FileCheck %s

// In buffer form ops stand in order; nothing has an address or an engine.
// CHECK-LABEL: "dla.program"
// CHECK:         "dla.load"(%{{.*}}, %{{.*}}) {channels = 16 : i64, columns = 4 : i64, rows = 4 : i64
// CHECK:         "dla.lookup_tile"
// CHECK:         "dla.store"
// CHECK:         sym_name = "in_order"
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %t: memref<256xi8, "dram.constants">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() : () -> memref<1x4x4x16xi8, "sram">
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x16xi8, "sram">) -> ()
  %w = "dla.alloc"() : () -> memref<256xi8, "weights">
  "dla.load_weights"(%t, %w) {length = 256} : (memref<256xi8, "dram.constants">, memref<256xi8, "weights">) -> ()
  %b = "dla.alloc"() : () -> memref<1x4x4x16xi8, "sram">
  "dla.lookup_tile"(%a, %b, %w) {rows = 4, columns = 4, channels = 3} : (memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "sram">, memref<256xi8, "weights">) -> ()
  "dla.store"(%b, %y) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "in_order", target = "vanilla", atom = 16} : () -> ()

// In scheduled form each op has an engine and waits for what it needs, and buffers have addresses.
// CHECK-LABEL: "dla.program"
// CHECK:         %[[LOADED:.*]] = "dla.load"{{.*}}engine = "load"
// CHECK:         %[[TABLE:.*]] = "dla.load_weights"
// CHECK:         "dla.lookup_tile"(%[[TABLE]], {{.*}}engine = "vec"
// CHECK:         argument_addresses = array<i64: 0, 0, 0>
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %t: memref<256xi8, "dram.constants">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x16xi8, "sram">
  %0 = "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x16xi8, "sram">) -> !async.token
  %w = "dla.alloc"() {address = 0} : () -> memref<256xi8, "weights">
  %1 = "dla.load_weights"(%t, %w) {length = 256, engine = "load"} : (memref<256xi8, "dram.constants">, memref<256xi8, "weights">) -> !async.token
  %b = "dla.alloc"() {address = 256} : () -> memref<1x4x4x16xi8, "sram">
  %2 = "dla.lookup_tile"(%1, %a, %b, %w) {rows = 4, columns = 4, channels = 3, engine = "vec"} : (!async.token, memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "sram">, memref<256xi8, "weights">) -> !async.token
  %3 = "dla.store"(%2, %b, %y) {rows = 4, columns = 4, channels = 16, engine = "store"} : (!async.token, memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "scheduled", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0, 0>} : () -> ()

func.func @main(%x: tensor<1x4x4x3xi8>, %t: tensor<256xi8>) -> tensor<1x4x4x3xi8> {
  %y = "dla.run"(%x, %t) {program = "scheduled"} : (tensor<1x4x4x3xi8>, tensor<256xi8>) -> tensor<1x4x4x3xi8>
  return %y : tensor<1x4x4x3xi8>
}
