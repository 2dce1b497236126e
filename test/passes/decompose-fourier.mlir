// RUN: trivium-opt %s --split-input-file --decompose=ops=dft | FileCheck %s

// Short signals, less their mean, are multiplied by one matrix: of real parts where no others are.
// CHECK-LABEL: func.func @multiplies_short_signals
// CHECK:         %[[MEAN:.*]] = "tri.reduce_mean"(%[[ALL:.*]]) {axes = array<i64: 2>
// CHECK:         %[[REST:.*]] = "tri.sub"(%[[ALL]], %[[MEAN]])
// CHECK:         %[[X:.*]] = "tri.reshape"(%[[REST]]) {shape = array<i64: 3, 8>}
// CHECK:         %[[Y:.*]] = "tri.mat_mul"(%[[X]], %{{.*}}) : (tensor<3x8xf32>, tensor<8x10xf32>) -> tensor<3x10xf32>
// CHECK:         %[[SUM:.*]] = "tri.add"(%[[Y]], %{{.*}})
// CHECK:         "tri.reshape"(%[[SUM]]) {shape = array<i64: 3, 5, 2>}
// CHECK-NOT:     "tri.mat_mul"
func.func @multiplies_short_signals(%x: tensor<3x8x1xf32>) -> tensor<3x5x2xf32> {
  %y = "tri.dft"(%x) {axis = 1 : i64, length = 8 : i64, onesided = true} : (tensor<3x8x1xf32>) -> tensor<3x5x2xf32>
  return %y : tensor<3x5x2xf32>
}

// -----

// Columns of tables of 32 x 32 are transformed twice, for both parts of the twiddle factors; then rows.
// CHECK-LABEL: func.func @splits_long_signals
// CHECK:         "tri.reduce_mean"
// CHECK:         %[[X:.*]] = "tri.reshape"(%{{.*}}) {shape = array<i64: 3, 32, 32>}
// CHECK:         "tri.mat_mul"(%{{.*}}, %[[X]]) : (tensor<64x32xf32>, tensor<3x32x32xf32>) -> tensor<3x64x32xf32>
// CHECK:         "tri.mat_mul"(%{{.*}}, %[[X]])
// CHECK:         "tri.mat_mul"(%{{.*}}) : (tensor<96x64xf32>, tensor<64x64xf32>) -> tensor<96x64xf32>
// CHECK-NOT:     "tri.mat_mul"
func.func @splits_long_signals(%x: tensor<3x1024x1xf32>) -> tensor<3x1024x2xf32> {
  %y = "tri.dft"(%x) {axis = 1 : i64, length = 1024 : i64} : (tensor<3x1024x1xf32>) -> tensor<3x1024x2xf32>
  return %y : tensor<3x1024x2xf32>
}

// -----

// A long prime length becomes a convolution, of a length that has factors.
// CHECK-LABEL: func.func @convolves_at_prime_lengths
// CHECK:         "tri.pad"
// CHECK:         "tri.mat_mul"
// CHECK:         shape = array<i64: 1, 2048, 2>
// CHECK:         "tri.mat_mul"
func.func @convolves_at_prime_lengths(%x: tensor<1x769x1xf32>) -> tensor<1x769x2xf32> {
  %y = "tri.dft"(%x) {axis = 1 : i64, length = 769 : i64} : (tensor<1x769x1xf32>) -> tensor<1x769x2xf32>
  return %y : tensor<1x769x2xf32>
}

// -----

// Matrices are made when the model is compiled: a length that a run decides has none.
// CHECK-LABEL: func.func @keeps_lengths_of_a_run
// CHECK-NEXT:    "tri.dft"
func.func @keeps_lengths_of_a_run(%x: tensor<3x?x1xf32, ["", "T", ""]>) -> tensor<3x8x2xf32> attributes {trivium.symbols = {T = "1.."}} {
  %y = "tri.dft"(%x) {axis = 1 : i64, length = 8 : i64} : (tensor<3x?x1xf32, ["", "T", ""]>) -> tensor<3x8x2xf32>
  return %y : tensor<3x8x2xf32>
}
