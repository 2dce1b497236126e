// RUN: trivium-opt %s --insert-copies | FileCheck %s

// What a kernel on the GPU reads and returns is copied, once for each value.
// CHECK-LABEL: func.func @copies_once
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[Y:.*]]: {{.*}})
// CHECK:         %[[A:.*]] = "tri.copy"(%[[X]]) {to = "gpu"}
// CHECK-NEXT:    %[[B:.*]] = "tri.copy"(%[[Y]]) {to = "gpu"}
// CHECK-NEXT:    %[[P:.*]] = "tri.group"(%[[A]], %[[B]])
// CHECK:         %[[Q:.*]] = "tri.group"(%[[A]], %[[P]])
// CHECK:         %[[C:.*]] = "tri.copy"(%[[Q]]) {to = "host"}
// CHECK-NEXT:    return %[[C]], %[[C]]
func.func @copies_once(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %p = "tri.group"(%x, %y) ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %c = "tri.add"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c) : (tensor<2xf32>) -> ()
  }) {target = "gpu"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %q = "tri.group"(%x, %p) ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %c = "tri.mul"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c) : (tensor<2xf32>) -> ()
  }) {target = "gpu"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %q, %q : tensor<2xf32>, tensor<2xf32>
}

// Three kernels read one copy.
// CHECK-LABEL: func.func @copies_once_for_all_readers
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK-NEXT:    %[[A:.*]] = "tri.copy"(%[[X]]) {to = "gpu"}
// CHECK-NOT:     to = "gpu"
// CHECK:         "tri.group"(%[[A]])
// CHECK-NOT:     to = "gpu"
// CHECK:         "tri.group"(%[[A]])
// CHECK-NOT:     to = "gpu"
// CHECK:         "tri.group"(%[[A]])
// CHECK-NOT:     to = "gpu"
// CHECK:         return
func.func @copies_once_for_all_readers(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %p = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %c = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c) : (tensor<2xf32>) -> ()
  }) {target = "gpu"} : (tensor<2xf32>) -> tensor<2xf32>
  %q = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %c = "tri.neg"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c) : (tensor<2xf32>) -> ()
  }) {target = "gpu"} : (tensor<2xf32>) -> tensor<2xf32>
  %r = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %c = "tri.abs"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c) : (tensor<2xf32>) -> ()
  }) {target = "gpu"} : (tensor<2xf32>) -> tensor<2xf32>
  return %p, %q, %r : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// A kernel on the host in between: its operand comes back before it, its result goes out behind it.
// CHECK-LABEL: func.func @there_and_back
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[A:.*]] = "tri.copy"(%[[X]]) {to = "gpu"}
// CHECK:         %[[P:.*]] = "tri.group"(%[[A]])
// CHECK:         %[[R:.*]] = "tri.group"(%[[P]])
// CHECK:         %[[B:.*]] = "tri.copy"(%[[P]]) {to = "host"}
// CHECK-NEXT:    %[[Q:.*]] = "tri.group"(%[[B]])
// CHECK:         {target = "host"}
// CHECK-NEXT:    %[[C:.*]] = "tri.copy"(%[[Q]]) {to = "gpu"}
// CHECK-NEXT:    %[[S:.*]] = "tri.group"(%[[C]], %[[R]])
// CHECK:         %[[D:.*]] = "tri.copy"(%[[S]]) {to = "host"}
// CHECK-NEXT:    return %[[D]]
func.func @there_and_back(%x: tensor<2xf32>) -> tensor<2xf32> {
  %p = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %c = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c) : (tensor<2xf32>) -> ()
  }) {target = "gpu"} : (tensor<2xf32>) -> tensor<2xf32>
  %r = "tri.group"(%p) ({
  ^bb0(%a: tensor<2xf32>):
    %c = "tri.neg"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c) : (tensor<2xf32>) -> ()
  }) {target = "gpu"} : (tensor<2xf32>) -> tensor<2xf32>
  %q = "tri.group"(%p) ({
  ^bb0(%a: tensor<2xf32>):
    %c = "tri.round"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c) : (tensor<2xf32>) -> ()
  }) {target = "host"} : (tensor<2xf32>) -> tensor<2xf32>
  %s = "tri.group"(%q, %r) ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %c = "tri.add"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c) : (tensor<2xf32>) -> ()
  }) {target = "gpu"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %s : tensor<2xf32>
}

