// RUN: trivium-opt %s -p 'func.func(eliminate,fold-constants),canonicalize' --stop-after=eliminate | FileCheck %s

// The reshape goes, folding does not happen any more, nor does what comes after.
// CHECK-LABEL: func.func @f
// CHECK:         arith.constant
// CHECK-NOT:     tri.reshape
// CHECK:         tri.add
func.func @f() -> tensor<4xf32> {
  %unused = arith.constant 1 : i32
  %a = "tri.constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %b = "tri.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = "tri.reshape"(%b) {shape = array<i64: 4>} : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
