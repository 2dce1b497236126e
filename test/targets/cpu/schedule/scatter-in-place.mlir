// RUN: trivium-opt %s --scatter-in-place --split-input-file | FileCheck %s

// Rows are written over the old value of a state, which nothing reads any more.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[PAST:.*]]: tensor<1x8x4xf32>, %[[NEW:.*]]: tensor<1x1x4xf32>, %[[AT:.*]]: tensor<1xi64>)
// CHECK:         "tri.group"(%[[PAST]], %[[NEW]], %[[AT]])
// CHECK-NEXT:    ^bb0(%[[X:.*]]: tensor<1x8x4xf32>, %[[ROWS:.*]]: tensor<1x1x4xf32>, %[[STARTS:.*]]: tensor<1xi64>):
// CHECK-NEXT:      %[[Y:.*]] = "cpu.tensor_scatter"(%[[X]], %[[ROWS]], %[[STARTS]]) {axis = 1 : i64, circular = true
// CHECK-NEXT:      "tri.yield"(%[[Y]])
func.func @main(%past: tensor<1x8x4xf32>, %new: tensor<1x1x4xf32>, %at: tensor<1xi64>) -> tensor<1x8x4xf32>
    attributes {trivium.inputs = ["past", "new", "at"], trivium.outputs = ["present"], trivium.state = {present = "past"}} {
  %0 = "tri.group"(%past, %new, %at) ({
  ^bb0(%a: tensor<1x8x4xf32>, %b: tensor<1x1x4xf32>, %c: tensor<1xi64>):
    %1 = "tri.tensor_scatter"(%a, %b, %c) {axis = 1, circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
    "tri.yield"(%1) : (tensor<1x8x4xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
  return %0 : tensor<1x8x4xf32>
}

// -----

// The old value may be read before, and both may be views.
// CHECK-LABEL: func.func @main
// CHECK:         "cpu.tensor_scatter"
func.func @main(%past: tensor<8x4xf32>, %new: tensor<1x1x4xf32>, %at: tensor<1xi64>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    attributes {trivium.inputs = ["past", "new", "at"], trivium.outputs = ["before", "present"], trivium.updates = {present = "past"}} {
  %0 = "tri.group"(%past) ({
  ^bb0(%a: tensor<8x4xf32>):
    %4 = "tri.relu"(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    "tri.yield"(%4) : (tensor<8x4xf32>) -> ()
  }) {target = "cpu"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = "tri.reshape"(%past) {shape = array<i64: 1, 8, 4>} : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
  %2 = "tri.group"(%1, %new, %at) ({
  ^bb0(%a: tensor<1x8x4xf32>, %b: tensor<1x1x4xf32>, %c: tensor<1xi64>):
    %4 = "tri.tensor_scatter"(%a, %b, %c) {axis = 1, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
    "tri.yield"(%4) : (tensor<1x8x4xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
  %3 = "tri.reshape"(%2) {shape = array<i64: 8, 4>} : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
  return %0, %3 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// It is read later, through a view.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     "cpu.tensor_scatter"
func.func @main(%past: tensor<1x8x4xf32>, %new: tensor<1x1x4xf32>, %at: tensor<1xi64>) -> (tensor<1x8x4xf32>, tensor<8x4xf32>)
    attributes {trivium.inputs = ["past", "new", "at"], trivium.outputs = ["present", "before"], trivium.state = {present = "past"}} {
  %0 = "tri.reshape"(%past) {shape = array<i64: 8, 4>} : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
  %1 = "tri.group"(%past, %new, %at) ({
  ^bb0(%a: tensor<1x8x4xf32>, %b: tensor<1x1x4xf32>, %c: tensor<1xi64>):
    %3 = "tri.tensor_scatter"(%a, %b, %c) {axis = 1, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
    "tri.yield"(%3) : (tensor<1x8x4xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
  %2 = "tri.group"(%0) ({
  ^bb0(%a: tensor<8x4xf32>):
    %3 = "tri.relu"(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    "tri.yield"(%3) : (tensor<8x4xf32>) -> ()
  }) {target = "cpu"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1, %2 : tensor<1x8x4xf32>, tensor<8x4xf32>
}

// -----

// It is an output itself, and another target writes rows.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     "cpu.tensor_scatter"
func.func @main(%past: tensor<1x8x4xf32>, %other: tensor<1x8x4xf32>, %new: tensor<1x1x4xf32>, %at: tensor<1xi64>) -> (tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>)
    attributes {trivium.inputs = ["past", "other", "new", "at"], trivium.outputs = ["present", "before", "next"], trivium.state = {present = "past", next = "other"}} {
  %0 = "tri.group"(%past, %new, %at) ({
  ^bb0(%a: tensor<1x8x4xf32>, %b: tensor<1x1x4xf32>, %c: tensor<1xi64>):
    %2 = "tri.tensor_scatter"(%a, %b, %c) {axis = 1, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
    "tri.yield"(%2) : (tensor<1x8x4xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
  %1 = "tri.group"(%other, %new, %at) ({
  ^bb0(%a: tensor<1x8x4xf32>, %b: tensor<1x1x4xf32>, %c: tensor<1xi64>):
    %2 = "tri.tensor_scatter"(%a, %b, %c) {axis = 1, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
    "tri.yield"(%2) : (tensor<1x8x4xf32>) -> ()
  }) {target = "host"} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
  return %0, %past, %1 : tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>
}

// -----

// It is no state: the caller keeps both.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     "cpu.tensor_scatter"
func.func @main(%past: tensor<1x8x4xf32>, %new: tensor<1x1x4xf32>, %at: tensor<1xi64>) -> tensor<1x8x4xf32> {
  %0 = "tri.group"(%past, %new, %at) ({
  ^bb0(%a: tensor<1x8x4xf32>, %b: tensor<1x1x4xf32>, %c: tensor<1xi64>):
    %1 = "tri.tensor_scatter"(%a, %b, %c) {axis = 1, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
    "tri.yield"(%1) : (tensor<1x8x4xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
  return %0 : tensor<1x8x4xf32>
}

// -----

// The rows that are written are read from it: a kernel would read what it has written.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     "cpu.tensor_scatter"
func.func @main(%past: tensor<1x8x4xf32>, %at: tensor<1xi64>) -> tensor<1x8x4xf32>
    attributes {trivium.inputs = ["past", "at"], trivium.outputs = ["present"], trivium.state = {present = "past"}} {
  %0 = "tri.group"(%past, %past, %at) ({
  ^bb0(%a: tensor<1x8x4xf32>, %b: tensor<1x8x4xf32>, %c: tensor<1xi64>):
    %1 = "tri.tensor_scatter"(%a, %b, %c) {axis = 1, circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
    "tri.yield"(%1) : (tensor<1x8x4xf32>) -> ()
  }) {target = "cpu"} : (tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
  return %0 : tensor<1x8x4xf32>
}
