// RUN: trivium-opt %s --verify-diagnostics

// The program that is run below.
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %c: memref<256xi8, "dram.constants">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  "dla.end"() : () -> ()
}) {sym_name = "fine", target = "vanilla", atom = 16} : () -> ()

// An atom has channels.
// expected-error @below {{'dla.program' op atom is -1, must be at least 1}}
"dla.program"() ({
  "dla.end"() : () -> ()
}) {sym_name = "no_channels", target = "vanilla", atom = -1} : () -> ()

// A program has a body.
// expected-error @below {{'dla.program' op has 0 regions, must have 1}}
"dla.program"() {sym_name = "no_region", target = "vanilla", atom = 16} : () -> ()

// With a block.
// expected-error @below {{'dla.program' op has 0 blocks in its body, must have 1}}
"dla.program"() ({}) {sym_name = "no_body", target = "vanilla", atom = 16} : () -> ()

// That ends.
// expected-error @below {{'dla.program' op body ends in 'dla.alloc', must end in 'dla.end'}}
"dla.program"() ({
  %a = "dla.alloc"() : () -> memref<4xi8, "sram">
}) {sym_name = "no_end", target = "vanilla", atom = 16} : () -> ()

// Once.
// expected-error @below {{'dla.program' op body goes on after 'dla.end'}}
"dla.program"() ({
  "dla.end"() : () -> ()
  "dla.end"() : () -> ()
}) {sym_name = "two_ends", target = "vanilla", atom = 16} : () -> ()

// It is a symbol, not a value.
// expected-error @below {{'dla.program' op has 1 results, must have 0}}
%value = "dla.program"() ({
  "dla.end"() : () -> ()
}) {sym_name = "a_value", target = "vanilla", atom = 16} : () -> i8

// What ends has no values, either.
"dla.program"() ({
  %a = "dla.alloc"() : () -> memref<4xi8, "sram">
  // expected-error @below {{'dla.end' op has 1 operands, must have 0}}
  "dla.end"(%a) : (memref<4xi8, "sram">) -> ()
}) {sym_name = "ends_in_a_value", target = "vanilla", atom = 16} : () -> ()

// Programs stand beside functions.
func.func @inner() {
  // expected-error @below {{'dla.program' op stands in 'func.func', must stand in a module}}
  "dla.program"() ({
    "dla.end"() : () -> ()
  }) {sym_name = "inside", target = "vanilla", atom = 16} : () -> ()
  return
}

// Arguments are buffers that come from outside.
// expected-error @below {{'dla.program' op argument 0 is in sram, must be in one of: dram.inputs, dram.constants, dram.outputs}}
"dla.program"() ({
^bb0(%a: memref<1x4x4x32xi8, "sram">):
  "dla.end"() : () -> ()
}) {sym_name = "inner_buffer", target = "vanilla", atom = 16} : () -> ()

// What a program keeps in dram is its own.
// expected-error @below {{'dla.program' op argument 0 is in dram.activations, must be in one of: dram.inputs, dram.constants, dram.outputs}}
"dla.program"() ({
^bb0(%d: memref<1x4x4x16xi8, "dram.activations">):
  "dla.end"() : () -> ()
}) {sym_name = "own_buffer", target = "vanilla", atom = 16} : () -> ()

// All arguments have addresses, or none.
// expected-error @below {{'dla.program' op has 1 addresses for 2 arguments}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  "dla.end"() : () -> ()
}) {sym_name = "one_address", target = "vanilla", atom = 16, argument_addresses = array<i64: 0>} : () -> ()

// From 0 on.
// expected-error @below {{'dla.program' op address of argument 1 is -16, must not be negative}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">):
  "dla.end"() : () -> ()
}) {sym_name = "below_zero", target = "vanilla", atom = 16, argument_addresses = array<i64: 0, -16>} : () -> ()

// Inputs do not share bytes: each has its own.
// expected-error @below {{'dla.program' op arguments 1 and 0 share bytes of dram.inputs}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %z: memref<1x4x4x16xi8, "dram.inputs">):
  "dla.end"() : () -> ()
}) {sym_name = "one_over_the_other", target = "vanilla", atom = 16, argument_addresses = array<i64: 255, 0>} : () -> ()

// A body moves and computes buffers.
// expected-error @below {{'dla.program' op body has 'dla.run', must have ops on buffers}}
"dla.program"() ({
  // expected-error @below {{'dla.run' op has 0 operands, the program has 2}}
  "dla.run"() {program = "fine"} : () -> ()
  "dla.end"() : () -> ()
}) {sym_name = "computes_tensors", target = "vanilla", atom = 16} : () -> ()

