// RUN: trivium-opt %s --narrow-states='to=f16' --split-input-file | FileCheck %s
// RUN: trivium-opt %s --narrow-states='to=f32' --split-input-file | FileCheck %s --check-prefix=SAME

// SAME-NOT: f16

// New rows are rounded, and attention reads them as they are.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[KEYS:.*]]: tensor<1x2x8x4xf16>, %[[VALUES:.*]]: tensor<1x2x8x4xf16>, %[[K:.*]]: {{.*}}, %[[V:.*]]: {{.*}}, %[[Q:.*]]: {{.*}}, %[[AT:.*]]: tensor<1xi64>)
// CHECK-SAME:    -> (tensor<1x2x1x4xf32>, tensor<1x2x8x4xf16>, tensor<1x2x8x4xf16>)
// CHECK:         %[[ROWS:.*]] = "tri.cast"(%[[K]]) {saturate = true, to = "f16"}
// CHECK:         %[[NEWKEYS:.*]] = "tri.tensor_scatter"(%[[KEYS]], %[[ROWS]], %[[AT]])
// CHECK:         %[[NEWVALUES:.*]] = "tri.tensor_scatter"(%[[VALUES]], {{.*}}, %[[AT]])
// CHECK-NOT:     to = "f32"
// CHECK:         %[[Y:.*]] = "tri.cached_attention"(%[[Q]], %[[NEWKEYS]], %[[NEWVALUES]], %[[AT]])
// CHECK:         return %[[Y]], %[[NEWKEYS]], %[[NEWVALUES]]
func.func @main(%keys: tensor<1x2x8x4xf32>, %values: tensor<1x2x8x4xf32>, %k: tensor<1x2x1x4xf32>, %v: tensor<1x2x1x4xf32>, %q: tensor<1x2x1x4xf32>, %at: tensor<1xi64>)
    -> (tensor<1x2x1x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>)
    attributes {trivium.inputs = ["keys", "values", "k", "v", "q", "at"], trivium.outputs = ["y", "next_keys", "next_values"], trivium.state = {next_keys = "keys", next_values = "values"}} {
  %0 = "tri.tensor_scatter"(%keys, %k, %at) {axis = 2, circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<1x2x1x4xf32>, tensor<1xi64>) -> tensor<1x2x8x4xf32>
  %1 = "tri.tensor_scatter"(%values, %v, %at) {axis = 2, circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<1x2x1x4xf32>, tensor<1xi64>) -> tensor<1x2x8x4xf32>
  %2 = "tri.cached_attention"(%q, %0, %1, %at) {rows = 8, scale = 0.5} : (tensor<1x2x1x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1xi64>) -> tensor<1x2x1x4xf32>
  return %2, %0, %1 : tensor<1x2x1x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>
}

// -----

// Anything else reads what rows are in f32.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[PAST:.*]]: tensor<1x8x4xf16>, %[[NEW:.*]]: {{.*}}, %[[AT:.*]]: {{.*}})
// CHECK:         %[[NEXT:.*]] = "tri.tensor_scatter"(%[[PAST]]
// CHECK:         %[[WIDE:.*]] = "tri.cast"(%[[NEXT]]) {saturate = true, to = "f32"}
// CHECK:         "tri.relu"(%[[WIDE]])
func.func @main(%past: tensor<1x8x4xf32>, %new: tensor<1x1x4xf32>, %at: tensor<1xi64>) -> (tensor<1x8x4xf32>, tensor<1x8x4xf32>)
    attributes {trivium.inputs = ["past", "new", "at"], trivium.outputs = ["y", "present"], trivium.updates = {present = "past"}} {
  %0 = "tri.tensor_scatter"(%past, %new, %at) {axis = 1, circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
  %1 = "tri.relu"(%0) : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  return %1, %0 : tensor<1x8x4xf32>, tensor<1x8x4xf32>
}

// -----

// A state that is computed otherwise, or read before, stays as it is.
// CHECK-LABEL: func.func @keeps_other_states
// CHECK-NOT:     f16
func.func @keeps_other_states(%h: tensor<4xf32>, %past: tensor<1x8x4xf32>, %new: tensor<1x1x4xf32>, %at: tensor<1xi64>) -> (tensor<4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>)
    attributes {trivium.inputs = ["h", "past", "new", "at"], trivium.outputs = ["next", "y", "present"], trivium.state = {next = "h", present = "past"}} {
  %0 = "tri.relu"(%h) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tri.relu"(%past) : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %2 = "tri.tensor_scatter"(%past, %new, %at) {axis = 1, circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>
}
