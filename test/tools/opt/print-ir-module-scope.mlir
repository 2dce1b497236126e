// RUN: trivium-opt %s -p 'func.func(canonicalize)' --mlir-print-ir-after-all --mlir-print-ir-module-scope 2>&1 | FileCheck %s

// Both functions are in one dump.
// CHECK:       IR Dump After canonicalize //
// CHECK-NEXT:  module {
// CHECK:         func.func @f
// CHECK:         func.func @g
// CHECK-NOT:   IR Dump
func.func @f() {
  return
}
func.func @g() {
  return
}
