// RUN: trivium-opt %s --verify-diagnostics

// Whatever a tile computes, it does so within its buffers, in numbers that hardware has.
"dla.program"() ({
  %a = "dla.alloc"() : () -> memref<1x4x4x32xi8, "sram">
  %b = "dla.alloc"() : () -> memref<1x4x4x32xi8, "sram">
  %row = "dla.alloc"() : () -> memref<1x1x4x32xi8, "sram">
  %w = "dla.alloc"() : () -> memref<2048xi8, "weights">
  %t = "dla.alloc"() : () -> memref<288xi8, "weights">
  %s = "dla.alloc"() : () -> memref<1x4x4x32xi32, "accumulator">

  // Modes are those of convs.
  // expected-error @below {{'dla.conv_tile' op mode is 'group', must be one of dense, depthwise}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1, mode = "group"} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // A filter for each channel.
  // expected-error @below {{'dla.conv_tile' op depthwise conv has 20 filters, 8 channels}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1, mode = "depthwise"} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // It begins, or does not.
  // expected-error @below {{'dla.conv_tile' op begin is 2, must be 0 or 1}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1, begin = 2} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // It finishes, or does not.
  // expected-error @below {{'dla.conv_tile' op finish is -1, must be 0 or 1}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1, finish = -1} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // Kernels have something.
  // expected-error @below {{'dla.conv_tile' op kernel are (0, 1), must be at least 1}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 0, kernel_columns = 1} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // They move.
  // expected-error @below {{'dla.conv_tile' op strides are (1, 0), must be at least 1}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1, stride_columns = 0} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // Their taps are apart.
  // expected-error @below {{'dla.conv_tile' op dilations are (-1, 1), must be at least 1}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1, dilation_rows = -1} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // Pads add.
  // expected-error @below {{'dla.conv_tile' op pads are (-1, 0), must be at least 0}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1, pad_top = -1} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // There is a result.
  // expected-error @below {{'dla.conv_tile' op out are (2, 0), must be at least 1}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 0, kernel_rows = 3, kernel_columns = 1} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // Zero points are bytes.
  // expected-error @below {{'dla.conv_tile' op zero point is -129, must be in -128:127}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1, source_zero = -129} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // Bounds have an order.
  // expected-error @below {{'dla.conv_tile' op clamps to 3:2, must be in -128:127 of i8}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1, low = 3, high = 2} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // Roundings have names.
  // expected-error @below {{'dla.conv_tile' op rounding is 'up', must be one of half_away, half_even, half_up}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1, rounding = "up"} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // Images are in sram.
  // expected-error @below {{'dla.conv_tile' op 'source' is in weights, must be in sram}}
  "dla.conv_tile"(%w, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1} : (memref<2048xi8, "weights">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // Weights are where weights are.
  // expected-error @below {{'dla.conv_tile' op 'weights' is in sram, must be in weights}}
  "dla.conv_tile"(%a, %b, %a, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // Sums are in the accumulator.
  // expected-error @below {{'dla.conv_tile' op 'sums' is in sram, must be in accumulator}}
  "dla.conv_tile"(%a, %b, %w, %t, %a) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi8, "sram">) -> ()

  // All weights are there, with those of filters that pad an atom: 3 * 1 * 8 * 32.
  // expected-error @below {{'dla.conv_tile' op window of 'weights' is 1281 to 2049 along axis 0 of memref<2048xi8, weights>}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1, weights_at = 1281} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // So is the table: 9 * 32 bytes.
  // expected-error @below {{'dla.conv_tile' op window of 'table' is 1 to 289 along axis 0 of memref<288xi8, weights>}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1, table_at = 1} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // Sums fit.
  // expected-error @below {{'dla.conv_tile' op window of 'sums' is 0 to 5 along axis 1 of memref<1x4x4x32xi32, accumulator>}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 5, out_columns = 2, kernel_rows = 3, kernel_columns = 1} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // The result fits, with what pads an atom.
  // expected-error @below {{'dla.conv_tile' op window of 'destination' is 1 to 33 along axis 3 of memref<1x4x4x32xi8, sram>}}
  "dla.conv_tile"(%a, %b, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1, destination_at = array<i64: 0, 0, 0, 1>} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // What is read is not written over.
  // expected-error @below {{'dla.conv_tile' op writes 'destination' over 'source', of which it is made}}
  "dla.conv_tile"(%a, %a, %w, %t, %s) {rows = 4, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 3, kernel_columns = 1} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // Not even in part.
  // expected-error @below {{'dla.conv_tile' op writes 'destination' over 'source', of which it is made}}
  "dla.conv_tile"(%a, %a, %w, %t, %s) {rows = 3, columns = 4, channels = 8, filters = 20, out_rows = 2, out_columns = 2, kernel_rows = 2, kernel_columns = 1, destination_at = array<i64: 0, 2, 2, 0>} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<2048xi8, "weights">, memref<288xi8, "weights">, memref<1x4x4x32xi32, "accumulator">) -> ()

  // Pools are of two kinds.
  // expected-error @below {{'dla.pool_tile' op mode is 'min', must be one of max, average}}
  "dla.pool_tile"(%a, %b) {mode = "min", rows = 4, columns = 4, channels = 16, out_rows = 2, out_columns = 2, kernel_rows = 2, kernel_columns = 2} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // As are divisors.
  // expected-error @below {{'dla.pool_tile' op divisor is 'count', must be one of none, inside}}
  "dla.pool_tile"(%a, %b) {mode = "max", rows = 4, columns = 4, channels = 16, out_rows = 2, out_columns = 2, kernel_rows = 2, kernel_columns = 2, divisor = "count"} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // A window has something of the image.
  // expected-error @below {{'dla.pool_tile' op pools a window that has nothing of the image}}
  "dla.pool_tile"(%a, %b) {mode = "max", rows = 4, columns = 4, channels = 16, out_rows = 5, out_columns = 2, kernel_rows = 2, kernel_columns = 2} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // Also the first one.
  // expected-error @below {{'dla.pool_tile' op pools a window that has nothing of the image}}
  "dla.pool_tile"(%a, %b) {mode = "max", rows = 4, columns = 4, channels = 16, out_rows = 2, out_columns = 2, kernel_rows = 2, kernel_columns = 2, pad_left = 2} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // Divisions are exact.
  // expected-error @below {{'dla.pool_tile' op divides by 4 << 60, which must be at most 2^61}}
  "dla.pool_tile"(%a, %b) {mode = "average", rows = 4, columns = 4, channels = 16, out_rows = 2, out_columns = 2, kernel_rows = 2, kernel_columns = 2, divisor = "inside", shift = 60} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // Sums are, too.
  // expected-error @below {{'dla.pool_tile' op pools windows of 4196352 values, must be at most 4194304}}
  "dla.pool_tile"(%a, %b) {mode = "max", rows = 4, columns = 4, channels = 16, out_rows = 2, out_columns = 2, kernel_rows = 2048, kernel_columns = 2049} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // Shifts are to the right.
  // expected-error @below {{'dla.pool_tile' op shift is -1, must be 0 to 62}}
  "dla.pool_tile"(%a, %b) {mode = "max", rows = 4, columns = 4, channels = 16, out_rows = 2, out_columns = 2, kernel_rows = 2, kernel_columns = 2, shift = -1} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // Windows lie over each other, so that a pool has no place.
  // expected-error @below {{'dla.pool_tile' op writes 'destination' over 'source', of which it is made}}
  "dla.pool_tile"(%a, %a) {mode = "max", rows = 4, columns = 4, channels = 16, out_rows = 2, out_columns = 2, kernel_rows = 2, kernel_columns = 2} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // There are four operators.
  // expected-error @below {{'dla.eltwise_tile' op operator is 'div', must be one of add, mul, max, min}}
  "dla.eltwise_tile"(%a, %b, %row) {operator = "div", rows = 4, columns = 4, channels = 16} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<1x1x4x32xi8, "sram">) -> ()

  // Both have a multiplier of 31 bits.
  // expected-error @below {{'dla.eltwise_tile' op multiplier is 2147483648, must be in [0, 2^31)}}
  "dla.eltwise_tile"(%a, %b, %row) {operator = "add", rows = 4, columns = 4, channels = 16, other_multiplier = 2147483648} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<1x1x4x32xi8, "sram">) -> ()

  // One row is that of all, but it has all columns.
  // expected-error @below {{'dla.eltwise_tile' op window of 'other' is 1 to 5 along axis 2 of memref<1x1x4x32xi8, sram>}}
  "dla.eltwise_tile"(%a, %b, %row) {operator = "add", rows = 4, columns = 4, channels = 16, other_at = array<i64: 0, 0, 1, 0>} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<1x1x4x32xi8, "sram">) -> ()

  // It is row 0.
  // expected-error @below {{'dla.eltwise_tile' op window of 'other' is 1 to 5 along axis 1}}
  "dla.eltwise_tile"(%a, %b, %row) {operator = "add", rows = 4, columns = 4, channels = 16, other_at = array<i64: 0, 1, 0, 0>} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<1x1x4x32xi8, "sram">) -> ()

  // Channels are not repeated.
  // expected-error @below {{'dla.eltwise_tile' op window of 'other' is 17 to 33 along axis 3}}
  "dla.eltwise_tile"(%a, %b, %row) {operator = "add", rows = 4, columns = 4, channels = 16, other_at = array<i64: 0, 0, 0, 17>} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<1x1x4x32xi8, "sram">) -> ()

  // The result may be where an operand was, not beside it.
  // expected-error @below {{'dla.eltwise_tile' op writes 'destination' over 'source', of which it is made}}
  "dla.eltwise_tile"(%a, %a, %row) {operator = "add", rows = 3, columns = 4, channels = 16, destination_at = array<i64: 0, 1, 0, 0>} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<1x1x4x32xi8, "sram">) -> ()

  // What is read for all columns is needed until the last one.
  // expected-error @below {{'dla.eltwise_tile' op writes 'destination' over 'other', of which it is made}}
  "dla.eltwise_tile"(%a, %b, %b) {operator = "add", rows = 2, columns = 2, channels = 16, other_at = array<i64: 0, 1, 1, 0>} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // A table is 256 bytes.
  // expected-error @below {{'dla.lookup_tile' op window of 'table' is 33 to 289 along axis 0 of memref<288xi8, weights>}}
  "dla.lookup_tile"(%a, %b, %t) {rows = 4, columns = 4, channels = 16, table_at = 33} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<288xi8, "weights">) -> ()

  // What pads is a byte.
  // expected-error @below {{'dla.lookup_tile' op zero point is 300, must be in -128:127}}
  "dla.lookup_tile"(%a, %b, %t) {rows = 4, columns = 4, channels = 16, destination_zero = 300} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">, memref<288xi8, "weights">) -> ()

  // Positions go on.
  // expected-error @below {{'dla.resize_tile' op step is (-1, 65536), must be at least 0}}
  "dla.resize_tile"(%a, %b) {rows = 4, columns = 4, channels = 16, out_rows = 2, out_columns = 2, step_rows = -1, step_columns = 65536} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // From numbers of 32 bits.
  // expected-error @below {{'dla.resize_tile' op start is (0, 2147483648), must have at most 32 bits}}
  "dla.resize_tile"(%a, %b) {rows = 4, columns = 4, channels = 16, out_rows = 2, out_columns = 2, step_rows = 65536, step_columns = 65536, start_columns = 2147483648} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // What pads is a byte, here, too.
  // expected-error @below {{'dla.resize_tile' op zero point is -300, must be in -128:127}}
  "dla.resize_tile"(%a, %b) {rows = 4, columns = 4, channels = 16, out_rows = 2, out_columns = 2, step_rows = 65536, step_columns = 65536, destination_zero = -300} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // There is a result.
  // expected-error @below {{'dla.resize_tile' op window of 'destination' is (0, 2, 16), must be at least 1}}
  "dla.resize_tile"(%a, %b) {rows = 4, columns = 4, channels = 16, out_rows = 0, out_columns = 2, step_rows = 65536, step_columns = 65536} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // Copies are scaled as all else is.
  // expected-error @below {{'dla.copy_tile' op multiplier is -1, must be in [0, 2^31)}}
  "dla.copy_tile"(%a, %b) {rows = 4, columns = 4, channels = 16, multiplier = -1} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()

  // They may be in place, not beside it.
  // expected-error @below {{'dla.copy_tile' op writes 'destination' over 'source', of which it is made}}
  "dla.copy_tile"(%a, %a) {rows = 2, columns = 2, channels = 16, destination_at = array<i64: 0, 1, 1, 0>} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "tiles", target = "vanilla", atom = 16} : () -> ()

