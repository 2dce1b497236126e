// RUN: trivium-opt %s --lower-to-tile --split-input-file | FileCheck %s

// A short row is read whole: one sum, and no loop.
// CHECK-NOT: "tile.for"
// CHECK: "tile.reduce"(%{{.*}}) {axis = 1 : i64, kind = "sum"}
// CHECK: "tile.store"
// CHECK: blocks = ["ROWS=2", "COLUMNS=64"]
// CHECK-SAME: grid = ["300/ROWS"]
func.func @main(%p: tensor<300x50xf32>) -> tensor<300xf32> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<300x50xf32>):
    %y = "tri.reduce_sum"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<300x50xf32>) -> tensor<300xf32>
    "tri.yield"(%y) : (tensor<300xf32>) -> ()
  }) {target = "gpu"} : (tensor<300x50xf32>) -> tensor<300xf32>
  return %out : tensor<300xf32>
}

// -----

// A long one is walked in a loop that carries a sum for each lane; they are added up behind it.
// CHECK: "tile.for"
// CHECK:   "tile.load"
// CHECK:   "tile.binary"(%{{.*}}, %{{.*}}) {function = "add"} : (tensor<?x?xf32, ["ROWS", "COLUMNS"]>
// CHECK:   "tile.yield"
// CHECK: "tile.reduce"(%{{.*}}) {axis = 1 : i64, kind = "sum"}
// CHECK: grid = ["300/ROWS"]
func.func @main(%p: tensor<300x10000xf32>) -> tensor<300xf32> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<300x10000xf32>):
    %y = "tri.reduce_sum"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<300x10000xf32>) -> tensor<300xf32>
    "tri.yield"(%y) : (tensor<300xf32>) -> ()
  }) {target = "gpu"} : (tensor<300x10000xf32>) -> tensor<300xf32>
  return %out : tensor<300xf32>
}

// -----

// All dims of a large tensor are reduced in parts, one program for each, by a kernel of its own.
// CHECK: "tile.launch"(%arg0) {kernel = "[[PARTIAL:reduce_sum_partial_[0-9a-f]+]]"} : (tensor<1024x4096xf32>) -> tensor<[[PARTS:[0-9]+]]x1xf32>
// CHECK: "tile.launch"(%{{.*}}) {kernel = "[[LAST:reduce_sum_[0-9a-f]+]]"}
// CHECK-DAG: sym_name = "[[PARTIAL]]"
// CHECK-DAG: sym_name = "[[LAST]]"
func.func @main(%p: tensor<1024x4096xf32>) -> tensor<f32> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<1024x4096xf32>):
    %y = "tri.reduce_sum"(%x) {axes = array<i64: 0, 1>, keepdims = false} : (tensor<1024x4096xf32>) -> tensor<f32>
    "tri.yield"(%y) : (tensor<f32>) -> ()
  }) {target = "gpu"} : (tensor<1024x4096xf32>) -> tensor<f32>
  return %out : tensor<f32>
}

// -----

// Where kept elements are neighbours in memory, a program takes several of them.
// CHECK: "tile.view"(%arg0) {shape = array<i64: 300, 512>, strides = array<i64: 1, 300>}
// CHECK: blocks = ["ROWS=16", "COLUMNS=256"]
func.func @main(%p: tensor<512x300xf32>) -> tensor<300xf32> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<512x300xf32>):
    %y = "tri.reduce_mean"(%x) {axes = array<i64: 0>, keepdims = false} : (tensor<512x300xf32>) -> tensor<300xf32>
    "tri.yield"(%y) : (tensor<300xf32>) -> ()
  }) {target = "gpu"} : (tensor<512x300xf32>) -> tensor<300xf32>
  return %out : tensor<300xf32>
}

// -----

// Where they are not, it is the same op, and rows are walked along memory.
// CHECK: blocks = ["ROWS=4", "COLUMNS=512"]
func.func @main(%p: tensor<512x600xf32, [1, 0]>) -> tensor<600xf32> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<512x600xf32, [1, 0]>):
    %y = "tri.reduce_mean"(%x) {axes = array<i64: 0>, keepdims = false} : (tensor<512x600xf32, [1, 0]>) -> tensor<600xf32>
    "tri.yield"(%y) : (tensor<600xf32>) -> ()
  }) {target = "gpu"} : (tensor<512x600xf32, [1, 0]>) -> tensor<600xf32>
  return %out : tensor<600xf32>
}

// -----

// A maximum is NaN if an element is: `tile.reduce` skips NaN, so that they are looked for.
// CHECK: "tile.reduce"(%{{.*}}) {axis = 1 : i64, kind = "max"}
// CHECK: %[[NAN:.*]] = "tile.binary"(%[[X:.*]], %[[X]]) {function = "ne"}
// CHECK: "tile.where"
func.func @main(%p: tensor<300x50xf16>) -> tensor<300xf16> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<300x50xf16>):
    %y = "tri.reduce_max"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<300x50xf16>) -> tensor<300xf16>
    "tri.yield"(%y) : (tensor<300xf16>) -> ()
  }) {target = "gpu"} : (tensor<300x50xf16>) -> tensor<300xf16>
  return %out : tensor<300xf16>
}

// -----

// No integer is NaN. Bytes are padded with the least one, and combined in 32 bits.
// CHECK: "tile.load"{{.*}}pad = -1.280000e+02 : f64
// CHECK: "tile.reduce"(%{{.*}}) {axis = 1 : i64, kind = "max"} : (tensor<?x?xi32
// CHECK-NOT: "tile.where"
func.func @main(%p: tensor<300x50xi8>) -> tensor<300xi8> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<300x50xi8>):
    %y = "tri.reduce_max"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<300x50xi8>) -> tensor<300xi8>
    "tri.yield"(%y) : (tensor<300xi8>) -> ()
  }) {target = "gpu"} : (tensor<300x50xi8>) -> tensor<300xi8>
  return %out : tensor<300xi8>
}
