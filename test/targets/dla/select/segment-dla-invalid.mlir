// RUN: not trivium-opt %s --segment-dla=target=cpux 2>&1 | FileCheck %s

// CHECK: no target is called 'cpux', there are: cpu, gpu, host, vanilla
func.func @none() {
  return
}
