// RUN: trivium-opt %s --split-input-file '--choose-nvdla-winograd=target=nv_full error=1e-3' | FileCheck %s
// RUN: trivium-opt %s --split-input-file --choose-nvdla-winograd=target=nv_full | FileCheck %s --check-prefix=NONE
// RUN: trivium-opt %s --split-input-file '--choose-nvdla-winograd=target=nv_large error=1e-3' | FileCheck %s --check-prefix=NONE

// The error that is allowed unless said otherwise is too small, and nv_large has no Winograd.
// NONE-NOT: winograd = true

// Three pixels of pads are added to one at the bottom and right: 8 + 1 + 3 rows are whole tiles.
// The sum of a row of ones, halved, is 1.5, and that of rows and columns 2.25.
// CHECK-LABEL: func.func @transforms_3x3
// CHECK:         %[[W:.*]] = "tri.constant"() {value = dense<{{.*}}[1.000000e+00, 1.500000e+00, 5.000000e-01, 1.000000e+00], [1.500000e+00, 2.250000e+00, 7.500000e-01, 1.500000e+00]{{.*}}> : tensor<1x2x4x4xf16>}
// CHECK-NOT:     tri.constant
// CHECK:         "tri.group"(%{{.*}}, %[[W]])
// CHECK:         "nvdla.conv"(%{{.*}}, %{{.*}}) {{{.*}}pads = array<i64: 1, 1, 3, 3>{{.*}}winograd = true} : (tensor<1x2x8x12xf16>, tensor<1x2x4x4xf16>) -> tensor<1x1x8x12xf32>
func.func @transforms_3x3(%x: tensor<1x2x8x12xf16>) -> tensor<1x1x8x12xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<1x2x3x3xf16>} : () -> tensor<1x2x3x3xf16>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x2x8x12xf16>, %v: tensor<1x2x3x3xf16>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x8x12xf16>, tensor<1x2x3x3xf16>) -> tensor<1x1x8x12xf32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x1x8x12xf32>) -> tensor<1x1x8x12xf16>
    "tri.yield"(%r) : (tensor<1x1x8x12xf16>) -> ()
  }) {target = "nvdla"} : (tensor<1x2x8x12xf16>, tensor<1x2x3x3xf16>) -> tensor<1x1x8x12xf16>
  return %y : tensor<1x1x8x12xf16>
}

// -----

// CHECK-LABEL: func.func @keeps_strided
// CHECK-NOT:     winograd = true
func.func @keeps_strided(%x: tensor<1x16x16x24xf16>) -> tensor<1x16x8x12xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x16x3x3xf16>} : () -> tensor<16x16x3x3xf16>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x16x16x24xf16>, %v: tensor<16x16x3x3xf16>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x16x16x24xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x16x8x12xf32>) -> tensor<1x16x8x12xf16>
    "tri.yield"(%r) : (tensor<1x16x8x12xf16>) -> ()
  }) {target = "nvdla"} : (tensor<1x16x16x24xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf16>
  return %y : tensor<1x16x8x12xf16>
}

// -----

// CHECK-LABEL: func.func @keeps_dilated
// CHECK-NOT:     winograd = true
func.func @keeps_dilated(%x: tensor<1x16x8x12xf16>) -> tensor<1x16x8x12xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x16x3x3xf16>} : () -> tensor<16x16x3x3xf16>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x16x8x12xf16>, %v: tensor<16x16x3x3xf16>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>} : (tensor<1x16x8x12xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x16x8x12xf32>) -> tensor<1x16x8x12xf16>
    "tri.yield"(%r) : (tensor<1x16x8x12xf16>) -> ()
  }) {target = "nvdla"} : (tensor<1x16x8x12xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf16>
  return %y : tensor<1x16x8x12xf16>
}

// -----

// CHECK-LABEL: func.func @keeps_other_kernels
// CHECK-NOT:     winograd = true
func.func @keeps_other_kernels(%x: tensor<1x16x8x12xf16>) -> tensor<1x16x8x12xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x16x3x1xf16>} : () -> tensor<16x16x3x1xf16>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x16x8x12xf16>, %v: tensor<16x16x3x1xf16>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x16x8x12xf16>, tensor<16x16x3x1xf16>) -> tensor<1x16x8x12xf32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x16x8x12xf32>) -> tensor<1x16x8x12xf16>
    "tri.yield"(%r) : (tensor<1x16x8x12xf16>) -> ()
  }) {target = "nvdla"} : (tensor<1x16x8x12xf16>, tensor<16x16x3x1xf16>) -> tensor<1x16x8x12xf16>
  return %y : tensor<1x16x8x12xf16>
}

