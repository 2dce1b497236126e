// RUN: trivium-opt %s --lower-to-tile --split-input-file | FileCheck %s

// Windows are gathered by taps: one loop over these and blocks of channels.
// CHECK: "tile.for"
// CHECK-DAG: {function = "quotient"} : (tensor<i32>, tensor<i32>)
// CHECK-DAG: {function = "remainder"} : (tensor<i32>, tensor<i32>)
// CHECK: %[[A:.*]] = "tile.load"
// CHECK: %[[B:.*]] = "tile.load"
// CHECK: "tile.dot"(%[[A]], %[[B]]
// CHECK: "tile.yield"
// CHECK: grid = ["256/BM", "64/BN"]
func.func @main(%p: tensor<1x32x16x16xf16>, %q: tensor<64x32x3x3xf16>, %r: tensor<64xf16>) -> tensor<1x64x16x16xf16> {
  %out = "tri.group"(%p, %q, %r) ({
  ^bb0(%x: tensor<1x32x16x16xf16>, %w: tensor<64x32x3x3xf16>, %b: tensor<64xf16>):
    %y = "tri.conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x32x16x16xf16>, tensor<64x32x3x3xf16>, tensor<64xf16>) -> tensor<1x64x16x16xf16>
    "tri.yield"(%y) : (tensor<1x64x16x16xf16>) -> ()
  }) {target = "gpu"} : (tensor<1x32x16x16xf16>, tensor<64x32x3x3xf16>, tensor<64xf16>) -> tensor<1x64x16x16xf16>
  return %out : tensor<1x64x16x16xf16>
}

// -----

// Of few channels a block has several taps.
// CHECK: "tile.for"
// CHECK: {function = "quotient"} : (tensor<?xi32, ["BK"]>, tensor<i32>)
// CHECK: "tile.dot"
func.func @main(%p: tensor<1x3x16x16xf16>, %q: tensor<64x3x3x3xf16>, %r: tensor<64xf16>) -> tensor<1x64x16x16xf16> {
  %out = "tri.group"(%p, %q, %r) ({
  ^bb0(%x: tensor<1x3x16x16xf16>, %w: tensor<64x3x3x3xf16>, %b: tensor<64xf16>):
    %y = "tri.conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x3x16x16xf16>, tensor<64x3x3x3xf16>, tensor<64xf16>) -> tensor<1x64x16x16xf16>
    "tri.yield"(%y) : (tensor<1x64x16x16xf16>) -> ()
  }) {target = "gpu"} : (tensor<1x3x16x16xf16>, tensor<64x3x3x3xf16>, tensor<64xf16>) -> tensor<1x64x16x16xf16>
  return %out : tensor<1x64x16x16xf16>
}

// -----

// Windows of one pixel are a matrix as it lies: nothing is taken apart.
// CHECK-NOT: "quotient"
// CHECK: "tile.for"
// CHECK: "tile.view"(%arg0) {shape = array<i64: 32, 256>
// CHECK: "tile.dot"
// CHECK-NOT: "quotient"
// CHECK: grid = ["256/BM", "64/BN"]
func.func @main(%p: tensor<1x32x16x16xf16>, %q: tensor<64x32x1x1xf16>, %r: tensor<64xf16>) -> tensor<1x64x16x16xf16> {
  %out = "tri.group"(%p, %q, %r) ({
  ^bb0(%x: tensor<1x32x16x16xf16>, %w: tensor<64x32x1x1xf16>, %b: tensor<64xf16>):
    %y = "tri.conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x32x16x16xf16>, tensor<64x32x1x1xf16>, tensor<64xf16>) -> tensor<1x64x16x16xf16>
    "tri.yield"(%y) : (tensor<1x64x16x16xf16>) -> ()
  }) {target = "gpu"} : (tensor<1x32x16x16xf16>, tensor<64x32x1x1xf16>, tensor<64xf16>) -> tensor<1x64x16x16xf16>
  return %out : tensor<1x64x16x16xf16>
}

// -----

// Channels of their own are multiplied tap by tap, here all nine.
// CHECK-NOT: "tile.dot"
// CHECK-NOT: "tile.for"
// CHECK-COUNT-9: {function = "mul"} : (tensor<?x?xf32, ["BM", "BN"]>, tensor<1x?xf32, ["", "BN"]>)
// CHECK: "tile.store"
// CHECK: grid = ["256/BM", "32/BN"]
func.func @main(%p: tensor<1x32x16x16xf16>, %q: tensor<32x1x3x3xf16>, %r: tensor<32xf16>) -> tensor<1x32x16x16xf16> {
  %out = "tri.group"(%p, %q, %r) ({
  ^bb0(%x: tensor<1x32x16x16xf16>, %w: tensor<32x1x3x3xf16>, %b: tensor<32xf16>):
    %y = "tri.conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 32 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x32x16x16xf16>, tensor<32x1x3x3xf16>, tensor<32xf16>) -> tensor<1x32x16x16xf16>
    "tri.yield"(%y) : (tensor<1x32x16x16xf16>) -> ()
  }) {target = "gpu"} : (tensor<1x32x16x16xf16>, tensor<32x1x3x3xf16>, tensor<32xf16>) -> tensor<1x32x16x16xf16>
  return %out : tensor<1x32x16x16xf16>
}

// -----

// Groups of many channels are an axis of the grid.
// CHECK: "tile.dot"
// CHECK: grid = ["256/BM", "32/BN", "2"]
func.func @main(%p: tensor<1x64x16x16xf16>, %q: tensor<64x32x3x3xf16>, %r: tensor<64xf16>) -> tensor<1x64x16x16xf16> {
  %out = "tri.group"(%p, %q, %r) ({
  ^bb0(%x: tensor<1x64x16x16xf16>, %w: tensor<64x32x3x3xf16>, %b: tensor<64xf16>):
    %y = "tri.conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x64x16x16xf16>, tensor<64x32x3x3xf16>, tensor<64xf16>) -> tensor<1x64x16x16xf16>
    "tri.yield"(%y) : (tensor<1x64x16x16xf16>) -> ()
  }) {target = "gpu"} : (tensor<1x64x16x16xf16>, tensor<64x32x3x3xf16>, tensor<64xf16>) -> tensor<1x64x16x16xf16>
  return %out : tensor<1x64x16x16xf16>
}

// -----

// Each output gathers the inputs that spread to it: where steps of 2 do not lead, there is none.
// CHECK: "tile.for"
// CHECK: "tile.binary"(%{{.*}}, %{{.*}}) {function = "eq"}
// CHECK: "tile.where"
// CHECK: "tile.dot"
func.func @main(%p: tensor<1x32x8x8xf16>, %q: tensor<32x64x2x2xf16>, %r: tensor<64xf16>) -> tensor<1x64x16x16xf16> {
  %out = "tri.group"(%p, %q, %r) ({
  ^bb0(%x: tensor<1x32x8x8xf16>, %w: tensor<32x64x2x2xf16>, %b: tensor<64xf16>):
    %y = "tri.conv_transpose"(%x, %w, %b) {dilations = array<i64: 1, 1>, group = 1 : i64, output_padding = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x32x8x8xf16>, tensor<32x64x2x2xf16>, tensor<64xf16>) -> tensor<1x64x16x16xf16>
    "tri.yield"(%y) : (tensor<1x64x16x16xf16>) -> ()
  }) {target = "gpu"} : (tensor<1x32x8x8xf16>, tensor<32x64x2x2xf16>, tensor<64xf16>) -> tensor<1x64x16x16xf16>
  return %out : tensor<1x64x16x16xf16>
}
