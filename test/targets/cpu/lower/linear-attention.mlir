// RUN: trivium-opt %s --split-input-file --lower-to-kernels=machine=x86-64-v3 | FileCheck %s

// Exponentials of the decay are made once, for all columns. A unit has 4 vectors of 8 columns, whose
// state is in private memory of [keys, columns].
// CHECK-LABEL: func.func @keeps_columns_of_the_state
// CHECK:       func.func @kernel_0
// CHECK:         llvm.call_intrinsic "llvm.ldexp
// CHECK:         vector.maskedstore %{{.*}} : memref<20xf32>
// CHECK-NOT:     ldexp
// CHECK:         vector.load %{{.*}} : memref<128xf32>, vector<8xf32>
// CHECK:         vector.store %{{.*}} : memref<128xf32>, vector<8xf32>
func.func @keeps_columns_of_the_state(%q: tensor<1x5x2x4xf32>, %v: tensor<1x5x2x32xf32>, %d: tensor<1x5x1x4xf32>) -> (tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>) {
  %y:2 = "tri.group"(%q, %v, %d) ({
  ^bb0(%qi: tensor<1x5x2x4xf32>, %vi: tensor<1x5x2x32xf32>, %di: tensor<1x5x1x4xf32>):
    %r:2 = "tri.linear_attention"(%qi, %qi, %vi, %di) {scale = 1.0, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>} : (tensor<1x5x2x4xf32>, tensor<1x5x2x4xf32>, tensor<1x5x2x32xf32>, tensor<1x5x1x4xf32>) -> (tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>)
    "tri.yield"(%r#0, %r#1) : (tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x5x2x4xf32>, tensor<1x5x2x32xf32>, tensor<1x5x1x4xf32>) -> (tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>)
  return %y#0, %y#1 : tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>
}

// -----

// Without a decay nothing is raised to a power.
// CHECK-LABEL: func.func @keeps_all_of_the_state
// CHECK:       func.func @kernel_0
// CHECK-NOT:     ldexp
// CHECK:         memref<128xf32>, vector<8xf32>
func.func @keeps_all_of_the_state(%q: tensor<1x5x2x4xf32>, %v: tensor<1x5x2x32xf32>) -> (tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>) {
  %y:2 = "tri.group"(%q, %v) ({
  ^bb0(%qi: tensor<1x5x2x4xf32>, %vi: tensor<1x5x2x32xf32>):
    %r:2 = "tri.linear_attention"(%qi, %qi, %vi) {scale = 1.0, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<1x5x2x4xf32>, tensor<1x5x2x4xf32>, tensor<1x5x2x32xf32>) -> (tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>)
    "tri.yield"(%r#0, %r#1) : (tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x5x2x4xf32>, tensor<1x5x2x32xf32>) -> (tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>)
  return %y#0, %y#1 : tensor<1x5x2x32xf32>, tensor<1x2x4x32xf32>
}
