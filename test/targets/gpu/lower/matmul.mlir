// RUN: trivium-opt %s --lower-to-tile --split-input-file | FileCheck %s

// A program multiplies a block of rows by one of columns, in steps along the depth.
// CHECK: "tile.for"
// CHECK:   %[[A:.*]] = "tile.load"
// CHECK:   %[[B:.*]] = "tile.load"
// CHECK:   "tile.dot"(%[[A]], %[[B]], %{{.*}}) {precision = "ieee"}
// CHECK:   "tile.yield"
// CHECK: "tile.store"
// CHECK: grid = ["512/BM", "256/BN"], group = 8
func.func @main(%p: tensor<512x128xf16>, %q: tensor<128x256xf16>) -> tensor<512x256xf16> {
  %out = "tri.group"(%p, %q) ({
  ^bb0(%x: tensor<512x128xf16>, %w: tensor<128x256xf16>):
    %y = "tri.mat_mul"(%x, %w) : (tensor<512x128xf16>, tensor<128x256xf16>) -> tensor<512x256xf16>
    "tri.yield"(%y) : (tensor<512x256xf16>) -> ()
  }) {target = "gpu"} : (tensor<512x128xf16>, tensor<128x256xf16>) -> tensor<512x256xf16>
  return %out : tensor<512x256xf16>
}

// -----

// Matrices that share a factor are one tall matrix; there is no axis for the batch.
// CHECK: "tile.view"(%arg0) {shape = array<i64: 1024, 128>
// CHECK: "tile.dot"
// CHECK: grid = ["1024/BM", "256/BN"]
func.func @main(%p: tensor<2x512x128xf16>, %q: tensor<128x256xf16>) -> tensor<2x512x256xf16> {
  %out = "tri.group"(%p, %q) ({
  ^bb0(%x: tensor<2x512x128xf16>, %w: tensor<128x256xf16>):
    %y = "tri.mat_mul"(%x, %w) : (tensor<2x512x128xf16>, tensor<128x256xf16>) -> tensor<2x512x256xf16>
    "tri.yield"(%y) : (tensor<2x512x256xf16>) -> ()
  }) {target = "gpu"} : (tensor<2x512x128xf16>, tensor<128x256xf16>) -> tensor<2x512x256xf16>
  return %out : tensor<2x512x256xf16>
}

// -----

// Each with its own factor, they are an axis of the grid.
// CHECK: "tile.dot"
// CHECK: grid = ["512/BM", "256/BN", "2"]
func.func @main(%p: tensor<2x512x128xf16>, %q: tensor<2x128x256xf16>) -> tensor<2x512x256xf16> {
  %out = "tri.group"(%p, %q) ({
  ^bb0(%x: tensor<2x512x128xf16>, %w: tensor<2x128x256xf16>):
    %y = "tri.mat_mul"(%x, %w) : (tensor<2x512x128xf16>, tensor<2x128x256xf16>) -> tensor<2x512x256xf16>
    "tri.yield"(%y) : (tensor<2x512x256xf16>) -> ()
  }) {target = "gpu"} : (tensor<2x512x128xf16>, tensor<2x128x256xf16>) -> tensor<2x512x256xf16>
  return %out : tensor<2x512x256xf16>
}

// -----