// An op waits for what is before it, so that no two can wait for each other.
// expected-error @below {{'dla.program' op body does not define what 'dla.load' uses: operand 0}}
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">):
  %a = "dla.alloc"() : () -> memref<1x4x4x32xi8, "sram">
  %0 = "dla.load"(%1, %x, %a) {rows = 4, columns = 4, channels = 16, engine = "one"} : (!async.token, memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  %1 = "dla.load"(%0, %x, %a) {rows = 4, columns = 4, channels = 16, engine = "two"} : (!async.token, memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> !async.token
  "dla.end"() : () -> ()
}) {sym_name = "waits_for_itself", target = "vanilla", atom = 16} : () -> ()

// What is run is a program.
func.func @runs_nothing(%x: tensor<1x4x4x3xi8>, %t: tensor<256xi8>) {
  // expected-error @below {{'dla.run' op calls program 'other', which does not exist}}
  %y = "dla.run"(%x, %t) {program = "other"} : (tensor<1x4x4x3xi8>, tensor<256xi8>) -> tensor<1x4x4x16xi8>
  return
}

// A function is none.
func.func @runs_a_function(%x: tensor<1x4x4x3xi8>, %t: tensor<256xi8>) {
  // expected-error @below {{'dla.run' op calls program 'runs_nothing', which does not exist}}
  %y = "dla.run"(%x, %t) {program = "runs_nothing"} : (tensor<1x4x4x3xi8>, tensor<256xi8>) -> tensor<1x4x4x16xi8>
  return
}

// It is given its inputs and constants.
func.func @lacks_the_table(%x: tensor<1x4x4x3xi8>) {
  // expected-error @below {{'dla.run' op has 1 operands, the program has 2}}
  %y = "dla.run"(%x) {program = "fine"} : (tensor<1x4x4x3xi8>) -> tensor<1x4x4x16xi8>
  return
}

// It returns its outputs.
func.func @two_results(%x: tensor<1x4x4x3xi8>, %t: tensor<256xi8>) {
  // expected-error @below {{'dla.run' op has 0 results, the program has 1}}
  "dla.run"(%x, %t) {program = "fine"} : (tensor<1x4x4x3xi8>, tensor<256xi8>) -> ()
  return
}

// Each as its buffer is.
func.func @other_batch(%x: tensor<2x4x4x3xi8>, %t: tensor<256xi8>) {
  // expected-error @below {{'dla.run' op operand 0 is tensor<2x4x4x3xi8>, its buffer is memref<1x4x4x16xi8, dram.inputs>}}
  %y = "dla.run"(%x, %t) {program = "fine"} : (tensor<2x4x4x3xi8>, tensor<256xi8>) -> tensor<1x4x4x16xi8>
  return
}

// Up to channels that pad an atom.
func.func @too_many_channels(%x: tensor<1x4x4x3xi8>, %t: tensor<256xi8>) {
  // expected-error @below {{'dla.run' op result 0 is tensor<1x4x4x17xi8>, its buffer is memref<1x4x4x16xi8, dram.outputs>}}
  %y = "dla.run"(%x, %t) {program = "fine"} : (tensor<1x4x4x3xi8>, tensor<256xi8>) -> tensor<1x4x4x17xi8>
  return
}

// Constants are as their buffers are.
func.func @short_table(%x: tensor<1x4x4x3xi8>, %t: tensor<255xi8>) {
  // expected-error @below {{'dla.run' op operand 1 is tensor<255xi8>, its buffer is memref<256xi8, dram.constants>}}
  %y = "dla.run"(%x, %t) {program = "fine"} : (tensor<1x4x4x3xi8>, tensor<255xi8>) -> tensor<1x4x4x16xi8>
  return
}

// All are bytes.
func.func @floats(%x: tensor<1x4x4x3xf32>, %t: tensor<256xi8>) {
  // expected-error @below {{'dla.run' op operand 0 is tensor<1x4x4x3xf32>, its buffer is memref<1x4x4x16xi8, dram.inputs>}}
  %y = "dla.run"(%x, %t) {program = "fine"} : (tensor<1x4x4x3xf32>, tensor<256xi8>) -> tensor<1x4x4x16xi8>
  return
}

// Of a program without a body there is one message.
func.func @runs_no_body() {
  "dla.run"() {program = "no_body"} : () -> ()
  return
}

// Which accelerator it is for is said.
// expected-error @below {{'dla.program' op lacks attribute 'target'}}
"dla.program"() ({
  "dla.end"() : () -> ()
}) {sym_name = "for_none", atom = 16} : () -> ()

// By name.
// expected-error @below {{'dla.program' op attribute 'target' is 1 : i64, must be a string}}
"dla.program"() ({
  "dla.end"() : () -> ()
}) {sym_name = "for_a_number", target = 1, atom = 16} : () -> ()
