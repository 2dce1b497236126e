// RUN: trivium-opt %s --split-input-file --verify-diagnostics --insert-tokens

// Nobody knows yet which bytes the buffer has.
// expected-error @below {{program 'nowhere': 'dla.load' uses a buffer in sram without an address, --allocate-buffers gives it one}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">):
  %a = "dla.alloc"() : () -> memref<1x4x4x16xi8, "sram">
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x16xi8, "sram">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "nowhere", target = "vanilla", atom = 16, argument_addresses = array<i64: 0>} : () -> ()
