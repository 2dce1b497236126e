// RUN: trivium-opt %s --split-input-file --lower-to-kernels=machine=x86-64-v3 | FileCheck %s

// Windows are copied to memory of the thread: 2 x 3 x 3 rows of 16 pixels; the sums run over them.
// CHECK-LABEL: func.func @convolves_and_clamps
// CHECK:       module @kernel_0 attributes {cpu.private = array<i64: 0>, cpu.scratch = [tensor<18x16xf32>]}
// CHECK:         func.func @kernel_0({{.*}}, %[[X:.*]]: memref<96xf32>, %[[W:.*]]: memref<72xf32>, %[[Y:.*]]: memref<96xf32>, %[[ROWS:.*]]: memref<288xf32>)
// CHECK:           %[[PIXELS:.*]] = vector.gather %[[X]]
// CHECK:           vector.store %[[PIXELS]], %[[ROWS]]
// CHECK:           %[[TAPS:.*]] = arith.constant 18 : index
// CHECK:           %[[SUMS:.*]]:8 = scf.for %[[TAP:.*]] = %{{.*}} to %[[TAPS]]
// CHECK:             %[[ROW:.*]] = vector.load %[[ROWS]]
// CHECK:             memref.load %[[W]][%[[TAP]]]
// CHECK:             llvm.intr.fmuladd(%{{.*}}, %[[ROW]], %{{.*}})
// CHECK:           %[[NEGATIVE:.*]] = arith.cmpf olt, %[[SUMS]]#0
// CHECK:           %[[CLAMPED:.*]] = arith.select %[[NEGATIVE]]
// CHECK:           vector.store %[[CLAMPED]], %[[Y]]
func.func @convolves_and_clamps(%x: tensor<1x2x6x8xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x4x6xf32> {
  %y = "tri.group"(%x, %w) ({
  ^bb0(%xi: tensor<1x2x6x8xf32>, %wi: tensor<4x2x3x3xf32>):
    %p = "tri.conv"(%xi, %wi) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x6x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x4x6xf32>
    %r = "tri.relu"(%p) : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32>
    "tri.yield"(%r) : (tensor<1x4x4x6xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x2x6x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x4x6xf32>
  return %y : tensor<1x4x4x6xf32>
}

// -----

// A kernel of one pixel reads the image in place: it is a product of matrices.
// CHECK-LABEL: func.func @keeps_windows_of_one_pixel_where_they_are
// CHECK:       module @kernel_0 attributes {cpu.private = array<i64>, cpu.scratch = []}
// CHECK-NOT:     vector.gather
// CHECK:         llvm.intr.fmuladd
func.func @keeps_windows_of_one_pixel_where_they_are(%x: tensor<1x2x4x8xf32>, %w: tensor<4x2x1x1xf32>) -> tensor<1x4x4x8xf32> {
  %y = "tri.group"(%x, %w) ({
  ^bb0(%xi: tensor<1x2x4x8xf32>, %wi: tensor<4x2x1x1xf32>):
    %p = "tri.conv"(%xi, %wi) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x8xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x4x8xf32>
    "tri.yield"(%p) : (tensor<1x4x4x8xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x2x4x8xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}
