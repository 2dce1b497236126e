// RUN: trivium-opt %s -p 'func.func(canonicalize),eliminate' --mlir-timing 2>&1 | FileCheck %s

// Passes of both kinds have a row of their own, in the order in which they ran.
// CHECK:       Execution time report
// CHECK:       ----Wall Time----   ----Name----
// CHECK-NEXT:  {{[0-9.]+}} ({{.*}}%)  func.func(canonicalize)
// CHECK-NEXT:  {{[0-9.]+}} ({{.*}}%)  eliminate
// CHECK-NEXT:  {{[0-9.]+}} ({{.*}}%)  Rest
// CHECK-NEXT:  {{[0-9.]+}} (100.0%)  Total
func.func @f() {
  return
}
