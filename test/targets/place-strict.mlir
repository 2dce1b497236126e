// With strict, what the first target does not take is an error, whoever else would take it.
// RUN: not trivium-opt %s --place="targets=cpu,host strict" 2>&1 | FileCheck %s
// RUN: trivium-opt %s --place="targets=cpu,host" | FileCheck %s --check-prefix=FREELY
// RUN: trivium-opt %s --place="targets=host strict" | FileCheck %s --check-prefix=HOST

// CHECK-NOT:  third
// CHECK:      first: error: 'tri.lgamma' op cpu has no kernel for tri.lgamma
// CHECK-NEXT: second: error: 'tri.det' op cpu has no kernel for tri.det
// CHECK-NEXT: {{^}}error: 2 ops do not run on cpu: leave strict (--strict) away to run on host
// CHECK-NOT:  third

// FREELY:     target = "host"
// FREELY:     target = "cpu"
// FREELY:     target = "host"

// HOST-NOT:   target = "cpu"
// HOST:       target = "host"
// HOST-NOT:   target = "cpu"
func.func @main(%x: tensor<3x3xf32>) -> tensor<f32> {
  %0 = "tri.lgamma"(%x) : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("first"("a"))
  %1 = "tri.exp"(%0) : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("third"("c"))
  %2 = "tri.det"(%1) : (tensor<3x3xf32>) -> tensor<f32> loc("second"("b"))
  return %2 : tensor<f32>
}
