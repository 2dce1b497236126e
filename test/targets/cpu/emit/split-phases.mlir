// RUN: trivium-opt %s --split-input-file --split-phases | FileCheck %s

// The second loop reads what the first writes to shared memory: it is a phase of its own.
// CHECK-LABEL: module @kernel_0
// CHECK-SAME:    cpu.phases = array<i64: 12, {{[0-9]+}}, 12, {{[0-9]+}}>
// CHECK:       func.func @kernel_0(%[[PHASE:.*]]: index, %[[BEGIN:.*]]: index, %[[END:.*]]: index,
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[PHASE]], %{{.*}}
// CHECK:         scf.if %[[FIRST]] {
// CHECK:           scf.for
// CHECK:             memref.store
// CHECK:         %[[SECOND:.*]] = arith.cmpi eq, %[[PHASE]], %{{.*}}
// CHECK:         scf.if %[[SECOND]] {
// CHECK:           scf.for
// CHECK:             memref.store
module {
  module @kernel_0 attributes {cpu.private = array<i64>, cpu.scratch = [tensor<12xf32>]} {
    func.func @kernel_0(%phase: index, %begin: index, %end: index, %x: memref<12xf32>, %y: memref<12xf32>, %between: memref<12xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c12 = arith.constant 12 : index
      scf.for %i = %c0 to %c12 step %c1 {
        %a = memref.load %x[%i] : memref<12xf32>
        memref.store %a, %between[%i] : memref<12xf32>
      } {trivium.group = 0 : i64, trivium.spread = 1 : i64}
      scf.for %i = %c0 to %c12 step %c1 {
        %a = memref.load %between[%i] : memref<12xf32>
        memref.store %a, %y[%i] : memref<12xf32>
      } {trivium.group = 1 : i64, trivium.spread = 1 : i64}
      return
    }
  }
}

// -----

// A loop that carries a number from iteration to iteration is not marked: it runs in one piece.
// CHECK-LABEL: module @keeps_a_loop_that_is_not_marked
// CHECK-SAME:    cpu.phases = array<i64: 1, {{[0-9]+}}>
// CHECK:         %[[COUNT:.*]] = arith.constant 12 : index
// CHECK-NOT:     scf.if
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[COUNT]]
module {
  module @keeps_a_loop_that_is_not_marked attributes {cpu.private = array<i64>, cpu.scratch = []} {
    func.func @keeps_a_loop_that_is_not_marked(%phase: index, %begin: index, %end: index, %x: memref<12xf32>, %y: memref<12xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c12 = arith.constant 12 : index
      scf.for %i = %c0 to %c12 step %c1 {
        %a = memref.load %x[%i] : memref<12xf32>
        memref.store %a, %y[%i] : memref<12xf32>
      }
      return
    }
  }
}

// -----

// A kernel that is split already is left as it is.
// CHECK-LABEL: module @keeps_phases
// CHECK-SAME:    cpu.phases = array<i64: 7, 8>
module {
  module @keeps_phases attributes {cpu.phases = array<i64: 7, 8>, cpu.private = array<i64>, cpu.scratch = []} {
    func.func @keeps_phases(%phase: index, %begin: index, %end: index) {
      return
    }
  }
}
