// RUN: trivium-opt %s --partition="targets=cpu" --verify-diagnostics

// What no target runs is refused in bodies, too.
func.func @main(%n: tensor<i64>, %x: tensor<5x3x3xf32>, %y: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %r = "tri.loop"(%n, %y, %x) ({
  ^bb0(%i: tensor<i64>, %v: tensor<5x3xf32>, %a: tensor<5x3x3xf32>):
    // expected-error @below {{'tri.couple_pairs' op runs on no target: cpu has no kernel for tri.couple_pairs}}
    %d = "tri.couple_pairs"(%a) : (tensor<5x3x3xf32>) -> tensor<5x3xf32>
    "tri.yield"(%d) : (tensor<5x3xf32>) -> ()
  }) {operandSegmentSizes = array<i32: 1, 0, 1, 0, 1>} : (tensor<i64>, tensor<5x3xf32>, tensor<5x3x3xf32>) -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}
