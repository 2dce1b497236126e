// RUN: trivium-opt %s --convert-kernels-to-llvm --set-target-features=machine=x86-64-v3 | FileCheck %s
// RUN: trivium-opt %s '--convert-kernels-to-llvm=strict' --set-target-features=machine=x86-64-v2 | FileCheck %s --check-prefix=STRICT

// Pointers are arguments, lanes are summed up in any order unless strict.
// CHECK-LABEL: module @kernel_0
// CHECK:         llvm.func @kernel_0(%{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %[[X:[a-z0-9]+]]: !llvm.ptr
// CHECK-SAME:      no_inline
// CHECK-SAME:      target_cpu = "x86-64-v3"
// CHECK-SAME:      "+fma"
// CHECK:           llvm.load %[[X]]
// CHECK:           "llvm.intr.vector.reduce.fadd"({{.*}}) <{fastmathFlags = #llvm.fastmath<reassoc>}>
// STRICT-LABEL: module @kernel_0
// STRICT-NOT:      "+fma"
// STRICT-NOT:      reassoc
// CHECK-LABEL: func.func @keeps_functions_that_are_no_kernels
// CHECK:         vector.reduction
module {
  module @kernel_0 attributes {cpu.private = array<i64>, cpu.scratch = []} {
    func.func @kernel_0(%phase: index, %begin: index, %end: index, %x: memref<8xf32>, %y: memref<1xf32>) {
      %c0 = arith.constant 0 : index
      %a = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
      %s = vector.reduction <add>, %a : vector<8xf32> into f32
      memref.store %s, %y[%c0] : memref<1xf32>
      return
    }
  }
  func.func @keeps_functions_that_are_no_kernels(%a: vector<8xf32>) -> f32 {
    %s = vector.reduction <add>, %a : vector<8xf32> into f32
    return %s : f32
  }
}
