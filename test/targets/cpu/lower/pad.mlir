// RUN: trivium-opt %s --split-input-file --lower-to-kernels=machine=x86-64-v3 | FileCheck %s

// A pad behind a pool is an epilogue: the border is stored apart, the pool writes the inside.
// CHECK-LABEL: func.func @pads_what_a_pool_writes
// CHECK:       module @kernel_0
// CHECK:         func.func @kernel_0({{.*}}, %[[X:[a-z0-9]+]]: memref<64xf32>, %[[Y:[a-z0-9]+]]: memref<36xf32>
// CHECK:           %[[BORDER:.*]] = arith.constant dense<2.500000e+00>
// CHECK:           vector.maskedstore %[[Y]][{{.*}}], %{{.*}}, %[[BORDER]]
// CHECK:           %[[ROW:.*]] = vector.load %[[X]]
// CHECK:           %[[NEXT:.*]] = vector.load %[[X]]
// CHECK:           %[[MORE:.*]] = arith.cmpf ogt, %[[ROW]], %[[NEXT]]
// CHECK:           %[[MOST:.*]] = arith.select %[[MORE]], %[[ROW]], %[[NEXT]]
// CHECK:           %[[NAN:.*]] = arith.cmpf uno, %[[ROW]], %[[NEXT]]
// CHECK:           %[[BOTH:.*]] = arith.select %[[NAN]], %{{.*}}, %[[MOST]]
// CHECK:           vector.store %[[BOTH]]
// CHECK:           %[[LARGEST:.*]] = arith.maximumf
// CHECK:           vector.maskedstore %[[Y]][{{.*}}], %{{.*}}, %[[LARGEST]]
func.func @pads_what_a_pool_writes(%x: tensor<1x1x8x8xf32>) -> tensor<1x1x6x6xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<1x1x8x8xf32>):
    %p = "tri.max_pool"(%xi) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x8x8xf32>) -> tensor<1x1x4x4xf32>
    %r = "tri.pad"(%p) {pads = array<i64: 0, 0, 1, 1, 0, 0, 1, 1>, mode = "constant", value = 2.5 : f64} : (tensor<1x1x4x4xf32>) -> tensor<1x1x6x6xf32>
    "tri.yield"(%r) : (tensor<1x1x6x6xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x1x8x8xf32>) -> tensor<1x1x6x6xf32>
  return %y : tensor<1x1x6x6xf32>
}

// -----

// Without a pad, there is no border, and all of the result is written by the pool.
// CHECK-LABEL: func.func @keeps_a_pool_without_a_border
// CHECK:       module @kernel_0
// CHECK-NOT:     2.5
// CHECK:         load
// CHECK:         store
func.func @keeps_a_pool_without_a_border(%x: tensor<1x1x8x8xf32>) -> tensor<1x1x4x4xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<1x1x8x8xf32>):
    %p = "tri.max_pool"(%xi) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x8x8xf32>) -> tensor<1x1x4x4xf32>
    "tri.yield"(%p) : (tensor<1x1x4x4xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x1x8x8xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}
