// RUN: trivium-opt %s --split-input-file --lower-to-kernels=machine=x86-64-v3 | FileCheck %s

// Weights are made once for a region, and all channels are pooled by them: rows first, then columns.
// CHECK-LABEL: func.func @weighs_elements_once_for_all_channels
// CHECK:       func.func @kernel_0
// CHECK:         math.ceil
// CHECK:         math.floor
// CHECK:         scf.for
// CHECK:           llvm.intr.fmuladd{{.*}}vector<8xf32>
// CHECK:           vector.gather
// CHECK:           llvm.intr.fmuladd{{.*}}vector<4xf32>
// CHECK:           vector.maskedstore
func.func @weighs_elements_once_for_all_channels(%x: tensor<1x8x9x10xf32>, %r: tensor<5x4xf32>, %i: tensor<5xi64>) -> tensor<5x8x3x3xf32> {
  %y = "tri.group"(%x, %r, %i) ({
  ^bb0(%xi: tensor<1x8x9x10xf32>, %ri: tensor<5x4xf32>, %ii: tensor<5xi64>):
    %p = "tri.roi_align"(%xi, %ri, %ii) {sizes = array<i64: 3, 3>} : (tensor<1x8x9x10xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x8x3x3xf32>
    "tri.yield"(%p) : (tensor<5x8x3x3xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x8x9x10xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x8x3x3xf32>
  return %y : tensor<5x8x3x3xf32>
}

// -----

// Maxima need no weights.
// CHECK-LABEL: func.func @compares_elements
// CHECK:       func.func @kernel_0
// CHECK-NOT:     fmuladd
// CHECK:         arith.maximumf{{.*}}vector<8xf32>
// CHECK-NOT:     fmuladd
func.func @compares_elements(%x: tensor<1x8x9x10xf32>, %r: tensor<5x5xf32>) -> tensor<5x8x3x3xf32> {
  %y = "tri.group"(%x, %r) ({
  ^bb0(%xi: tensor<1x8x9x10xf32>, %ri: tensor<5x5xf32>):
    %p = "tri.max_roi_pool"(%xi, %ri) {sizes = array<i64: 3, 3>} : (tensor<1x8x9x10xf32>, tensor<5x5xf32>) -> tensor<5x8x3x3xf32>
    "tri.yield"(%p) : (tensor<5x8x3x3xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x8x9x10xf32>, tensor<5x5xf32>) -> tensor<5x8x3x3xf32>
  return %y : tensor<5x8x3x3xf32>
}
