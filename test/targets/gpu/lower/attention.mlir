// RUN: trivium-opt %s --lower-to-tile --split-input-file | FileCheck %s

// One loop over the keys carries the greatest score, the sum of powers and the mixed values.
// Blocks of keys come out even: nothing is checked.
// CHECK: "tile.for"
// CHECK-NOT: function = "lt"
// CHECK:   "tile.dot"({{.*}}) {precision = "ieee"}
// CHECK:   function = "exp2"
// CHECK:   "tile.dot"
// CHECK:   "tile.yield"
// CHECK-NOT: "tile.for"
// CHECK: grid = ["2048/BM", "128"]
func.func @main(%p: tensor<8x16x2048x64xf16>, %q: tensor<8x16x2048x64xf16>, %r: tensor<8x16x2048x64xf16>) -> tensor<8x16x2048x64xf16> {
  %out = "tri.group"(%p, %q, %r) ({
  ^bb0(%x: tensor<8x16x2048x64xf16>, %w: tensor<8x16x2048x64xf16>, %v: tensor<8x16x2048x64xf16>):
    %y = "tri.attention"(%x, %w, %v) {causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 0>, scale = 1.25e-01 : f64} : (tensor<8x16x2048x64xf16>, tensor<8x16x2048x64xf16>, tensor<8x16x2048x64xf16>) -> tensor<8x16x2048x64xf16>
    "tri.yield"(%y) : (tensor<8x16x2048x64xf16>) -> ()
  }) {target = "gpu"} : (tensor<8x16x2048x64xf16>, tensor<8x16x2048x64xf16>, tensor<8x16x2048x64xf16>) -> tensor<8x16x2048x64xf16>
  return %out : tensor<8x16x2048x64xf16>
}

// -----

// Causal attention has two loops: over keys that all rows of a block see, and over the rest.
// CHECK: "tile.for"
// CHECK-NOT: function = "le"
// CHECK: "tile.for"
// CHECK:   function = "le"
// CHECK:   "tile.where"
// CHECK: grid = ["2048/BM", "128"]
func.func @main(%p: tensor<8x16x2048x64xf16>, %q: tensor<8x16x2048x64xf16>, %r: tensor<8x16x2048x64xf16>) -> tensor<8x16x2048x64xf16> {
  %out = "tri.group"(%p, %q, %r) ({
  ^bb0(%x: tensor<8x16x2048x64xf16>, %w: tensor<8x16x2048x64xf16>, %v: tensor<8x16x2048x64xf16>):
    %y = "tri.attention"(%x, %w, %v) {causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>, scale = 1.25e-01 : f64} : (tensor<8x16x2048x64xf16>, tensor<8x16x2048x64xf16>, tensor<8x16x2048x64xf16>) -> tensor<8x16x2048x64xf16>
    "tri.yield"(%y) : (tensor<8x16x2048x64xf16>) -> ()
  }) {target = "gpu"} : (tensor<8x16x2048x64xf16>, tensor<8x16x2048x64xf16>, tensor<8x16x2048x64xf16>) -> tensor<8x16x2048x64xf16>
  return %out : tensor<8x16x2048x64xf16>
}

// -----

// A mask of bools keeps scores where it is true.
// CHECK: "tile.load"{{.*}}xi1
// CHECK: "tile.where"
func.func @main(%p: tensor<2x4x128x64xf32>, %q: tensor<2x4x128x64xf32>, %r: tensor<2x4x128x64xf32>, %s: tensor<128x128xi1>) -> tensor<2x4x128x64xf32> {
  %out = "tri.group"(%p, %q, %r, %s) ({
  ^bb0(%x: tensor<2x4x128x64xf32>, %w: tensor<2x4x128x64xf32>, %v: tensor<2x4x128x64xf32>, %m: tensor<128x128xi1>):
    %y = "tri.attention"(%x, %w, %v, %m) {causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1>, scale = 1.25e-01 : f64} : (tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32>, tensor<128x128xi1>) -> tensor<2x4x128x64xf32>
    "tri.yield"(%y) : (tensor<2x4x128x64xf32>) -> ()
  }) {target = "gpu"} : (tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32>, tensor<128x128xi1>) -> tensor<2x4x128x64xf32>
  return %out : tensor<2x4x128x64xf32>
}

// -----

// One query for each of 32 heads, of which four share keys: these are rows of one program, and
// the keys are split in parts.
// CHECK: kernel = "attention_partial_{{.*}} -> (tensor<8x32x4xf32>, tensor<8x32x4xf32>, tensor<8x32x4x128xf32>)
// CHECK: kernel = "attention_
// CHECK: grid = ["4/BM", "32", "8"]
func.func @main(%p: tensor<4x32x1x128xbf16>, %q: tensor<4x8x4096x128xbf16>, %r: tensor<4x8x4096x128xbf16>) -> tensor<4x32x1x128xbf16> {
  %out = "tri.group"(%p, %q, %r) ({
  ^bb0(%x: tensor<4x32x1x128xbf16>, %w: tensor<4x8x4096x128xbf16>, %v: tensor<4x8x4096x128xbf16>):
    %y = "tri.attention"(%x, %w, %v) {causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 0>, scale = 1.25e-01 : f64} : (tensor<4x32x1x128xbf16>, tensor<4x8x4096x128xbf16>, tensor<4x8x4096x128xbf16>) -> tensor<4x32x1x128xbf16>
    "tri.yield"(%y) : (tensor<4x32x1x128xbf16>) -> ()
  }) {target = "gpu"} : (tensor<4x32x1x128xbf16>, tensor<4x8x4096x128xbf16>, tensor<4x8x4096x128xbf16>) -> tensor<4x32x1x128xbf16>
  return %out : tensor<4x32x1x128xbf16>
}
