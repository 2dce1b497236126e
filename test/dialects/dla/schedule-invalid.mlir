// RUN: trivium-opt %s --verify-diagnostics

// What an engine runs gives a token.
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 512} : () -> memref<1x4x4x32xi8, "sram">
  // expected-error @below {{'dla.load' op returns 0 tokens, must return 1}}
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "gives_no_token", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// One.
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 512} : () -> memref<1x4x4x32xi8, "sram">
  // expected-error @below {{'dla.load' op returns 2 tokens, must return 1}}
  %0, %1 = "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> (!async.token, !async.token)
  "dla.end"() : () -> ()
}) {sym_name = "two_tokens", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// And nothing else does.
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 512} : () -> memref<1x4x4x32xi8, "sram">
  // expected-error @below {{'dla.load' op has tokens and no engine}}
  %0 = "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "no_engine", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// What is waited for are tokens.
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 512} : () -> memref<1x4x4x32xi8, "sram">
  // expected-error @below {{'dla.load' op waits for or returns memref<1x4x4x32xi8, "sram">, must be !async.token}}
  %0 = "dla.load"(%a, %x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "waits_for_a_buffer", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// So is what is given.
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 512} : () -> memref<1x4x4x32xi8, "sram">
  // expected-error @below {{'dla.load' op waits for or returns i8, must be !async.token}}
  %0 = "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> i8
  "dla.end"() : () -> ()
}) {sym_name = "gives_a_number", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// All ops have engines, or none.
// expected-error @below {{'dla.program' op 'dla.store' has no engine, others have}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 512} : () -> memref<1x4x4x32xi8, "sram">
  %0 = "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  "dla.store"(%a, %y) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "half_a_schedule", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// All buffers have addresses.
// expected-error @below {{'dla.program' op 'dla.load' uses a buffer in sram without an address}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() : () -> memref<1x4x4x32xi8, "sram">
  %0 = "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "no_address", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// Arguments, too.
// expected-error @below {{'dla.program' op 'dla.load' uses a buffer in dram.inputs without an address}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 512} : () -> memref<1x4x4x32xi8, "sram">
  %0 = "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "no_argument_address", target = "vanilla", atom = 16} : () -> ()

// What was written is waited for.
// expected-error @below {{'dla.program' op op 1, 'dla.copy_tile', touches bytes that op 0, 'dla.load', touches, in no order: it must wait for it}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 512} : () -> memref<1x4x4x32xi8, "sram">
  %0 = "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  %1 = "dla.copy_tile"(%a, %b) {rows = 4, columns = 4, channels = 16, engine = "vec"} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "reads_too_early", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// What is read is not written before.
// expected-error @below {{'dla.program' op op 3, 'dla.load', touches bytes that op 1, 'dla.copy_tile', touches, in no order: it must wait for it}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 512} : () -> memref<1x4x4x32xi8, "sram">
  %0 = "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  %1 = "dla.copy_tile"(%0, %a, %b) {rows = 4, columns = 4, channels = 16, engine = "vec"} : (!async.token, memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> !async.token
  %2 = "dla.store"(%1, %b, %y) {rows = 4, columns = 4, channels = 16, engine = "store"} : (!async.token, memref<1x4x4x32xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> !async.token
  %3 = "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "writes_too_early", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// To wait for an op is to wait for those before it on its engine, not for those after it.
// expected-error @below {{'dla.program' op op 2, 'dla.copy_tile', touches bytes that op 1, 'dla.load', touches, in no order: it must wait for it}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 512} : () -> memref<1x4x4x32xi8, "sram">
  %0 = "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  %1 = "dla.load"(%x, %a) {rows = 2, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  %2 = "dla.copy_tile"(%0, %a, %b) {rows = 4, columns = 4, channels = 16, engine = "vec"} : (!async.token, memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "waits_for_another", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// Addresses say what is the same memory: these are two buffers.
// expected-error @below {{'dla.program' op op 1, 'dla.store', touches bytes that op 0, 'dla.load', touches, in no order: it must wait for it}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 256} : () -> memref<1x4x4x32xi8, "sram">
  %0 = "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  %1 = "dla.store"(%b, %y) {rows = 4, columns = 4, channels = 16, engine = "store"} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "overlaps", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// Two engines that write to the same bytes have an order.
// expected-error @below {{'dla.program' op op 1, 'dla.store', touches bytes that op 0, 'dla.store', touches, in no order: it must wait for it}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 512} : () -> memref<1x4x4x32xi8, "sram">
  %0 = "dla.store"(%a, %y) {rows = 4, columns = 4, channels = 16, engine = "store"} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> !async.token
  %1 = "dla.store"(%b, %y) {rows = 4, columns = 4, channels = 16, engine = "other"} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "two_queues_one_output", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// A pool needs its source until it ends.
// expected-error @below {{'dla.program' op 'dla.pool_tile' has 'destination' at bytes of 'source', of which it is made}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 256} : () -> memref<1x4x4x32xi8, "sram">
  %0 = "dla.pool_tile"(%a, %b) {mode = "max", rows = 4, columns = 4, channels = 16, out_rows = 2, out_columns = 2, kernel_rows = 2, kernel_columns = 2, engine = "vec"} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "pools_over_its_source", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// What works value by value may be in place, not a row farther.
// expected-error @below {{'dla.program' op 'dla.copy_tile' has 'destination' at bytes of 'source', of which it is made}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 128} : () -> memref<1x4x4x32xi8, "sram">
  %0 = "dla.copy_tile"(%a, %b) {rows = 4, columns = 4, channels = 16, engine = "vec"} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "copies_beside", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()

// Where an op is wrong by itself, nothing is said of the schedule.
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  %a = "dla.alloc"() {address = 0} : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() {address = 512} : () -> memref<1x4x4x32xi8, "sram">
  // expected-error @below {{'dla.load' op window of 'source' is 0 to 5 along axis 1}}
  %0 = "dla.load"(%x, %a) {rows = 5, columns = 4, channels = 16, engine = "load"} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  %1 = "dla.copy_tile"(%a, %b) {rows = 4, columns = 4, channels = 16, engine = "vec"} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "one_message", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, 0>} : () -> ()