// -----

// CHECK-LABEL: func.func @keeps_results_of_other_sizes
// CHECK-NOT:     winograd = true
func.func @keeps_results_of_other_sizes(%x: tensor<1x16x8x10xf16>) -> tensor<1x16x8x10xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x16x3x3xf16>} : () -> tensor<16x16x3x3xf16>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x16x8x10xf16>, %v: tensor<16x16x3x3xf16>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x10xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x10xf32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x16x8x10xf32>) -> tensor<1x16x8x10xf16>
    "tri.yield"(%r) : (tensor<1x16x8x10xf16>) -> ()
  }) {target = "nvdla"} : (tensor<1x16x8x10xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x10xf16>
  return %y : tensor<1x16x8x10xf16>
}

// -----

// CHECK-LABEL: func.func @keeps_bytes
// CHECK-NOT:     winograd = true
func.func @keeps_bytes(%x: tensor<1x16x8x12xi8>) -> tensor<1x16x8x12xi8> {
  %w = "tri.constant"() {value = dense<1> : tensor<16x16x3x3xi8>} : () -> tensor<16x16x3x3xi8>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x16x8x12xi8>, %v: tensor<16x16x3x3xi8>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x12xi8>, tensor<16x16x3x3xi8>) -> tensor<1x16x8x12xi32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x16x8x12xi32>) -> tensor<1x16x8x12xi8>
    "tri.yield"(%r) : (tensor<1x16x8x12xi8>) -> ()
  }) {target = "nvdla"} : (tensor<1x16x8x12xi8>, tensor<16x16x3x3xi8>) -> tensor<1x16x8x12xi8>
  return %y : tensor<1x16x8x12xi8>
}

// -----

// CHECK-LABEL: func.func @keeps_what_a_pool_gets_on_the_fly
// CHECK-NOT:     winograd = true
func.func @keeps_what_a_pool_gets_on_the_fly(%x: tensor<1x16x8x12xf16>) -> tensor<1x16x4x6xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x16x3x3xf16>} : () -> tensor<16x16x3x3xf16>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x16x8x12xf16>, %v: tensor<16x16x3x3xf16>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x12xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x16x8x12xf32>) -> tensor<1x16x8x12xf16>
    %p = "nvdla.pdp"(%r) {mode = "max", kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x16x8x12xf16>) -> tensor<1x16x4x6xf16>
    "tri.yield"(%p) : (tensor<1x16x4x6xf16>) -> ()
  }) {target = "nvdla"} : (tensor<1x16x8x12xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x4x6xf16>
  return %y : tensor<1x16x4x6xf16>
}

// -----

// CHECK-LABEL: func.func @keeps_shared_weights
// CHECK-NOT:     winograd = true
func.func @keeps_shared_weights(%x: tensor<1x16x8x12xf16>) -> tensor<1x16x8x12xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x16x3x3xf16>} : () -> tensor<16x16x3x3xf16>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x16x8x12xf16>, %v: tensor<16x16x3x3xf16>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x12xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x16x8x12xf32>) -> tensor<1x16x8x12xf16>
    %t = "nvdla.conv"(%r, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x12xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf32>
    %q = "nvdla.sdp"(%t) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x16x8x12xf32>) -> tensor<1x16x8x12xf16>
    "tri.yield"(%q) : (tensor<1x16x8x12xf16>) -> ()
  }) {target = "nvdla"} : (tensor<1x16x8x12xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf16>
  return %y : tensor<1x16x8x12xf16>
}

// -----

// CHECK-LABEL: func.func @keeps_variable_weights
// CHECK-NOT:     winograd = true
func.func @keeps_variable_weights(%x: tensor<1x16x8x12xf16>, %w: tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf16> {
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x16x8x12xf16>, %v: tensor<16x16x3x3xf16>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x12xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x16x8x12xf32>) -> tensor<1x16x8x12xf16>
    "tri.yield"(%r) : (tensor<1x16x8x12xf16>) -> ()
  }) {target = "nvdla"} : (tensor<1x16x8x12xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf16>
  return %y : tensor<1x16x8x12xf16>
}

// -----

