// RUN: not trivium-opt %s --segment-dla=target=cpux 2>&1 | FileCheck %s

// CHECK: no accelerator is called 'cpux', there are: vanilla
func.func @none() {
  return
}
