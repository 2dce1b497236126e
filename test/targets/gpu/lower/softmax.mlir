// RUN: trivium-opt %s --lower-to-tile --split-input-file | FileCheck %s

// A row in registers is read once.
// CHECK: "tile.load"
// CHECK: kind = "max"
// CHECK: kind = "sum"
// CHECK-NOT: "tile.load"
// CHECK: "tile.store"
// CHECK: blocks = ["ROWS=1", "COLUMNS=4096"]
func.func @main(%p: tensor<512x4000xf16>) -> tensor<512x4000xf16> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<512x4000xf16>):
    %y = "tri.softmax"(%x) {axis = -1 : i64} : (tensor<512x4000xf16>) -> tensor<512x4000xf16>
    "tri.yield"(%y) : (tensor<512x4000xf16>) -> ()
  }) {target = "gpu"} : (tensor<512x4000xf16>) -> tensor<512x4000xf16>
  return %out : tensor<512x4000xf16>
}

// -----

// Few rows that are too long for that take two kernels: one finds the greatest element and the
// sum of each part, the other one merges them and reads its part again.
// CHECK: "tile.launch"(%arg0) {kernel = "softmax_partial_{{.*}} -> (tensor<8x3xf32>, tensor<8x3xf32>)
// CHECK: "tile.launch"(%arg0, %{{.*}}, %{{.*}}) {kernel = "softmax_
func.func @main(%p: tensor<3x32000xf32>) -> tensor<3x32000xf32> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<3x32000xf32>):
    %y = "tri.softmax"(%x) {axis = -1 : i64} : (tensor<3x32000xf32>) -> tensor<3x32000xf32>
    "tri.yield"(%y) : (tensor<3x32000xf32>) -> ()
  }) {target = "gpu"} : (tensor<3x32000xf32>) -> tensor<3x32000xf32>
  return %out : tensor<3x32000xf32>
}

// -----

// Many of them are read twice by one kernel, in two loops.
// CHECK-COUNT-1: "tile.launch"
// CHECK: "tile.for"
// CHECK: "tile.reduce"
// CHECK: "tile.for"
// CHECK:   "tile.store"
// CHECK: grid = ["3000/ROWS"]
func.func @main(%p: tensor<3000x32000xf32>) -> tensor<3000x32000xf32> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<3000x32000xf32>):
    %y = "tri.log_softmax"(%x) {axis = -1 : i64} : (tensor<3000x32000xf32>) -> tensor<3000x32000xf32>
    "tri.yield"(%y) : (tensor<3000x32000xf32>) -> ()
  }) {target = "gpu"} : (tensor<3000x32000xf32>) -> tensor<3000x32000xf32>
  return %out : tensor<3000x32000xf32>
}

// -----

// Elements of other rows are neighbours in memory: a program has several rows.
// CHECK: blocks = ["ROWS=128", "COLUMNS=32"]
// CHECK-SAME: grid = ["65536/ROWS"]
func.func @main(%p: tensor<1x21x256x256xf32>) -> tensor<1x21x256x256xf32> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<1x21x256x256xf32>):
    %y = "tri.softmax"(%x) {axis = 1 : i64} : (tensor<1x21x256x256xf32>) -> tensor<1x21x256x256xf32>
    "tri.yield"(%y) : (tensor<1x21x256x256xf32>) -> ()
  }) {target = "gpu"} : (tensor<1x21x256x256xf32>) -> tensor<1x21x256x256xf32>
  return %out : tensor<1x21x256x256xf32>
}
