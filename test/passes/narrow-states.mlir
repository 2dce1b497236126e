// RUN: trivium-opt %s --narrow-states='to=f16' --split-input-file | FileCheck %s
// RUN: trivium-opt %s --narrow-states='to=f32' --split-input-file | FileCheck %s --check-prefix=SAME
// RUN: trivium-opt %s --narrow-states='to=i8' --split-input-file | FileCheck %s --check-prefix=BYTES

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

// Rows of bytes have scales, which are states of their own.
// BYTES-LABEL: func.func @main
// BYTES-SAME:    (%[[KEYS:.*]]: tensor<1x2x8x4xi8>, %[[VALUES:.*]]: tensor<1x2x8x4xi8>, %[[K:.*]]: {{.*}}, %[[V:.*]]: {{.*}}, %[[Q:.*]]: {{.*}}, %[[AT:.*]]: tensor<1xi64>, %[[KSCALES:.*]]: tensor<1x2x8xf32>, %[[VSCALES:.*]]: tensor<1x2x8xf32>)
// BYTES-SAME:    -> (tensor<1x2x1x4xf32>, tensor<1x2x8x4xi8>, tensor<1x2x8x4xi8>, tensor<1x2x8xf32>, tensor<1x2x8xf32>)
// BYTES-SAME:    trivium.inputs = ["keys", "values", "k", "v", "q", "at", "keys.scales", "values.scales"]
// BYTES-SAME:    trivium.outputs = ["y", "next_keys", "next_values", "next_keys.scales", "next_values.scales"]
// BYTES-SAME:    trivium.state = {next_keys = "keys", next_keys.scales = "keys.scales", next_values = "values", next_values.scales = "values.scales"}
// BYTES:         %[[ROWS:.*]]:2 = "tri.quantize_rows"(%[[K]])
// BYTES:         %[[NEWKEYS:.*]] = "tri.tensor_scatter"(%[[KEYS]], %[[ROWS]]#0, %[[AT]]) {axis = 2 : i64, circular = true
// BYTES:         %[[NEWKSCALES:.*]] = "tri.tensor_scatter"(%[[KSCALES]], %[[ROWS]]#1, %[[AT]]) {axis = 2 : i64, circular = true
// BYTES:         %[[NEWVALUES:.*]] = "tri.tensor_scatter"(%[[VALUES]]
// BYTES:         %[[NEWVSCALES:.*]] = "tri.tensor_scatter"(%[[VSCALES]]
// BYTES-NOT:     tri.mul
// BYTES:         %[[Y:.*]] = "tri.cached_attention"(%[[Q]], %[[NEWKEYS]], %[[NEWVALUES]], %[[AT]], %[[NEWKSCALES]], %[[NEWVSCALES]])
// BYTES:         return %[[Y]], %[[NEWKEYS]], %[[NEWVALUES]], %[[NEWKSCALES]], %[[NEWVSCALES]]
func.func @main(%keys: tensor<1x2x8x4xf32>, %values: tensor<1x2x8x4xf32>, %k: tensor<1x2x1x4xf32>, %v: tensor<1x2x1x4xf32>, %q: tensor<1x2x1x4xf32>, %at: tensor<1xi64>)
    -> (tensor<1x2x1x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>)
    attributes {trivium.inputs = ["keys", "values", "k", "v", "q", "at"], trivium.outputs = ["y", "next_keys", "next_values"], trivium.state = {next_keys = "keys", next_values = "values"}} {
  %0 = "tri.tensor_scatter"(%keys, %k, %at) {axis = 2, circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<1x2x1x4xf32>, tensor<1xi64>) -> tensor<1x2x8x4xf32>
  %1 = "tri.tensor_scatter"(%values, %v, %at) {axis = 2, circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<1x2x1x4xf32>, tensor<1xi64>) -> tensor<1x2x8x4xf32>
  %2 = "tri.cached_attention"(%q, %0, %1, %at) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rows = 8, scale = 0.5} : (tensor<1x2x1x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1xi64>) -> tensor<1x2x1x4xf32>
  return %2, %0, %1 : tensor<1x2x1x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>
}

// -----

// Anything else reads what rows are in f32.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[PAST:.*]]: tensor<1x8x4xf16>, %[[NEW:.*]]: {{.*}}, %[[AT:.*]]: {{.*}})
// CHECK:         %[[NEXT:.*]] = "tri.tensor_scatter"(%[[PAST]]
// CHECK:         %[[WIDE:.*]] = "tri.cast"(%[[NEXT]]) {saturate = true, to = "f32"}
// CHECK:         "tri.relu"(%[[WIDE]])
// BYTES-LABEL: func.func @main
// BYTES-SAME:    trivium.updates = {present = "past", present.scales = "past.scales"}
// BYTES:         %[[WIDE:.*]] = "tri.mul"
// BYTES:         "tri.relu"(%[[WIDE]])
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
// BYTES-LABEL: func.func @keeps_other_states
// BYTES-NOT:     i8
func.func @keeps_other_states(%h: tensor<4xf32>, %past: tensor<1x8x4xf32>, %new: tensor<1x1x4xf32>, %at: tensor<1xi64>) -> (tensor<4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>)
    attributes {trivium.inputs = ["h", "past", "new", "at"], trivium.outputs = ["next", "y", "present"], trivium.state = {next = "h", present = "past"}} {
  %0 = "tri.relu"(%h) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tri.relu"(%past) : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %2 = "tri.tensor_scatter"(%past, %new, %at) {axis = 1, circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>, tensor<1xi64>) -> tensor<1x8x4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>
}

// -----

// A row of bytes is written as a whole, or not at all; halves have no rows.
// CHECK-LABEL: func.func @keeps_columns
// CHECK-SAME:    tensor<1x4x8xf16>
// BYTES-LABEL: func.func @keeps_columns
// BYTES-NOT:     i8
func.func @keeps_columns(%past: tensor<1x4x8xf32>, %new: tensor<1x4x1xf32>, %at: tensor<1xi64>) -> tensor<1x4x8xf32>
    attributes {trivium.inputs = ["past", "new", "at"], trivium.outputs = ["present"], trivium.updates = {present = "past"}} {
  %0 = "tri.tensor_scatter"(%past, %new, %at) {axis = 2, circular = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x4x8xf32>, tensor<1x4x1xf32>, tensor<1xi64>) -> tensor<1x4x8xf32>
  return %0 : tensor<1x4x8xf32>
}
