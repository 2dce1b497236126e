// RUN: trivium-opt %s --fuse-prologues | FileCheck %s

// A kernel that reads each element once computes what it reads.
// CHECK-LABEL: func.func @scales_where_it_sums
// CHECK-SAME:    (%[[X:.*]]: tensor<4x8xf32>, %[[S:.*]]: tensor<4x8xf32>)
// CHECK-NEXT:    "tri.group"(%[[X]], %[[S]]) ({
// CHECK:           %[[P:.*]] = "tri.mul"
// CHECK-NEXT:      "tri.transpose"(%[[P]])
// CHECK-NOT:     tri.group
func.func @scales_where_it_sums(%x: tensor<4x8xf32>, %s: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %a = "tri.group"(%x, %s) ({
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<4x8xf32>):
    %m = "tri.mul"(%p, %q) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    "tri.yield"(%m) : (tensor<4x8xf32>) -> ()
  }) {target = "gpu"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = "tri.group"(%a) ({
  ^bb0(%p: tensor<4x8xf32>):
    %t = "tri.transpose"(%p) {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
    "tri.yield"(%t) : (tensor<8x4xf32>) -> ()
  }) {target = "gpu"} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// The product is returned, too: it must be stored.
// CHECK-LABEL: func.func @keeps_what_others_read
// CHECK:         "tri.group"
// CHECK:         "tri.group"
func.func @keeps_what_others_read(%x: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
  %a = "tri.group"(%x) ({
  ^bb0(%p: tensor<4x8xf32>):
    %m = "tri.exp"(%p) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "tri.yield"(%m) : (tensor<4x8xf32>) -> ()
  }) {target = "gpu"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = "tri.group"(%a) ({
  ^bb0(%p: tensor<4x8xf32>):
    %t = "tri.transpose"(%p) {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
    "tri.yield"(%t) : (tensor<8x4xf32>) -> ()
  }) {target = "gpu"} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %y, %a : tensor<8x4xf32>, tensor<4x8xf32>
}

// Kernels of the host stay what they are.
// CHECK-LABEL: func.func @keeps_kernels_elsewhere
// CHECK:         "tri.group"
// CHECK:         target = "host"
// CHECK:         "tri.group"
func.func @keeps_kernels_elsewhere(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %a = "tri.group"(%x) ({
  ^bb0(%p: tensor<4x8xf32>):
    %m = "tri.exp"(%p) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "tri.yield"(%m) : (tensor<4x8xf32>) -> ()
  }) {target = "host"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = "tri.group"(%a) ({
  ^bb0(%p: tensor<4x8xf32>):
    %t = "tri.transpose"(%p) {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
    "tri.yield"(%t) : (tensor<8x4xf32>) -> ()
  }) {target = "gpu"} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
