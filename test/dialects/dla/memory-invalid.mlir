// RUN: trivium-opt %s --verify-diagnostics

// What buffers are.
"dla.program"() ({
  // A buffer is memory, not a value.
  // expected-error @below {{'dla.alloc' op operand or result has type tensor<4xi8>, must be a memref}}
  %bad0 = "dla.alloc"() : () -> tensor<4xi8>

  // It is in some memory.
  // expected-error @below {{'dla.alloc' op memref<4xi8> is in no memory, its space must be one of: sram, weights, accumulator, dram.constants}}
  %bad1 = "dla.alloc"() : () -> memref<4xi8>

  // Which has a name.
  // expected-error @below {{'dla.alloc' op memref<4xi8, 1> is in no memory, its space must be one of: sram}}
  %bad2 = "dla.alloc"() : () -> memref<4xi8, 1>

  // That there is.
  // expected-error @below {{'dla.alloc' op memref<4xi8, "dram"> is in no memory, its space must be one of: sram}}
  %bad3 = "dla.alloc"() : () -> memref<4xi8, "dram">

  // There are bytes in sram.
  // expected-error @below {{'dla.alloc' op memref<4xi32, "sram"> must be of i8}}
  %bad4 = "dla.alloc"() : () -> memref<4xi32, "sram">

  // And sums in the accumulator.
  // expected-error @below {{'dla.alloc' op memref<1x4x4x16xi8, "accumulator"> must be of i32}}
  %bad5 = "dla.alloc"() : () -> memref<1x4x4x16xi8, "accumulator">

  // Sizes are known.
  // expected-error @below {{'dla.alloc' op memref<1x?x4x16xi8, "sram"> must have sizes that are known, and none 0}}
  %bad6 = "dla.alloc"() : () -> memref<1x?x4x16xi8, "sram">

  // There is something.
  // expected-error @below {{'dla.alloc' op memref<1x0x4x16xi8, "sram"> must have sizes that are known, and none 0}}
  %bad7 = "dla.alloc"() : () -> memref<1x0x4x16xi8, "sram">

  // With an index.
  // expected-error @below {{'dla.alloc' op memref<i8, "sram"> must have sizes that are known, and none 0}}
  %bad8 = "dla.alloc"() : () -> memref<i8, "sram">

  // Rows follow each other.
  // expected-error @below {{'dla.alloc' op memref<4x4xi8, strided<[8, 1]>, "sram"> must be dense}}
  %bad9 = "dla.alloc"() : () -> memref<4x4xi8, strided<[8, 1]>, "sram">

  // From the first byte.
  // expected-error @below {{'dla.alloc' op memref<4x4xi8, strided<[4, 1], offset: 4>, "sram"> must be dense}}
  %bad10 = "dla.alloc"() : () -> memref<4x4xi8, strided<[4, 1], offset: 4>, "sram">

  // At strides.
  // expected-error @below {{'dla.alloc' op memref<4x4xi8, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, "sram"> has a layout without strides}}
  %bad11 = "dla.alloc"() : () -> memref<4x4xi8, affine_map<(a, b) -> (a floordiv 2, b)>, "sram">

  // Inputs are arguments.
  // expected-error @below {{'dla.alloc' op allocates a buffer in dram.inputs, whose buffers are arguments}}
  %bad12 = "dla.alloc"() : () -> memref<4xi8, "dram.inputs">

  // So are constants.
  // expected-error @below {{'dla.alloc' op allocates a buffer in dram.constants, whose buffers are arguments}}
  %bad13 = "dla.alloc"() : () -> memref<4xi8, "dram.constants">

  // Memories start at 0.
  // expected-error @below {{'dla.alloc' op address is -2, must not be negative}}
  %bad14 = "dla.alloc"() {address = -2} : () -> memref<4xi8, "sram">

  // It makes one.
  // expected-error @below {{'dla.alloc' op has 0 results, must have 1}}
  "dla.alloc"() : () -> ()
  "dla.end"() : () -> ()
}) {sym_name = "buffers", target = "vanilla", atom = 16} : () -> ()

