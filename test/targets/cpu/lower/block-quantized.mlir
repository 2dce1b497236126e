// RUN: trivium-opt %s --split-input-file --lower-to-kernels=machine=x86-64-v3 | FileCheck %s
// RUN: trivium-opt %s --split-input-file --lower-to-kernels=machine=x86-64-v4 | FileCheck %s --check-prefix=WIDE

// The sum of a block starts at minus the zero point times the sum of the row; four bytes are taken
// out of a word by a mask, then the next four; pairs of products fit in 16 bits. The block is scaled
// once.
// CHECK-LABEL: func.func @four_bits
// CHECK:         func.func @kernel_0
// CHECK:           scf.for
// CHECK:             arith.muli {{.*}} : vector<8xi32>
// CHECK:             arith.subi {{.*}} : vector<8xi32>
// CHECK:             %[[W:.*]] = vector.bitcast {{.*}} : vector<32xi8> to vector<8xi32>
// CHECK:             arith.andi %{{.*}}, %{{.*}} : vector<8xi32>
// CHECK:             llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK:             llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK:             arith.shrui %{{.*}}, %{{.*}} : vector<8xi32>
// CHECK:             arith.sitofp {{.*}} : vector<8xi32> to vector<8xf32>
// CHECK:             llvm.intr.fmuladd
// CHECK-NOT:       memref.prefetch
// WIDE-LABEL:  func.func @four_bits
// WIDE:            llvm.call_intrinsic "llvm.x86.avx512.pmaddubs.w.512"
// WIDE:            llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
func.func @four_bits(%p: tensor<2x1x32xi8>, %q: tensor<2x1xf32>, %r: tensor<2x1xi32>, %v: tensor<1x2x640xui8>) -> tensor<1x32xf32> {
  %y = "tri.group"(%p, %q, %r, %v) ({
  ^bb0(%a: tensor<2x1x32xi8>, %s: tensor<2x1xf32>, %t: tensor<2x1xi32>, %w: tensor<1x2x640xui8>):
    %m = "cpu.dot_block_mat_mul"(%a, %s, %t, %w) {bits = 4, block = 32, columns = 32} : (tensor<2x1x32xi8>, tensor<2x1xf32>, tensor<2x1xi32>, tensor<1x2x640xui8>) -> tensor<1x32xf32>
    "tri.yield"(%m) : (tensor<1x32xf32>) -> ()
  }) {target = "cpu"} : (tensor<2x1x32xi8>, tensor<2x1xf32>, tensor<2x1xi32>, tensor<1x2x640xui8>) -> tensor<1x32xf32>
  return %y : tensor<1x32xf32>
}

// -----

// Bytes of 8 bits are not masked; pairs of their products would saturate, so they are widened first.
// CHECK-LABEL: func.func @eight_bits
// CHECK-NOT:     pmadd.ub.sw
// CHECK:         llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK-NOT:     pmadd.ub.sw
// WIDE-LABEL:  func.func @eight_bits
// WIDE-NOT:      pmaddubs
func.func @eight_bits(%p: tensor<2x1x32xi8>, %q: tensor<2x1xf32>, %r: tensor<2x1xi32>, %v: tensor<1x2x1152xui8>) -> tensor<1x32xf32> {
  %y = "tri.group"(%p, %q, %r, %v) ({
  ^bb0(%a: tensor<2x1x32xi8>, %s: tensor<2x1xf32>, %t: tensor<2x1xi32>, %w: tensor<1x2x1152xui8>):
    %m = "cpu.dot_block_mat_mul"(%a, %s, %t, %w) {bits = 8, block = 32, columns = 32} : (tensor<2x1x32xi8>, tensor<2x1xf32>, tensor<2x1xi32>, tensor<1x2x1152xui8>) -> tensor<1x32xf32>
    "tri.yield"(%m) : (tensor<1x32xf32>) -> ()
  }) {target = "cpu"} : (tensor<2x1x32xi8>, tensor<2x1xf32>, tensor<2x1xi32>, tensor<1x2x1152xui8>) -> tensor<1x32xf32>
  return %y : tensor<1x32xf32>
}

// -----

// Activations that are not rounded are multiplied by floats: sixteen of them, less the zero point,
// are in a register of 512 bits. Shorter ones hold too few.
// CHECK-LABEL: func.func @floats
// CHECK-NOT:     permvar
// CHECK:         arith.sitofp
// WIDE-LABEL:  func.func @floats
// WIDE:          arith.constant dense<[-8.0{{.*}}, -7.0{{.*}}, 7.0{{.*}}]> : vector<16xf32>
// WIDE:          llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// WIDE-NOT:      arith.sitofp
func.func @floats(%p: tensor<1x64xf32>, %v: tensor<1x2x640xui8>) -> tensor<1x32xf32> {
  %y = "tri.group"(%p, %v) ({
  ^bb0(%a: tensor<1x64xf32>, %w: tensor<1x2x640xui8>):
    %m = "cpu.packed_block_mat_mul"(%a, %w) {bits = 4, block = 32, columns = 32} : (tensor<1x64xf32>, tensor<1x2x640xui8>) -> tensor<1x32xf32>
    "tri.yield"(%m) : (tensor<1x32xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x64xf32>, tensor<1x2x640xui8>) -> tensor<1x32xf32>
  return %y : tensor<1x32xf32>
}

// -----

// Bytes of 8 bits are too many for a table.
// WIDE-LABEL:  func.func @bytes
// WIDE-NOT:      permvar
func.func @bytes(%p: tensor<1x64xf32>, %v: tensor<1x2x1152xui8>) -> tensor<1x32xf32> {
  %y = "tri.group"(%p, %v) ({
  ^bb0(%a: tensor<1x64xf32>, %w: tensor<1x2x1152xui8>):
    %m = "cpu.packed_block_mat_mul"(%a, %w) {bits = 8, block = 32, columns = 32} : (tensor<1x64xf32>, tensor<1x2x1152xui8>) -> tensor<1x32xf32>
    "tri.yield"(%m) : (tensor<1x32xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x64xf32>, tensor<1x2x1152xui8>) -> tensor<1x32xf32>
  return %y : tensor<1x32xf32>
}

// -----

// Blocks of a row are rounded by its largest magnitude.
// CHECK-LABEL: func.func @rounds
// CHECK:         math.absf
// CHECK:         vector.reduction <maximumf>
// CHECK:         arith.divf
// CHECK:         math.roundeven
// CHECK:         vector.reduction <add>
// CHECK:         arith.trunci {{.*}} : vector<8xi32> to vector<8xi8>
func.func @rounds(%p: tensor<3x64xf32>) -> (tensor<2x3x32xi8>, tensor<2x3xf32>, tensor<2x3xi32>) {
  %y:3 = "tri.group"(%p) ({
  ^bb0(%x: tensor<3x64xf32>):
    %n, %s, %t = "cpu.quantize_blocks"(%x) {block = 32} : (tensor<3x64xf32>) -> (tensor<2x3x32xi8>, tensor<2x3xf32>, tensor<2x3xi32>)
    "tri.yield"(%n, %s, %t) : (tensor<2x3x32xi8>, tensor<2x3xf32>, tensor<2x3xi32>) -> ()
  }) {target = "cpu"} : (tensor<3x64xf32>) -> (tensor<2x3x32xi8>, tensor<2x3xf32>, tensor<2x3xi32>)
  return %y#0, %y#1, %y#2 : tensor<2x3x32xi8>, tensor<2x3xf32>, tensor<2x3xi32>
}
