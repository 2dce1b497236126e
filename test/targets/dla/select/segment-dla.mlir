// RUN: trivium-opt %s --segment-dla | FileCheck %s

// Neighbours become one group; what they read besides is an input, constants too.
// CHECK-LABEL: func.func @joins_neighbours
// CHECK:         %[[T:.*]] = "tri.constant"
// CHECK-NEXT:    %[[Y:.*]] = "tri.group"(%{{[^,]*}}, %[[T]]) ({
// CHECK-NEXT:    ^bb0(%[[X:.*]]: tensor<1x2x2x4xi8>{{.*}}, %[[U:.*]]: tensor<256xi8>
// CHECK-NEXT:      %[[A:.*]] = "dla.copy"(%[[X]])
// CHECK-NEXT:      %[[B:.*]] = "dla.lookup"(%[[A]], %[[U]])
// CHECK-NEXT:      "tri.yield"(%[[B]])
// CHECK-NEXT:    }) {target = ""}
// CHECK-NEXT:    return %[[Y]]
func.func @joins_neighbours(%x: tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8> {
  %t = "tri.constant"() {value = dense<1> : tensor<256xi8>} : () -> tensor<256xi8>
  %a = "dla.copy"(%x) : (tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  %b = "dla.lookup"(%a, %t) : (tensor<1x2x2x4xi8>, tensor<256xi8>) -> tensor<1x2x2x4xi8>
  return %b : tensor<1x2x2x4xi8>
}

// A way leads over an op that runs elsewhere: what comes behind it is a group of its own, and what
// stands between the members of a group moves behind it.
// CHECK-LABEL: func.func @splits_a_diamond
// CHECK:         %[[S:.*]]:2 = "tri.group"(%{{[^,]*}}) ({
// CHECK-COUNT-2:   "dla.copy"
// CHECK:           "tri.yield"(%{{.*}}, %{{.*}})
// CHECK:         }) {target = ""}
// CHECK-NEXT:    %[[O:.*]] = "tri.abs"(%[[S]]#0)
// CHECK-NEXT:    %[[D:.*]] = "tri.group"(%[[S]]#1, %[[O]])
// CHECK:           "dla.eltwise"
// CHECK:         return %[[D]]
func.func @splits_a_diamond(%x: tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8> {
  %a = "dla.copy"(%x) : (tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  %b = "tri.abs"(%a) : (tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  %c = "dla.copy"(%a) : (tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  %d = "dla.eltwise"(%c, %b) {operator = "add"} : (tensor<1x2x2x4xi8>, tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  return %d : tensor<1x2x2x4xi8>
}

// Branches that do not meet run at once: one group.
// CHECK-LABEL: func.func @joins_branches
// CHECK:         "tri.group"
// CHECK-COUNT-2:   "dla.copy"
// CHECK-NOT:     "tri.group"
// CHECK:         return
func.func @joins_branches(%x: tensor<1x2x2x4xi8>, %y: tensor<1x2x2x4xi8>) -> (tensor<1x2x2x4xi8>, tensor<1x2x2x4xi8>) {
  %a = "dla.copy"(%x) : (tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  %b = "tri.abs"(%y) : (tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  %c = "dla.copy"(%y) : (tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  %d = "tri.add"(%b, %a) : (tensor<1x2x2x4xi8>, tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  return %d, %c : tensor<1x2x2x4xi8>, tensor<1x2x2x4xi8>
}

// An op that moves no more than it must stays before what comes before it.
// CHECK-LABEL: func.func @moves_only_what_it_must
// CHECK:         "tri.abs"
// CHECK-NEXT:    "tri.group"
// CHECK:         "tri.neg"
func.func @moves_only_what_it_must(%x: tensor<1x2x2x4xi8>) -> (tensor<1x2x2x4xi8>, tensor<1x2x2x4xi8>, tensor<1x2x2x4xi8>) {
  %a = "tri.abs"(%x) : (tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  %b = "dla.copy"(%x) : (tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  %c = "tri.neg"(%b) : (tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  %d = "dla.copy"(%b) : (tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  return %a, %c, %d : tensor<1x2x2x4xi8>, tensor<1x2x2x4xi8>, tensor<1x2x2x4xi8>
}

// The accelerator refuses strides of 9: the op stays alone, and others do not pass over it.
// CHECK-LABEL: func.func @leaves_what_is_refused
// CHECK:         "tri.group"
// CHECK:         "dla.conv"{{.*}} {{.*}}strides = array<i64: 9, 1>
// CHECK-NEXT:    "tri.group"
func.func @leaves_what_is_refused(%x: tensor<1x9x2x4xi8>, %w: tensor<1x1x4x4xi8>, %b: tensor<4xi32>) -> tensor<1x1x2x4xi8> {
  %0 = "dla.copy"(%x) : (tensor<1x9x2x4xi8>) -> tensor<1x9x2x4xi8>
  %1 = "dla.conv"(%0, %w, %b) {strides = array<i64: 9, 1>, multiplier = array<i64: 1>, shift = array<i64: 0>} : (tensor<1x9x2x4xi8>, tensor<1x1x4x4xi8>, tensor<4xi32>) -> tensor<1x1x2x4xi8>
  %2 = "dla.copy"(%1) : (tensor<1x1x2x4xi8>) -> tensor<1x1x2x4xi8>
  return %2 : tensor<1x1x2x4xi8>
}

// What nobody reads makes no group, and a function without ops of the accelerator stays as it is.
// CHECK-LABEL: func.func @makes_no_empty_group
// CHECK-NOT:     "tri.group"
// CHECK:         "tri.abs"
// CHECK-NOT:     "tri.group"
func.func @makes_no_empty_group(%x: tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8> {
  %a = "dla.copy"(%x) : (tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  %b = "tri.abs"(%x) : (tensor<1x2x2x4xi8>) -> tensor<1x2x2x4xi8>
  return %b : tensor<1x2x2x4xi8>
}