// One row is a vector: products are added up along the depth at the end.
// CHECK-NOT: "tile.dot"
// CHECK: "tile.for"
// CHECK: "tile.reduce"(%{{.*}}) {axis = 1 : i64, kind = "sum"}
// CHECK: "tile.store"
// CHECK: grid = ["4096/BN"]
func.func @main(%p: tensor<1x512xf16>, %q: tensor<4096x512xf16>, %r: tensor<4096xf16>) -> tensor<1x4096xf16> {
  %out = "tri.group"(%p, %q, %r) ({
  ^bb0(%x: tensor<1x512xf16>, %w: tensor<4096x512xf16>, %b: tensor<4096xf16>):
    %y = "tri.linear"(%x, %w, %b) : (tensor<1x512xf16>, tensor<4096x512xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
    "tri.yield"(%y) : (tensor<1x4096xf16>) -> ()
  }) {target = "gpu"} : (tensor<1x512xf16>, tensor<4096x512xf16>, tensor<4096xf16>) -> tensor<1x4096xf16>
  return %out : tensor<1x4096xf16>
}

// -----

// Few blocks of a large depth are split: a second kernel adds up the parts in order.
// CHECK: %[[P:.*]] = "tile.launch"(%arg0, %arg1)
// CHECK: "tile.launch"(%[[P]])
// CHECK-NOT: "tile.dot"
// CHECK: grid = ["1024/BLOCK"]
// CHECK: "tile.dot"
// CHECK: grid = ["32/BM", "32/BN", "16"]
func.func @main(%p: tensor<32x32768xf16>, %q: tensor<32768x32xf16>) -> tensor<32x32xf16> {
  %out = "tri.group"(%p, %q) ({
  ^bb0(%x: tensor<32x32768xf16>, %w: tensor<32768x32xf16>):
    %y = "tri.mat_mul"(%x, %w) : (tensor<32x32768xf16>, tensor<32768x32xf16>) -> tensor<32x32xf16>
    "tri.yield"(%y) : (tensor<32x32xf16>) -> ()
  }) {target = "gpu"} : (tensor<32x32768xf16>, tensor<32768x32xf16>) -> tensor<32x32xf16>
  return %out : tensor<32x32xf16>
}

// -----

// No matrix unit multiplies i32: a column times a row at a time.
// CHECK-NOT: "tile.dot"
// CHECK: "tile.for"
// CHECK: %[[P:.*]] = "tile.binary"(%{{.*}}, %{{.*}}) {function = "mul"} : (tensor<?x1xi32, ["BM", ""]>, tensor<1x?xi32, ["", "BN"]>)
// CHECK: "tile.binary"(%{{.*}}, %[[P]]) {function = "add"}
func.func @main(%p: tensor<512x128xi32>, %q: tensor<128x256xi32>) -> tensor<512x256xi32> {
  %out = "tri.group"(%p, %q) ({
  ^bb0(%x: tensor<512x128xi32>, %w: tensor<128x256xi32>):
    %y = "tri.mat_mul"(%x, %w) : (tensor<512x128xi32>, tensor<128x256xi32>) -> tensor<512x256xi32>
    "tri.yield"(%y) : (tensor<512x256xi32>) -> ()
  }) {target = "gpu"} : (tensor<512x128xi32>, tensor<128x256xi32>) -> tensor<512x256xi32>
  return %out : tensor<512x256xi32>
}

// -----

// Bytes, their scales and zero points are loaded; numbers are taken out of bytes in registers.
// CHECK: "tile.for"
// CHECK-DAG: "tile.load"{{.*}}ui8
// CHECK-DAG: function = "shift_right"
// CHECK-DAG: function = "and"
// CHECK:   "tile.dot"(%{{.*}}, %{{.*}}, %{{.*}}) {precision = "ieee"}
// CHECK: grid = ["512/BM", "256/BN"]
func.func @main(%p: tensor<512x128xf32>, %q: tensor<256x4x16xui8>, %r: tensor<256x4xf32>, %t: tensor<256x4xui8>) -> tensor<512x256xf32> {
  %out = "tri.group"(%p, %q, %r, %t) ({
  ^bb0(%x: tensor<512x128xf32>, %w: tensor<256x4x16xui8>, %s: tensor<256x4xf32>, %z: tensor<256x4xui8>):
    %y = "tri.block_quantized_mat_mul"(%x, %w, %s, %z) {bits = 4, block = 32} : (tensor<512x128xf32>, tensor<256x4x16xui8>, tensor<256x4xf32>, tensor<256x4xui8>) -> tensor<512x256xf32>
    "tri.yield"(%y) : (tensor<512x256xf32>) -> ()
  }) {target = "gpu"} : (tensor<512x128xf32>, tensor<256x4x16xui8>, tensor<256x4xf32>, tensor<256x4xui8>) -> tensor<512x256xf32>
  return %out : tensor<512x256xf32>
}
