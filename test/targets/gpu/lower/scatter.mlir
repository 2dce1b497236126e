// RUN: trivium-opt %s --split-input-file --lower-to-tile | FileCheck %s

// An element takes the updates that are its own, in their order; it reads no others.
// CHECK-LABEL: func.func @looks_for_its_updates
// CHECK:         %[[OLD:.*]] = "tile.load"
// CHECK:         "tile.for"({{.*}}, %[[OLD]])
// CHECK:           %[[HIT:.*]] = "tile.binary"({{.*}}) {function = "eq"}
// CHECK:           %[[CHOSEN:.*]] = "tile.where"(%[[HIT]], {{.*}}) : (tensor<?xi1, ["BLOCK"]>, tensor<i32>, tensor<i32>)
// CHECK:           %[[NEW:.*]] = "tile.load"(%{{.*}}, %[[CHOSEN]],
// CHECK:           %[[NOW:.*]] = "tile.where"(%[[HIT]], %[[NEW]],
// CHECK-NEXT:      "tile.yield"(%[[NOW]])
func.func @looks_for_its_updates(%x: tensor<64x32xf32>, %i: tensor<7x1xi64>, %u: tensor<7x32xf32>) -> tensor<64x32xf32> {
  %y = "tri.group"(%x, %i, %u) ({
  ^bb0(%xi: tensor<64x32xf32>, %ii: tensor<7x1xi64>, %ui: tensor<7x32xf32>):
    %r = "tri.scatter_nd"(%xi, %ii, %ui) {reduction = "none"} : (tensor<64x32xf32>, tensor<7x1xi64>, tensor<7x32xf32>) -> tensor<64x32xf32>
    "tri.yield"(%r) : (tensor<64x32xf32>) -> ()
  }) {target = "gpu"} : (tensor<64x32xf32>, tensor<7x1xi64>, tensor<7x32xf32>) -> tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}
