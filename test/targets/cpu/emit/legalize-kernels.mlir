// RUN: trivium-opt %s --legalize-kernels=machine=x86-64 | FileCheck %s
// RUN: trivium-opt %s --legalize-kernels=machine=x86-64-v3 | FileCheck %s --check-prefix=KEEPS

// Without FMA, a product of f64 is corrected by its rounding error; halves are integer arithmetic.
// CHECK-LABEL: module @kernel_0
// CHECK-NOT:     math.fma
// CHECK:         arith.mulf %{{.*}} : f64
// CHECK-NOT:     arith.extf
// CHECK:         arith.extui
// CHECK:         return
// KEEPS-LABEL: module @kernel_0
// KEEPS:         math.fma %{{.*}} : f64
// KEEPS-NEXT:    arith.extf %{{.*}} : f16 to f32
// KEEPS-NEXT:    arith.extf %{{.*}} : f32 to f64
// CHECK-LABEL: func.func @keeps_functions_that_are_no_kernels
// CHECK:         math.fma
module {
  module @kernel_0 attributes {cpu.private = array<i64>, cpu.scratch = []} {
    func.func @kernel_0(%phase: index, %begin: index, %end: index, %x: f64, %h: f16) -> (f64, f32, f64) {
      %a = math.fma %x, %x, %x : f64
      %b = arith.extf %h : f16 to f32
      %c = arith.extf %b : f32 to f64
      return %a, %b, %c : f64, f32, f64
    }
  }
  func.func @keeps_functions_that_are_no_kernels(%x: f64) -> f64 {
    %a = math.fma %x, %x, %x : f64
    return %a : f64
  }
}
