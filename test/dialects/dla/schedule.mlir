// RUN: trivium-opt %s | FileCheck %s

// Ops of one engine come after each other, and bring what they waited for to those that follow.
// CHECK-LABEL: "dla.program"
// CHECK:         %[[FIRST:.*]] = "dla.load"{{.*}}engine = "load"
// CHECK:         %[[SECOND:.*]] = "dla.load"{{.*}}engine = "load"
// CHECK:         %[[COPIED:.*]] = "dla.copy_tile"(%[[SECOND]],
// CHECK:         "dla.store"(%[[COPIED]],
// CHECK:         "dla.load"(%[[COPIED]],
// CHECK:         sym_name = "one_after_the_other"
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x16xi8, "sram">
  %b = "dla.alloc"() {address = 256} : () -> memref<1x4x4x16xi8, "sram">
  %0 = "dla.load"(%x, %a) {rows = 2, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x16xi8, "sram">) -> !async.token
  %1 = "dla.load"(%x, %a) {rows = 2, columns = 4, channels = 16, source_at = array<i64: 0, 2, 0, 0>, destination_at = array<i64: 0, 2, 0, 0>, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x16xi8, "sram">) -> !async.token
  %2 = "dla.copy_tile"(%1, %a, %b) {rows = 4, columns = 4, channels = 16, engine = "vec"} : (!async.token, memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "sram">) -> !async.token
  %3 = "dla.store"(%2, %b, %y) {rows = 4, columns = 4, channels = 16, engine = "store"} : (!async.token, memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> !async.token
  %4 = "dla.load"(%2, %x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (!async.token, memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x16xi8, "sram">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "one_after_the_other", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// Buffers that are used one after the other may have the same bytes; so may constants, which are
// never written, and the result of an op that works value by value.
// CHECK-LABEL: "dla.program"
// CHECK:         "dla.lookup_tile"
// CHECK:         "dla.conv_tile"
// CHECK-SAME:    engine = "mac"
// CHECK:         sym_name = "shares_bytes"
"dla.program"() ({
^bb0(%w: memref<544xi8, "dram.constants">, %t: memref<256xi8, "dram.constants">):
  %k = "dla.alloc"() {address = 0} : () -> memref<544xi8, "weights">
  %0 = "dla.load_weights"(%w, %k) {length = 544, engine = "load"} : (memref<544xi8, "dram.constants">, memref<544xi8, "weights">) -> !async.token
  %table = "dla.alloc"() {address = 0} : () -> memref<256xi8, "weights">
  %x = "dla.alloc"() {address = 512} : () -> memref<1x2x2x16xi8, "sram">
  %looked_up = "dla.alloc"() {address = 512} : () -> memref<1x2x2x16xi8, "sram">
  %1 = "dla.lookup_tile"(%0, %x, %looked_up, %table) {rows = 2, columns = 2, channels = 16, engine = "vec"} : (!async.token, memref<1x2x2x16xi8, "sram">, memref<1x2x2x16xi8, "sram">, memref<256xi8, "weights">) -> !async.token
  %s = "dla.alloc"() {address = 0} : () -> memref<1x2x2x16xi32, "accumulator">
  %y = "dla.alloc"() {address = 0} : () -> memref<1x2x2x16xi8, "sram">
  %2 = "dla.conv_tile"(%1, %x, %y, %k, %k, %s) {rows = 2, columns = 2, channels = 16, filters = 16, out_rows = 2, out_columns = 2, kernel_rows = 1, kernel_columns = 1, table_at = 256, engine = "mac"} : (!async.token, memref<1x2x2x16xi8, "sram">, memref<1x2x2x16xi8, "sram">, memref<544xi8, "weights">, memref<544xi8, "weights">, memref<1x2x2x16xi32, "accumulator">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "shares_bytes", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 256>} : () -> ()
