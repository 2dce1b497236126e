// RUN: not trivium-opt %s -p 'eliminate,one-shot-bufferize' --mlir-print-ir-after-failure 2>&1 | FileCheck %s

// Only the pass that failed is shown; what it said follows.
// CHECK-NOT:   IR Dump After eliminate
// CHECK:       IR Dump After one-shot-bufferize Failed
// CHECK:         tri.relu
// CHECK:       print-ir-after-failure.mlir:[[# @LINE + 2]]:8: error: op was not bufferized
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tri.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
