// RUN: trivium-opt %s --split-input-file --lower-to-tile | FileCheck %s

// A program takes points, whose weights it computes once, and channels; channels that are
// neighbours are taken by the dozen.
// CHECK-LABEL: func.func @samples_a_rectangle
// CHECK:         %[[POINT:.*]] = "tile.expand"({{.*}}) {axis = 1 : i64}
// CHECK:         %[[CHANNEL:.*]] = "tile.expand"({{.*}}) {axis = 0 : i64}
// CHECK:         "tile.load"({{.*}}, %[[POINT]], %{{.*}}) {{.*}} -> tensor<?x1xf32, ["BM", ""]>
// CHECK:         "tile.load"({{.*}}, %[[CHANNEL]], %{{.*}}, %{{.*}}) {{.*}} -> tensor<?x?xf32, ["BM", "BN"]>
// CHECK:         blocks = ["BM=32", "BN=32"]
func.func @samples_a_rectangle(%x: tensor<2x32x9x9xf32, [0, 2, 3, 1]>, %g: tensor<2x5x7x2xf32>) -> tensor<2x32x5x7xf32> {
  %y = "tri.group"(%x, %g) ({
  ^bb0(%xi: tensor<2x32x9x9xf32, [0, 2, 3, 1]>, %gi: tensor<2x5x7x2xf32>):
    %r = "tri.grid_sample"(%xi, %gi) {mode = "linear", padding_mode = "zeros", align_corners = false} : (tensor<2x32x9x9xf32, [0, 2, 3, 1]>, tensor<2x5x7x2xf32>) -> tensor<2x32x5x7xf32>
    "tri.yield"(%r) : (tensor<2x32x5x7xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x32x9x9xf32, [0, 2, 3, 1]>, tensor<2x5x7x2xf32>) -> tensor<2x32x5x7xf32>
  return %y : tensor<2x32x5x7xf32>
}

// -----

// Channels that are planes of their own: more points, and few channels.
// CHECK-LABEL: func.func @samples_planes
// CHECK:         blocks = ["BM=64", "BN=8"]
func.func @samples_planes(%x: tensor<2x32x9x9xf32>, %g: tensor<2x5x7x2xf32>) -> tensor<2x32x5x7xf32> {
  %y = "tri.group"(%x, %g) ({
  ^bb0(%xi: tensor<2x32x9x9xf32>, %gi: tensor<2x5x7x2xf32>):
    %r = "tri.grid_sample"(%xi, %gi) {mode = "linear", padding_mode = "zeros", align_corners = false} : (tensor<2x32x9x9xf32>, tensor<2x5x7x2xf32>) -> tensor<2x32x5x7xf32>
    "tri.yield"(%r) : (tensor<2x32x5x7xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x32x9x9xf32>, tensor<2x5x7x2xf32>) -> tensor<2x32x5x7xf32>
  return %y : tensor<2x32x5x7xf32>
}
