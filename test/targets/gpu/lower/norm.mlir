// RUN: trivium-opt %s --lower-to-tile --split-input-file | FileCheck %s

// The mean, then the distances from it, all in registers.
// CHECK: %[[X:.*]] = "tile.cast"(%{{.*}}) {to = "f32"}
// CHECK: "tile.reduce"(%[[X]]) {axis = 1 : i64, kind = "sum"}
// CHECK: "tile.binary"(%[[X]], %{{.*}}) {function = "sub"}
// CHECK: "tile.reduce"(%{{.*}}) {axis = 1 : i64, kind = "sum"}
// CHECK: function = "sqrt"
// CHECK: "tile.store"
// CHECK: grid = ["256/ROWS"]
func.func @main(%p: tensor<256x768xf16>, %q: tensor<768xf16>, %r: tensor<768xf16>) -> tensor<256x768xf16> {
  %out = "tri.group"(%p, %q, %r) ({
  ^bb0(%x: tensor<256x768xf16>, %w: tensor<768xf16>, %v: tensor<768xf16>):
    %y = "tri.layer_norm"(%x, %w, %v) {axis = -1 : i64, epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<256x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<256x768xf16>
    "tri.yield"(%y) : (tensor<256x768xf16>) -> ()
  }) {target = "gpu"} : (tensor<256x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<256x768xf16>
  return %out : tensor<256x768xf16>
}

// -----

// A group of a large image takes three kernels; the last one walks channels as they lie.
// CHECK: kernel = "group_norm_statistics_partial_{{.*}} -> (tensor<10x64xf32>, tensor<10x64xf32>, tensor<10x64xf32>)
// CHECK: kernel = "group_norm_statistics_{{.*}} -> (tensor<2x32x10xf32>, tensor<2x32x10xf32>)
// CHECK: kernel = "group_norm_
// CHECK: blocks = ["ROWS=4", "COLUMNS=512"]{{.*}} grid = ["1", "8192/ROWS"]
func.func @main(%p: tensor<2x320x64x64xf16, [0, 2, 3, 1]>, %q: tensor<320xf16>, %r: tensor<320xf16>) -> tensor<2x320x64x64xf16, [0, 2, 3, 1]> {
  %out = "tri.group"(%p, %q, %r) ({
  ^bb0(%x: tensor<2x320x64x64xf16, [0, 2, 3, 1]>, %w: tensor<320xf16>, %v: tensor<320xf16>):
    %y = "tri.group_norm"(%x, %w, %v) {epsilon = 1.0e-05 : f64, groups = 32 : i64} : (tensor<2x320x64x64xf16, [0, 2, 3, 1]>, tensor<320xf16>, tensor<320xf16>) -> tensor<2x320x64x64xf16, [0, 2, 3, 1]>
    "tri.yield"(%y) : (tensor<2x320x64x64xf16, [0, 2, 3, 1]>) -> ()
  }) {target = "gpu"} : (tensor<2x320x64x64xf16, [0, 2, 3, 1]>, tensor<320xf16>, tensor<320xf16>) -> tensor<2x320x64x64xf16, [0, 2, 3, 1]>
  return %out : tensor<2x320x64x64xf16, [0, 2, 3, 1]>
}

// -----

// A small one takes one.
// CHECK-COUNT-1: "tile.launch"
// CHECK-NOT: "tile.launch"
// CHECK: grid = ["64/ROWS"]
func.func @main(%p: tensor<2x320x8x8xf16>, %q: tensor<320xf16>, %r: tensor<320xf16>) -> tensor<2x320x8x8xf16> {
  %out = "tri.group"(%p, %q, %r) ({
  ^bb0(%x: tensor<2x320x8x8xf16>, %w: tensor<320xf16>, %v: tensor<320xf16>):
    %y = "tri.group_norm"(%x, %w, %v) {epsilon = 1.0e-05 : f64, groups = 32 : i64} : (tensor<2x320x8x8xf16>, tensor<320xf16>, tensor<320xf16>) -> tensor<2x320x8x8xf16>
    "tri.yield"(%y) : (tensor<2x320x8x8xf16>) -> ()
  }) {target = "gpu"} : (tensor<2x320x8x8xf16>, tensor<320xf16>, tensor<320xf16>) -> tensor<2x320x8x8xf16>
  return %out : tensor<2x320x8x8xf16>
}
