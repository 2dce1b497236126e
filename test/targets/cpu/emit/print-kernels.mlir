// RUN: trivium-opt %s --lower-to-kernels=machine=x86-64-v3 --emit=kernels | FileCheck %s
// RUN: trivium-opt %s --lower-to-kernels=machine=x86-64-v3 --emit=kernels | trivium-opt --split-phases --emit=kernels | FileCheck %s --check-prefix=AGAIN
// RUN: trivium-opt %s --lower-to-kernels=machine=x86-64-v3 --split-phases --convert-kernels-to-llvm --emit=llvm | FileCheck %s --check-prefix=LLVM
// RUN: not trivium-opt %s --emit=kernels 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not trivium-opt %s --lower-to-kernels --emit=llvm 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not trivium-opt %s --emit=kernel 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK-NOT:   @main
// CHECK:       // double
// CHECK-NEXT:  module @kernel_0 attributes
// CHECK:         arith.addf
// CHECK-NOT:   @main
// AGAIN:       module @kernel_0 attributes {cpu.phases = array<i64: 1, {{[0-9]+}}, 1>
// LLVM:        ; double
// LLVM:        define void @kernel_0(i64 %0, i64 %1, i64 %2, ptr %3, ptr %4)
// LLVM:          fadd contract <8 x float>
// NONE:        error: the IR has no kernels for a CPU: --emit=kernels prints those that --lower-to-kernels
// EARLY:       error: kernel 'kernel_0' is not of the llvm dialect
// UNKNOWN:     error: no emitter is called 'kernel', targets offer: {{.*}}kernels, llvm
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%i: tensor<8xf32>):
    %r = "tri.add"(%i, %i) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    "tri.yield"(%r) : (tensor<8xf32>) -> ()
  }) {target = "cpu"} : (tensor<8xf32>) -> tensor<8xf32> loc("double"("y"))
  return %y : tensor<8xf32>
}
