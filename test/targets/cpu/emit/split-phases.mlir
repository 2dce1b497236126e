// RUN: trivium-opt %s --split-input-file --split-phases | FileCheck %s

// The second loop reads what the first writes to shared memory: it is a phase of its own.
// CHECK-LABEL: module @kernel_0
// CHECK-SAME:    cpu.phases = array<i64: 12, {{[0-9]+}}, 1, 12, {{[0-9]+}}, 1>
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
// CHECK-SAME:    cpu.phases = array<i64: 1, {{[0-9]+}}, 1>
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
// CHECK-SAME:    cpu.phases = array<i64: 7, 8, 9>
module {
  module @keeps_phases attributes {cpu.phases = array<i64: 7, 8, 9>, cpu.private = array<i64>, cpu.scratch = []} {
    func.func @keeps_phases(%phase: index, %begin: index, %end: index) {
      return
    }
  }
}

// -----

// Iterations and work are expressions of the words of the record; the sizes are read once.
// CHECK-LABEL: module @counts_trips_by_the_record
// CHECK-SAME:    cpu.phases = ["4*_0", "24*_0*_1 + 6*_0", "1", "_1", "15*_1", "1"]
// CHECK:       func.func @counts_trips_by_the_record(%{{.*}}: index, %[[BEGIN:.*]]: index, %{{.*}}: index,
// CHECK:         %[[ROWS:.*]] = arith.index_cast
// CHECK:         %[[COLUMNS:.*]] = arith.index_cast
// CHECK:         %[[ALL:.*]] = arith.muli %[[ROWS]], %{{.*}}
// CHECK:         arith.minsi %{{.*}}, %[[ALL]]
// CHECK:         scf.if
// CHECK:           scf.for
// CHECK:         scf.if
// CHECK:           scf.for
module {
  module @counts_trips_by_the_record attributes {cpu.private = array<i64>, cpu.scratch = [], cpu.words = 2 : i64} {
    func.func @counts_trips_by_the_record(%phase: index, %begin: index, %end: index, %x: memref<1099511627776xf32>, %y: memref<1099511627776xf32>, %record: memref<2xi64>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %word0 = memref.load %record[%c0] : memref<2xi64>
      %rows = arith.index_cast %word0 : i64 to index
      %word1 = memref.load %record[%c1] : memref<2xi64>
      %columns = arith.index_cast %word1 : i64 to index
      scf.for %i = %c0 to %rows step %c1 {
        scf.for %j = %c0 to %c4 step %c1 {
          scf.for %k = %c0 to %columns step %c1 {
            %a = memref.load %x[%k] : memref<1099511627776xf32>
            memref.store %a, %y[%k] : memref<1099511627776xf32>
          } {trivium.trips = "_1"}
        } {trivium.piece = 0 : i64}
        %b = memref.load %x[%i] : memref<1099511627776xf32>
        memref.store %b, %y[%i] : memref<1099511627776xf32>
      } {trivium.group = 0 : i64, trivium.spread = 4 : i64, trivium.trips = "_0"}
      scf.for %i = %c0 to %columns step %c1 {
        scf.for %j = %c0 to %c5 step %c1 {
          %a = memref.load %y[%j] : memref<1099511627776xf32>
        }
      } {trivium.group = 1 : i64, trivium.spread = 1 : i64, trivium.trips = "_1"}
      return
    }
  }
}

// -----

// Pieces whose number depends on the record: a division by it is one by at least 1.
// CHECK-LABEL: module @cuts_pieces_by_the_record
// CHECK-SAME:    cpu.phases = ["2*_0 + 2", "6*_0 + 6", "1"]
// CHECK:         %[[WORD:.*]] = arith.index_cast
// CHECK:         %[[INNER:.*]] = arith.addi %{{.*}}, %{{.*}}
// CHECK:         %[[DIVISOR:.*]] = arith.maxsi %[[INNER]], %{{.*}}
// CHECK:         arith.divui %{{.*}}, %[[DIVISOR]]
// CHECK:         arith.divui %{{.*}}, %[[DIVISOR]]
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[START:.*]] = arith.muli %[[I]], %[[INNER]]
// CHECK:           scf.for
// CHECK:           scf.for
module {
  module @cuts_pieces_by_the_record attributes {cpu.private = array<i64>, cpu.scratch = [], cpu.words = 1 : i64} {
    func.func @cuts_pieces_by_the_record(%phase: index, %begin: index, %end: index, %y: memref<1099511627776xf32>, %record: memref<1xi64>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %word0 = memref.load %record[%c0] : memref<1xi64>
      %count = arith.index_cast %word0 : i64 to index
      %zero = arith.constant 0.0 : f32
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %j = %c0 to %count step %c1 {
          memref.store %zero, %y[%j] : memref<1099511627776xf32>
        } {trivium.piece = 0 : i64, trivium.trips = "_0"}
        scf.for %j = %c0 to %c1 step %c1 {
          memref.store %zero, %y[%i] : memref<1099511627776xf32>
        } {trivium.piece = "_0"}
      } {trivium.group = 0 : i64, trivium.spread = "_0 + 1"}
      return
    }
  }
}

// -----

// Each trip needs what the one before it wrote: trips are steps, and only pieces of one are shared.
// CHECK-LABEL: module @cuts_steps
// CHECK-SAME:    cpu.phases = array<i64: 4, 24, 5>
// CHECK:         scf.for
// CHECK:           scf.for
module {
  module @cuts_steps attributes {cpu.private = array<i64>, cpu.scratch = []} {
    func.func @cuts_steps(%phase: index, %begin: index, %end: index, %y: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      scf.for %i = %c0 to %c5 step %c1 {
        scf.for %j = %c0 to %c4 step %c1 {
          %a = memref.load %y[%j] : memref<4xf32>
          memref.store %a, %y[%j] : memref<4xf32>
        } {trivium.piece = 0 : i64}
      } {trivium.group = 0 : i64, trivium.ordered = 1 : i64, trivium.spread = 4 : i64}
      return
    }
  }
}

// -----

// The same trips are not said to be in order: nobody may share them.
// CHECK-LABEL: module @keeps_trips_that_need_others
// CHECK-SAME:    cpu.phases = array<i64: 1, 120, 1>
module {
  module @keeps_trips_that_need_others attributes {cpu.private = array<i64>, cpu.scratch = []} {
    func.func @keeps_trips_that_need_others(%phase: index, %begin: index, %end: index, %y: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      scf.for %i = %c0 to %c5 step %c1 {
        scf.for %j = %c0 to %c4 step %c1 {
          %a = memref.load %y[%j] : memref<4xf32>
          memref.store %a, %y[%j] : memref<4xf32>
        } {trivium.piece = 0 : i64}
      } {trivium.group = 0 : i64, trivium.spread = 4 : i64}
      return
    }
  }
}
