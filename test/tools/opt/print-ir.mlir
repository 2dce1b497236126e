// RUN: trivium-opt %s -p 'func.func(canonicalize),eliminate,eliminate' --mlir-print-ir-before=eliminate --mlir-print-ir-after-change 2>&1 | FileCheck %s

// Each dump says when it was made; passes of MLIR show functions, ours show the module.
// CHECK:       IR Dump After canonicalize ('func.func' operation: @f)
// CHECK-NEXT:  func.func @f
// CHECK:       IR Dump Before eliminate //
// CHECK-NEXT:  module {
// CHECK:         tri.reshape
// CHECK:       IR Dump After eliminate //
// CHECK-NEXT:  module {
// CHECK-NOT:     tri.reshape
// CHECK:       IR Dump Before eliminate //
// CHECK-NOT:   IR Dump After
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %unused = arith.constant 1 : i32
  %0 = "tri.reshape"(%x) {shape = array<i64: 4>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