// 68 rows of 72 entries, in 16 banks of 256; the twin has 68 rows of 52.
// CHECK-LABEL: func.func @keeps_what_exceeds_the_buffer
// CHECK-NOT:     winograd = true
func.func @keeps_what_exceeds_the_buffer(%x: tensor<1x64x64x68xf16>) -> tensor<1x16x64x68xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x64x3x3xf16>} : () -> tensor<16x64x3x3xf16>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x64x64x68xf16>, %v: tensor<16x64x3x3xf16>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x64x68xf16>, tensor<16x64x3x3xf16>) -> tensor<1x16x64x68xf32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x16x64x68xf32>) -> tensor<1x16x64x68xf16>
    "tri.yield"(%r) : (tensor<1x16x64x68xf16>) -> ()
  }) {target = "nvdla"} : (tensor<1x64x64x68xf16>, tensor<16x64x3x3xf16>) -> tensor<1x16x64x68xf16>
  return %y : tensor<1x16x64x68xf16>
}

// -----

// CHECK-LABEL: func.func @transforms_what_fits
// CHECK:         winograd = true
func.func @transforms_what_fits(%x: tensor<1x64x64x48xf16>) -> tensor<1x16x64x48xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x64x3x3xf16>} : () -> tensor<16x64x3x3xf16>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x64x64x48xf16>, %v: tensor<16x64x3x3xf16>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x64x48xf16>, tensor<16x64x3x3xf16>) -> tensor<1x16x64x48xf32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x16x64x48xf32>) -> tensor<1x16x64x48xf16>
    "tri.yield"(%r) : (tensor<1x16x64x48xf16>) -> ()
  }) {target = "nvdla"} : (tensor<1x64x64x48xf16>, tensor<16x64x3x3xf16>) -> tensor<1x16x64x48xf16>
  return %y : tensor<1x16x64x48xf16>
}

// -----

// Weights of 4x4 take longer to read than all products of direct ones.
// CHECK-LABEL: func.func @keeps_what_weights_bound
// CHECK-NOT:     winograd = true
func.func @keeps_what_weights_bound(%x: tensor<1x512x4x4xf16>) -> tensor<1x64x4x4xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<64x512x3x3xf16>} : () -> tensor<64x512x3x3xf16>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x512x4x4xf16>, %v: tensor<64x512x3x3xf16>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x512x4x4xf16>, tensor<64x512x3x3xf16>) -> tensor<1x64x4x4xf32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf16>
    "tri.yield"(%r) : (tensor<1x64x4x4xf16>) -> ()
  }) {target = "nvdla"} : (tensor<1x512x4x4xf16>, tensor<64x512x3x3xf16>) -> tensor<1x64x4x4xf16>
  return %y : tensor<1x64x4x4xf16>
}

// -----

// The transforms of numbers near 2^-20 have four bits in f16.
// CHECK-LABEL: func.func @keeps_small_weights
// CHECK-NOT:     winograd = true
func.func @keeps_small_weights(%x: tensor<1x16x8x12xf16>) -> tensor<1x16x8x12xf16> {
  %w = "tri.constant"() {value = dense<1.1e-6> : tensor<16x16x3x3xf16>} : () -> tensor<16x16x3x3xf16>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x16x8x12xf16>, %v: tensor<16x16x3x3xf16>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x12xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x16x8x12xf32>) -> tensor<1x16x8x12xf16>
    "tri.yield"(%r) : (tensor<1x16x8x12xf16>) -> ()
  }) {target = "nvdla"} : (tensor<1x16x8x12xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf16>
  return %y : tensor<1x16x8x12xf16>
}

// -----

// The transforms of large numbers are infinite in f16.
// CHECK-LABEL: func.func @keeps_large_weights
// CHECK-NOT:     winograd = true
func.func @keeps_large_weights(%x: tensor<1x16x8x12xf16>) -> tensor<1x16x8x12xf16> {
  %w = "tri.constant"() {value = dense<6.0e4> : tensor<16x16x3x3xf16>} : () -> tensor<16x16x3x3xf16>
  %y = "tri.group"(%x, %w) ({
  ^bb0(%a: tensor<1x16x8x12xf16>, %v: tensor<16x16x3x3xf16>):
    %s = "nvdla.conv"(%a, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x8x12xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf32>
    %r = "nvdla.sdp"(%s) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>} : (tensor<1x16x8x12xf32>) -> tensor<1x16x8x12xf16>
    "tri.yield"(%r) : (tensor<1x16x8x12xf16>) -> ()
  }) {target = "nvdla"} : (tensor<1x16x8x12xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x8x12xf16>
  return %y : tensor<1x16x8x12xf16>
}
