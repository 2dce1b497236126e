// RUN: trivium-opt %s --split-input-file --verify-diagnostics --allocate-buffers

// Both buffers live at the copy; sram has 262144 bytes.
// expected-error @unknown {{sram overflows by 16 bytes: it has 262144, the plan 262160 bytes, no plan has less than 262160; most live at dla.copy_tile: memref<1x1x8193x16xi8, sram> from dla.copy_tile, memref<1x64x128x16xi8, sram> from dla.load}}
"dla.program"() ({
^bb0(%x: memref<1x64x128x16xi8, "dram.inputs">):
  %a = "dla.alloc"() : () -> memref<1x64x128x16xi8, "sram">
  "dla.load"(%x, %a) {rows = 64, columns = 128, channels = 16} : (memref<1x64x128x16xi8, "dram.inputs">, memref<1x64x128x16xi8, "sram">) -> ()
  %b = "dla.alloc"() : () -> memref<1x1x8193x16xi8, "sram">
  "dla.copy_tile"(%a, %b) {rows = 1, columns = 1, channels = 16} : (memref<1x64x128x16xi8, "sram">, memref<1x1x8193x16xi8, "sram">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "overflows", target = "vanilla", atom = 16} : () -> ()

// -----

// The same without a buffer too many: one dies before the other lives.
"dla.program"() ({
^bb0(%x: memref<1x64x128x16xi8, "dram.inputs">):
  %a = "dla.alloc"() : () -> memref<1x64x128x16xi8, "sram">
  "dla.load"(%x, %a) {rows = 64, columns = 128, channels = 16} : (memref<1x64x128x16xi8, "dram.inputs">, memref<1x64x128x16xi8, "sram">) -> ()
  %b = "dla.alloc"() : () -> memref<1x1x8193x16xi8, "sram">
  "dla.load"(%x, %b) {rows = 1, columns = 1, channels = 16} : (memref<1x64x128x16xi8, "dram.inputs">, memref<1x1x8193x16xi8, "sram">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "fits", target = "vanilla", atom = 16} : () -> ()

// -----

// No packet says where sums are: those of one op end before those of another begin.
"dla.program"() ({
^bb0(%x: memref<1x1x1x16xi8, "dram.inputs">, %t: memref<400xi8, "dram.constants">):
  %a = "dla.alloc"() : () -> memref<1x1x1x16xi8, "sram">
  %b = "dla.alloc"() : () -> memref<1x1x1x16xi8, "sram">
  %w = "dla.alloc"() : () -> memref<400xi8, "weights">
  %s = "dla.alloc"() : () -> memref<1x1x1x16xi32, "accumulator">
  // expected-error @below {{'dla.alloc' op lives while another buffer in accumulator does: no packet has an address there}}
  %r = "dla.alloc"() : () -> memref<1x1x1x16xi32, "accumulator">
  "dla.load"(%x, %a) {rows = 1, columns = 1, channels = 16} : (memref<1x1x1x16xi8, "dram.inputs">, memref<1x1x1x16xi8, "sram">) -> ()
  "dla.load_weights"(%t, %w) {length = 400} : (memref<400xi8, "dram.constants">, memref<400xi8, "weights">) -> ()
  "dla.conv_tile"(%a, %b, %w, %w, %s) {rows = 1, columns = 1, channels = 16, filters = 16, out_rows = 1, out_columns = 1, kernel_rows = 1, kernel_columns = 1, table_at = 256, finish = 0} : (memref<1x1x1x16xi8, "sram">, memref<1x1x1x16xi8, "sram">, memref<400xi8, "weights">, memref<400xi8, "weights">, memref<1x1x1x16xi32, "accumulator">) -> ()
  "dla.conv_tile"(%a, %b, %w, %w, %r) {rows = 1, columns = 1, channels = 16, filters = 16, out_rows = 1, out_columns = 1, kernel_rows = 1, kernel_columns = 1, table_at = 256} : (memref<1x1x1x16xi8, "sram">, memref<1x1x1x16xi8, "sram">, memref<400xi8, "weights">, memref<400xi8, "weights">, memref<1x1x1x16xi32, "accumulator">) -> ()
  "dla.conv_tile"(%a, %b, %w, %w, %s) {rows = 1, columns = 1, channels = 16, filters = 16, out_rows = 1, out_columns = 1, kernel_rows = 1, kernel_columns = 1, table_at = 256, begin = 0} : (memref<1x1x1x16xi8, "sram">, memref<1x1x1x16xi8, "sram">, memref<400xi8, "weights">, memref<400xi8, "weights">, memref<1x1x1x16xi32, "accumulator">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "two_sums", target = "vanilla", atom = 16} : () -> ()

// -----

// dram has 2^36 bytes for each region.
// expected-error @below {{dram.inputs of program 'large' has 68719476752 bytes, must have at most 68719476736}}
"dla.program"() ({
^bb0(%x: memref<1x65536x65536x16xi8, "dram.inputs">, %y: memref<1x1x1x16xi8, "dram.inputs">):
  "dla.end"() : () -> ()
}) {sym_name = "large", target = "vanilla", atom = 16} : () -> ()
