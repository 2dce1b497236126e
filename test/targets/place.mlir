// Each op goes to the first target that takes it, in a kernel of its own.
// RUN: trivium-opt %s --place="targets=cpu,host" | FileCheck %s
// RUN: trivium-opt %s --place="targets=host" | FileCheck %s --check-prefix=HOST
// RUN: not trivium-opt %s --place="targets=cpu" 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK:      "tri.lp_normalize"
// CHECK:      target = "host"
// CHECK:      "tri.exp"
// CHECK:      target = "cpu"
// CHECK:      "tri.lp_normalize"
// CHECK:      target = "host"

// HOST-NOT:   target = "cpu"
// HOST:       target = "host"
// HOST-NOT:   target = "cpu"

// NONE:       first: error: 'tri.lp_normalize' op runs on no target: cpu has no kernel for tri.lp_normalize
// NONE-NEXT:  second: error: 'tri.lp_normalize' op runs on no target: cpu has no kernel for tri.lp_normalize
// NONE-NOT:   third
func.func @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = "tri.lp_normalize"(%x) {p = 1} : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("first"("a"))
  %1 = "tri.exp"(%0) : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("third"("c"))
  %2 = "tri.lp_normalize"(%1) {p = 2} : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("second"("b"))
  return %2 : tensor<3x3xf32>
}
