// RUN: trivium-opt %s --lower-to-tile=precision=tf32 | FileCheck %s

// Factors of f32 are rounded to what matrix units multiply, where the user allows it.
// CHECK: "tile.dot"({{.*}}) {precision = "tf32"} : (tensor<?x?xf32
// CHECK: sym_name = "mat_mul
func.func @main(%p: tensor<64x64xf32>, %q: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %out = "tri.group"(%p, %q) ({
  ^bb0(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>):
    %y = "tri.mat_mul"(%x, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "tri.yield"(%y) : (tensor<64x64xf32>) -> ()
  }) {target = "gpu"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %out : tensor<64x64xf32>
}