// Of a view its operand is copied, and viewed there.
// CHECK-LABEL: func.func @views
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[A:.*]] = "tri.copy"(%[[X]]) {to = "gpu"}
// CHECK-NEXT:    %[[V:.*]] = "tri.reshape"(%[[A]])
// CHECK-NEXT:    %[[P:.*]] = "tri.group"(%[[V]])
// CHECK:         %[[B:.*]] = "tri.copy"(%[[P]]) {to = "host"}
// CHECK-NEXT:    %[[W:.*]] = "tri.reshape"(%[[B]])
// CHECK-NEXT:    return %[[W]]
func.func @views(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %v = "tri.reshape"(%x) {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %p = "tri.group"(%v) ({
  ^bb0(%a: tensor<6xf32>):
    %c = "tri.exp"(%a) : (tensor<6xf32>) -> tensor<6xf32>
    "tri.yield"(%c) : (tensor<6xf32>) -> ()
  }) {target = "gpu"} : (tensor<6xf32>) -> tensor<6xf32>
  %w = "tri.reshape"(%p) {shape = array<i64: 3, 2>} : (tensor<6xf32>) -> tensor<3x2xf32>
  return %w : tensor<3x2xf32>
}

// A view that is read on both sides is there twice.
// CHECK-LABEL: func.func @views_on_both_sides
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[A:.*]] = "tri.copy"(%[[X]]) {to = "gpu"}
// CHECK-NEXT:    %[[G:.*]] = "tri.reshape"(%[[A]])
// CHECK-NEXT:    %[[H:.*]] = "tri.reshape"(%[[X]])
// CHECK-NEXT:    %[[P:.*]] = "tri.group"(%[[G]])
// CHECK:         return %{{.*}}, %[[H]]
func.func @views_on_both_sides(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %v = "tri.reshape"(%x) {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %p = "tri.group"(%v) ({
  ^bb0(%a: tensor<6xf32>):
    %c = "tri.exp"(%a) : (tensor<6xf32>) -> tensor<6xf32>
    "tri.yield"(%c) : (tensor<6xf32>) -> ()
  }) {target = "gpu"} : (tensor<6xf32>) -> tensor<6xf32>
  return %p, %v : tensor<6xf32>, tensor<6xf32>
}

// Each target has its own copy of constants, and of views of them.
// CHECK-LABEL: func.func @keeps_constants
// CHECK-NOT:     tri.copy
// CHECK:         return
func.func @keeps_constants() -> tensor<2xf32> {
  %k = "tri.constant"() {value = dense<[[1.0], [2.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %v = "tri.reshape"(%k) {shape = array<i64: 2>} : (tensor<2x1xf32>) -> tensor<2xf32>
  %p = "tri.group"(%v) ({
  ^bb0(%a: tensor<2xf32>):
    %c = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c) : (tensor<2xf32>) -> ()
  }) {target = "gpu"} : (tensor<2xf32>) -> tensor<2xf32>
  return %v : tensor<2xf32>
}

// CPU and host read the same memory.
// CHECK-LABEL: func.func @keeps_kernels_of_one_memory
// CHECK-NOT:     tri.copy
// CHECK:         return
func.func @keeps_kernels_of_one_memory(%x: tensor<2xf32>) -> tensor<2xf32> {
  %p = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %c = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c) : (tensor<2xf32>) -> ()
  }) {target = "cpu"} : (tensor<2xf32>) -> tensor<2xf32>
  %q = "tri.group"(%p) ({
  ^bb0(%a: tensor<2xf32>):
    %c = "tri.neg"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c) : (tensor<2xf32>) -> ()
  }) {target = "host"} : (tensor<2xf32>) -> tensor<2xf32>
  return %q : tensor<2xf32>
}

// Copies that are there already stay alone.
// CHECK-LABEL: func.func @keeps_copies
// CHECK:         "tri.copy"
// CHECK:         "tri.group"
// CHECK:         "tri.copy"
// CHECK-NOT:     "tri.copy"
func.func @keeps_copies(%x: tensor<2xf32>) -> tensor<2xf32> {
  %g = "tri.copy"(%x) {to = "gpu"} : (tensor<2xf32>) -> tensor<2xf32>
  %p = "tri.group"(%g) ({
  ^bb0(%a: tensor<2xf32>):
    %c = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c) : (tensor<2xf32>) -> ()
  }) {target = "gpu"} : (tensor<2xf32>) -> tensor<2xf32>
  %h = "tri.copy"(%p) {to = "host"} : (tensor<2xf32>) -> tensor<2xf32>
  return %h : tensor<2xf32>
}

// A branch reads and returns what is on the host; its bodies copy what they need to the GPU.
// CHECK-LABEL: func.func @copies_in_bodies
// CHECK-SAME:    (%[[C:.*]]: tensor<i1>, %[[X:.*]]: tensor<2xf32>)
// CHECK:         %[[P:.*]] = "tri.group"
// CHECK:         %[[D:.*]] = "tri.copy"(%[[P]]) {to = "host"}
// CHECK:         %[[Y:.*]] = "tri.if"(%[[C]], %[[D]]) ({
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<2xf32>):
// CHECK:           %[[I:.*]] = "tri.copy"(%[[A]]) {to = "gpu"}
// CHECK:           %[[Q:.*]] = "tri.group"(%[[I]])
// CHECK:           %[[O:.*]] = "tri.copy"(%[[Q]]) {to = "host"}
// CHECK-NEXT:      "tri.yield"(%[[O]])
// CHECK:           "tri.yield"
// CHECK:         return %[[Y]]
func.func @copies_in_bodies(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %p = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %e = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%e) : (tensor<2xf32>) -> ()
  }) {target = "gpu"} : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.if"(%c, %p) ({
  ^bb0(%a: tensor<2xf32>):
    %q = "tri.group"(%a) ({
    ^bb0(%b: tensor<2xf32>):
      %e = "tri.exp"(%b) : (tensor<2xf32>) -> tensor<2xf32>
      "tri.yield"(%e) : (tensor<2xf32>) -> ()
    }) {target = "gpu"} : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%q) : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