// How wide a result is depends on the program.
func.func @no_program() {
  %a = "dla.alloc"() : () -> memref<1x4x4x32xi8, "sram">
  // expected-error @below {{'dla.copy_tile' op is in no program, must be in one, which has the size of an atom}}
  "dla.copy_tile"(%a, %a) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()
  return
}

// And an atom has channels.
// expected-error @below {{'dla.program' op atom is 0, must be at least 1}}
"dla.program"() ({
  %a = "dla.alloc"() : () -> memref<1x4x4x32xi8, "sram">
  // expected-error @below {{'dla.copy_tile' op is in a program whose atom is 0}}
  "dla.copy_tile"(%a, %a) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "no_atom", target = "vanilla", atom = 0} : () -> ()

// It is a number.
// expected-error @below {{'dla.program' op attribute 'atom' is "many", must be an i64 integer}}
"dla.program"() ({
  %a = "dla.alloc"() : () -> memref<1x4x4x32xi8, "sram">
  // expected-error @below {{'dla.copy_tile' op is in a program whose atom is "many"}}
  "dla.copy_tile"(%a, %a) {rows = 4, columns = 4, channels = 16} : (memref<1x4x4x32xi8, "sram">, memref<1x4x4x32xi8, "sram">) -> ()
  "dla.end"() : () -> ()
}) {sym_name = "no_number", target = "vanilla", atom = "many"} : () -> ()
