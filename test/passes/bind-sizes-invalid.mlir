// RUN: trivium-opt %s -p 'bind-sizes{T=8}' -o %t.mlir
// RUN: not trivium-opt %s -p 'bind-sizes{T=7}' 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: cut: error: 'Slice' node has size T, must be at least 8, where T = 7

// RUN: not trivium-opt %s -p 'bind-sizes{T=600}' 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: symbol 'T' is 600, must be from 1 to 512

// RUN: not trivium-opt %s -p 'bind-sizes{M=8}' 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: the module has no symbol 'M', it has: T

// RUN: not trivium-opt %s -p 'bind-sizes{T=many}' 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: pass 'bind-sizes' option 'T=many' must be like T=128, once

// What is bound is no symbol any more.
// RUN: not trivium-opt %t.mlir -p 'bind-sizes{T=8}' 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: the module has no symbol 'T', it has: none

func.func @keeps_what_is_refused(%x: tensor<?xf32, ["T"]>) -> tensor<?xf32, ["T"]> attributes {trivium.checks = [{expression = "T - 8", message = "'Slice' node has size T, must be at least 8", node = "cut", relation = ">="}], trivium.symbols = {T = "1..512"}} {
  return %x : tensor<?xf32, ["T"]>
}
