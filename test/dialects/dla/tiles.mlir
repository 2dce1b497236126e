// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: "dla.program"
"dla.program"() ({
  %x = "dla.alloc"() : () -> memref<1x4x4x16xi8, "sram">
  %y = "dla.alloc"() : () -> memref<1x4x4x32xi8, "sram">
  %w = "dla.alloc"() : () -> memref<2048xi8, "weights">
  %t = "dla.alloc"() : () -> memref<288xi8, "weights">
  %s = "dla.alloc"() : () -> memref<1x4x4x32xi32, "accumulator">

  // Sums of some channels stay, those of the others are added, and then all are scaled.
  // CHECK: "dla.conv_tile"
  // CHECK-SAME: finish = 0
  // CHECK: "dla.conv_tile"
  // CHECK-SAME: begin = 0
  "dla.conv_tile"(%x, %y, %w, %t, %s) {rows = 4, columns = 4, channels = 2, filters = 20, out_rows = 4, out_columns = 4, kernel_rows = 3, kernel_columns = 3, pad_top = 1, pad_left = 1, finish = 0} : (memref<1x4x4x16xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()
  "dla.conv_tile"(%x, %y, %w, %t, %s) {rows = 4, columns = 4, channels = 1, source_at = array<i64: 0, 0, 0, 2>, weights_at = 576, filters = 20, out_rows = 4, out_columns = 4, kernel_rows = 3, kernel_columns = 3, pad_top = 1, pad_left = 1, begin = 0} : (memref<1x4x4x16xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // CHECK: "dla.pool_tile"
  // CHECK-SAME: mode = "max"
  "dla.pool_tile"(%y, %x) {mode = "max", rows = 4, columns = 4, channels = 16, out_rows = 2, out_columns = 2, kernel_rows = 2, kernel_columns = 2, stride_rows = 2, stride_columns = 2} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x16xi8, "sram">) -> ()

  // A buffer of one row gives it to all rows; the result may lie where an operand was.
  // CHECK: "dla.eltwise_tile"(%[[Y:[0-9]+]], %[[Y]],
  // CHECK-SAME: operator = "add"
  %row = "dla.alloc"() : () -> memref<1x1x4x32xi8, "sram">
  "dla.eltwise_tile"(%y, %y, %row) {operator = "add", rows = 4, columns = 4, channels = 20} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<1x1x4x32xi8, "sram">) -> ()

  // CHECK: "dla.lookup_tile"
  // CHECK-SAME: table_at = 32
  "dla.lookup_tile"(%y, %y, %t) {rows = 4, columns = 4, channels = 20, table_at = 32} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<288xi8, "weights">) -> ()

  // CHECK: "dla.resize_tile"
  // CHECK-SAME: step_columns = 32768
  "dla.resize_tile"(%x, %y) {rows = 2, columns = 2, channels = 16, out_rows = 4, out_columns = 4, step_rows = 32768, step_columns = 32768} : (memref<1x4x4x16xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // Other rows of one buffer.
  // CHECK: "dla.copy_tile"(%[[X:[0-9]+]], %[[X]])
  "dla.copy_tile"(%x, %x) {rows = 2, columns = 4, channels = 16, destination_at = array<i64: 0, 2, 0, 0>} : (memref<1x4x4x16xi8, "sram">, memref<1x4x4x16xi8, "sram">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "tiles", target = "vanilla", atom = 16} : () -> ()