// What is moved.
"dla.program"() ({
^bb0(%x: memref<1x4x4x16xi8, "dram.inputs">, %y: memref<1x4x4x16xi8, "dram.outputs">, %c: memref<256xi8, "dram.constants">):
  %a = "dla.alloc"() : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() : () -> memref<1x4x4x32xi8, "sram">
  %w = "dla.alloc"() : () -> memref<2048xi8, "weights">
  %d = "dla.alloc"() : () -> memref<1x4x4x16xi8, "dram.activations">

  // Loads go inward.
  // expected-error @below {{'dla.load' op 'source' is in sram, must be in dram.constants, dram.inputs, dram.outputs, dram.activations}}
  "dla.load"(%a, %b) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // To images.
  // expected-error @below {{'dla.load' op 'destination' is in weights, must be in sram}}
  "dla.load"(%x, %w) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<2048xi8, "weights">) -> ()

  // A window starts at image, row, column, channel.
  // expected-error @below {{'dla.load' op 'source' starts at (0, 0), must have 4 numbers}}
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, source_at = array<i64: 0, 0>} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> ()

  // Images have four axes.
  // expected-error @below {{'dla.load' op 'source' is memref<256xi8, dram.constants>, must have rank 4}}
  "dla.load"(%c, %a) {rows = 4, columns = 4, channels = 16} : (memref<256xi8, "dram.constants">, memref<1x4x4x32xi8, "sram">) -> ()

  // A window has something.
  // expected-error @below {{'dla.load' op window of 'source' is (0, 4, 16), must be at least 1}}
  "dla.load"(%x, %a) {rows = 0, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> ()

  // It is within the buffer: here it ends behind the last row.
  // expected-error @below {{'dla.load' op window of 'source' is 1 to 5 along axis 1 of memref<1x4x4x16xi8, dram.inputs>}}
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, source_at = array<i64: 0, 1, 0, 0>} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> ()

  // Here it starts before the first column.
  // expected-error @below {{'dla.load' op window of 'source' is -1 to 3 along axis 2}}
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, source_at = array<i64: 0, 0, -1, 0>} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> ()

  // There is one image.
  // expected-error @below {{'dla.load' op window of 'source' is 1 to 2 along axis 0}}
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, source_at = array<i64: 1, 0, 0, 0>} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> ()

  // And so many channels.
  // expected-error @below {{'dla.load' op window of 'source' is 0 to 17 along axis 3}}
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 17} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> ()

  // With its border it is within the destination.
  // expected-error @below {{'dla.load' op window of 'destination' is 0 to 5 along axis 1}}
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, top = 1} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> ()

  // A border adds.
  // expected-error @below {{'dla.load' op borders are negative}}
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, left = -1} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> ()

  // Bytes.
  // expected-error @below {{'dla.load' op fill is 128, must be in -128:127}}
  "dla.load"(%x, %a) {rows = 4, columns = 4, channels = 16, fill = 128} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> ()

  // A number of rows is needed.
  // expected-error @below {{'dla.load' op lacks attribute 'rows'}}
  "dla.load"(%x, %a) {columns = 4, channels = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> ()

  // That is a number.
  // expected-error @below {{'dla.load' op attribute 'columns' is 4.000000e+00 : f64, must be an i64 integer}}
  "dla.load"(%x, %a) {rows = 4, columns = 4.0, channels = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x32xi8, "sram">) -> ()

  // Weights are within their buffer.
  // expected-error @below {{'dla.load_weights' op window of 'source' is 0 to 257 along axis 0 of memref<256xi8, dram.constants>}}
  "dla.load_weights"(%c, %w) {length = 257} : (memref<256xi8, "dram.constants">, memref<2048xi8, "weights">) -> ()

  // And within the memory.
  // expected-error @below {{'dla.load_weights' op window of 'destination' is 2040 to 2056 along axis 0}}
  "dla.load_weights"(%c, %w) {length = 16, destination_at = 2040} : (memref<256xi8, "dram.constants">, memref<2048xi8, "weights">) -> ()

  // There are some.
  // expected-error @below {{'dla.load_weights' op window of 'source' is (0,), must be at least 1}}
  "dla.load_weights"(%c, %w) {length = 0} : (memref<256xi8, "dram.constants">, memref<2048xi8, "weights">) -> ()

  // They are bytes without a shape.
  // expected-error @below {{'dla.load_weights' op 'source' is memref<1x4x4x16xi8, dram.inputs>, must have rank 1}}
  "dla.load_weights"(%x, %w) {length = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<2048xi8, "weights">) -> ()

  // They have a memory of their own.
  // expected-error @below {{'dla.load_weights' op 'destination' is in sram, must be in weights}}
  "dla.load_weights"(%c, %a) {length = 16} : (memref<256xi8, "dram.constants">, memref<1x4x4x32xi8, "sram">) -> ()

  // Stores go outward.
  // expected-error @below {{'dla.store' op 'source' is in dram.inputs, must be in sram}}
  "dla.store"(%x, %y) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x16xi8, "dram.inputs">, memref<1x4x4x16xi8, "dram.outputs">) -> ()

  // Inputs stay as they are.
  // expected-error @below {{'dla.store' op 'destination' is in dram.inputs, must be in dram.outputs, dram.activations}}
  "dla.store"(%a, %x) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x16xi8, "dram.inputs">) -> ()

  // So do constants.
  // expected-error @below {{'dla.store' op 'destination' is in dram.constants, must be in dram.outputs, dram.activations}}
  "dla.store"(%a, %c) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x32xi8, "sram">, memref<256xi8, "dram.constants">) -> ()

  // What is stored is within the buffer.
  // expected-error @below {{'dla.store' op window of 'destination' is 1 to 17 along axis 3}}
  "dla.store"(%a, %y) {rows = 4, columns = 4, channels = 16, destination_at = array<i64: 0, 0, 0, 1>} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> ()

  // Stores copy.
  // expected-error @below {{'dla.store' op has no attribute 'source_zero'}}
  "dla.store"(%a, %y) {rows = 4, columns = 4, channels = 16, source_zero = 1} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x16xi8, "dram.outputs">) -> ()

  // There is a source, and a destination.
  // expected-error @below {{'dla.store' op has 1 operands, must have at least 2}}
  "dla.store"(%a) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x32xi8, "sram">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "moves", target = "vanilla", atom = 16} : () -> ()
