// RUN: trivium-opt %s --lower-to-tile | FileCheck %s

// A first kernel counts what is found in each part; the programs of the second one add up the counts
// before their own. One program more than there are parts writes how much is found.
// CHECK-LABEL: func.func @finds
// CHECK:         %[[COUNTS:.*]] = "tile.launch"(%{{.*}}) {{.*}} -> tensor<1955xi32>
// CHECK:         "tile.launch"(%{{.*}}, %[[COUNTS]]) {{.*}} -> (tensor<2x2000000xi64>, tensor<i64>)
// CHECK:         "tile.kernel"
// CHECK:           "tile.for"
// CHECK:           "tile.scan"
// CHECK-COUNT-5:   "tile.store"
// CHECK:           grid = ["1955"]
// CHECK:         "tile.kernel"
// CHECK-NOT:       "tile.scan"
// CHECK:           "tile.reduce"
// CHECK:           grid = ["1955"]
func.func @finds(%x: tensor<2000x1000xf32>) -> (tensor<2x2000000xi64>, tensor<i64>) {
  %y:2 = "tri.group"(%x) ({
  ^bb0(%xi: tensor<2000x1000xf32>):
    %r:2 = "tri.padded_non_zero"(%xi) : (tensor<2000x1000xf32>) -> (tensor<2x2000000xi64>, tensor<i64>)
    "tri.yield"(%r#0, %r#1) : (tensor<2x2000000xi64>, tensor<i64>) -> ()
  }) {target = "gpu"} : (tensor<2000x1000xf32>) -> (tensor<2x2000000xi64>, tensor<i64>)
  return %y#0, %y#1 : tensor<2x2000000xi64>, tensor<i64>
}
