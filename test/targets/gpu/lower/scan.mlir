// RUN: trivium-opt %s --lower-to-tile --split-input-file | FileCheck %s

// Blocks of a row are accumulated one after the other, from what came before.
// CHECK: "tile.for"
// CHECK:   "tile.scan"(%{{.*}}) {axis = 1 : i64, kind = "sum", reverse = false}
// CHECK:   "tile.store"
// CHECK:   "tile.yield"
func.func @main(%p: tensor<8x10000xf32>) -> tensor<8x10000xf32> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<8x10000xf32>):
    %y = "tri.cum_sum"(%x) {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<8x10000xf32>) -> tensor<8x10000xf32>
    "tri.yield"(%y) : (tensor<8x10000xf32>) -> ()
  }) {target = "gpu"} : (tensor<8x10000xf32>) -> tensor<8x10000xf32>
  return %out : tensor<8x10000xf32>
}

// -----

// A row that is one block needs no loop; from the end, the scan runs backwards.
// CHECK-NOT: "tile.for"
// CHECK: "tile.scan"(%{{.*}}) {axis = 1 : i64, kind = "prod", reverse = true}
func.func @main(%p: tensor<8x1000xf32>) -> tensor<8x1000xf32> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<8x1000xf32>):
    %y = "tri.cum_prod"(%x) {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<8x1000xf32>) -> tensor<8x1000xf32>
    "tri.yield"(%y) : (tensor<8x1000xf32>) -> ()
  }) {target = "gpu"} : (tensor<8x1000xf32>) -> tensor<8x1000xf32>
  return %out : tensor<8x1000xf32>
}

// -----

// The place of a maximum is the least one of those that hold it.
// CHECK: "tile.reduce"(%{{.*}}) {axis = 1 : i64, kind = "max"}
// CHECK: function = "or"
// CHECK: %[[PLACES:.*]] = "tile.where"
// CHECK: "tile.reduce"(%[[PLACES]]) {axis = 1 : i64, kind = "min"}
func.func @main(%p: tensor<300x50xf32>) -> tensor<300xi64> {
  %out = "tri.group"(%p) ({
  ^bb0(%x: tensor<300x50xf32>):
    %y = "tri.arg_max"(%x) {axis = 1 : i64, keepdims = false, select_last_index = false} : (tensor<300x50xf32>) -> tensor<300xi64>
    "tri.yield"(%y) : (tensor<300xi64>) -> ()
  }) {target = "gpu"} : (tensor<300x50xf32>) -> tensor<300xi64>
  return %out : tensor<300xi64>
}

// -----

// The greatest few are looked for one after the other.
// CHECK: "tile.for"
// CHECK:   kind = "max"
// CHECK:   kind = "min"
// CHECK-COUNT-2: "tile.store"
func.func @main(%p: tensor<300x1000xf32>) -> (tensor<300x5xf32>, tensor<300x5xi64>) {
  %out:2 = "tri.group"(%p) ({
  ^bb0(%x: tensor<300x1000xf32>):
    %y:2 = "tri.top_k"(%x) {axis = -1 : i64, k = 5 : i64, largest = true, sorted = true} : (tensor<300x1000xf32>) -> (tensor<300x5xf32>, tensor<300x5xi64>)
    "tri.yield"(%y#0, %y#1) : (tensor<300x5xf32>, tensor<300x5xi64>) -> ()
  }) {target = "gpu"} : (tensor<300x1000xf32>) -> (tensor<300x5xf32>, tensor<300x5xi64>)
  return %out#0, %out#1 : tensor<300x5xf32>, tensor<300x5xi64>
}
