// RUN: trivium-opt %s --hide-masks=machine=x86-64-v3 | FileCheck %s
// RUN: trivium-opt %s --hide-masks=machine=x86-64-v4 | FileCheck %s --check-prefix=KEEPS
// RUN: trivium-opt %s --hide-masks=machine=x86-64-v2 | FileCheck %s --check-prefix=KEEPS

// LLVM must not know which elements of the mask are set, where it widens loads for AVX2.
// CHECK-LABEL: module @kernel_0
// CHECK:         %[[MANY:.*]] = llvm.inline_asm
// CHECK:         %[[COUNT:.*]] = arith.index_cast %[[MANY]]
// CHECK:         %[[MASK:.*]] = vector.create_mask %{{.*}}
// CHECK:         %[[ALL:.*]] = vector.create_mask %[[COUNT]]
// CHECK:         %[[HIDDEN:.*]] = arith.andi %[[MASK]], %[[ALL]]
// CHECK:         vector.maskedload %{{.*}}, %[[HIDDEN]]
// KEEPS-LABEL: module @kernel_0
// KEEPS-NOT:     llvm.inline_asm
// KEEPS:         %[[MASK:.*]] = vector.create_mask %{{.*}}
// KEEPS-NEXT:    arith.constant
// KEEPS-NEXT:    vector.maskedload %{{.*}}, %[[MASK]]
module {
  module @kernel_0 attributes {cpu.private = array<i64>, cpu.scratch = []} {
    func.func @kernel_0(%phase: index, %begin: index, %end: index, %x: memref<8xf32>) -> vector<8xf32> {
      %c3 = arith.constant 3 : index
      %mask = vector.create_mask %c3 : vector<8xi1>
      %zero = arith.constant dense<0.0> : vector<8xf32>
      %a = vector.maskedload %x[%c3], %mask, %zero : memref<8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
      return %a : vector<8xf32>
    }
  }
}
