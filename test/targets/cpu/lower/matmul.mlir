// RUN: trivium-opt %s --split-input-file --lower-to-kernels=machine=x86-64-v3 | FileCheck %s

// A register tile of 4 x 16 sums stays in eight vectors; the epilogue is applied before the store.
// CHECK-LABEL: func.func @multiplies_and_clamps
// CHECK:       func.func @kernel_0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<20xf32>, %[[W:.*]]: memref<80xf32>, %[[Y:.*]]: memref<64xf32>)
// CHECK:         %[[DEPTH:.*]] = arith.constant 5 : index
// CHECK:         %[[SUMS:.*]]:8 = scf.for %[[K:.*]] = %{{.*}} to %[[DEPTH]]
// CHECK:           %[[RIGHT:.*]] = vector.load %[[W]]
// CHECK:           %[[LEFT:.*]] = memref.load %[[X]][%[[K]]]
// CHECK:           %[[LANES:.*]] = vector.broadcast %[[LEFT]]
// CHECK:           llvm.intr.fmuladd(%[[LANES]], %[[RIGHT]], %{{.*}})
// CHECK:           scf.yield
// CHECK:         %[[NEGATIVE:.*]] = arith.cmpf olt, %[[SUMS]]#0
// CHECK:         %[[CLAMPED:.*]] = arith.select %[[NEGATIVE]]
// CHECK:         vector.store %[[CLAMPED]], %[[Y]]
// CHECK-NOT:     scf.for
func.func @multiplies_and_clamps(%x: tensor<4x5xf32>, %w: tensor<5x16xf32>) -> tensor<4x16xf32> {
  %y = "tri.group"(%x, %w) ({
  ^bb0(%xi: tensor<4x5xf32>, %wi: tensor<5x16xf32>):
    %p = "tri.mat_mul"(%xi, %wi) : (tensor<4x5xf32>, tensor<5x16xf32>) -> tensor<4x16xf32>
    %r = "tri.relu"(%p) : (tensor<4x16xf32>) -> tensor<4x16xf32>
    "tri.yield"(%r) : (tensor<4x16xf32>) -> ()
  }) {target = "cpu"} : (tensor<4x5xf32>, tensor<5x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

// Nothing follows the product: sums are stored as they are.
// CHECK-LABEL: func.func @keeps_sums_without_an_epilogue
// CHECK:         %[[SUMS:.*]]:8 = scf.for
// CHECK-NOT:     arith.select
// CHECK:         vector.store %[[SUMS]]#0
func.func @keeps_sums_without_an_epilogue(%x: tensor<4x5xf32>, %w: tensor<5x16xf32>) -> tensor<4x16xf32> {
  %y = "tri.group"(%x, %w) ({
  ^bb0(%xi: tensor<4x5xf32>, %wi: tensor<5x16xf32>):
    %p = "tri.mat_mul"(%xi, %wi) : (tensor<4x5xf32>, tensor<5x16xf32>) -> tensor<4x16xf32>
    "tri.yield"(%p) : (tensor<4x16xf32>) -> ()
  }) {target = "cpu"} : (tensor<4x5xf32>, tensor<5x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
