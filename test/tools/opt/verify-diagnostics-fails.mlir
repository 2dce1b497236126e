// RUN: not trivium-opt %s --split-input-file --verify-diagnostics 2>&1 | FileCheck %s

// A message that nothing expects.
// CHECK: verify-diagnostics-fails.mlir:[[# @LINE + 1]]:1: error: unexpected error: 'tri.rleu' op
"tri.rleu"() : () -> ()

// -----

// An expectation that nothing meets.
// CHECK: verify-diagnostics-fails.mlir:[[# @LINE + 1]]:1: error: expected error "gone wrong" was not reported
// expected-error @below {{gone wrong}}
func.func @f() {
  return
}

// -----

// A message on another line is both.
// CHECK: verify-diagnostics-fails.mlir:[[# @LINE + 3]]:1: error: unexpected error: 'tri.rleu' op
// CHECK: verify-diagnostics-fails.mlir:[[# @LINE + 1]]:1: error: expected error "'tri.rleu' op" was not
// expected-error @above {{'tri.rleu' op}}
"tri.rleu"() : () -> ()
