// RUN: trivium-opt %s --split-input-file --lower-to-kernels=machine=x86-64-v3 | FileCheck %s

// Lanes are summed up by four vectors first, then the lanes of the sums.
// CHECK-LABEL: func.func @sums_rows
// CHECK:       func.func @kernel_0({{.*}}, %[[X:.*]]: memref<384xf32>, %[[Y:.*]]: memref<3xf32>)
// CHECK:         scf.for
// CHECK:           vector.load %[[X]]
// CHECK:           arith.addf %{{.*}} : vector<32xf32>
// CHECK:         %[[SUM:.*]] = vector.reduction <add>
// CHECK:         memref.store %{{.*}}, %[[Y]]
func.func @sums_rows(%x: tensor<3x128xf32>) -> tensor<3xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<3x128xf32>):
    %r = "tri.reduce_sum"(%xi) {axes = array<i64: 1>, keepdims = false} : (tensor<3x128xf32>) -> tensor<3xf32>
    "tri.yield"(%r) : (tensor<3xf32>) -> ()
  }) {target = "cpu"} : (tensor<3x128xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// Columns lie beside one another: each lane has a sum of its own.
// CHECK-LABEL: func.func @keeps_lanes_of_columns_apart
// CHECK:         vector.load
// CHECK-NOT:     vector.reduction
// CHECK:         vector.store
func.func @keeps_lanes_of_columns_apart(%x: tensor<3x128xf32>) -> tensor<128xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<3x128xf32>):
    %r = "tri.reduce_sum"(%xi) {axes = array<i64: 0>, keepdims = false} : (tensor<3x128xf32>) -> tensor<128xf32>
    "tri.yield"(%r) : (tensor<128xf32>) -> ()
  }) {target = "cpu"} : (tensor<3x128xf32>) -> tensor<128xf32>
  return %y : tensor<128xf32>
}
