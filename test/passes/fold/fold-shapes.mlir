// RUN: trivium-opt %s --fold-shapes --eliminate | FileCheck %s

// CHECK-LABEL: func.func @merges_reshapes
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK-NEXT:    %[[Y:.*]] = "tri.reshape"(%[[X]]) {shape = array<i64: 4, 6>}
// CHECK-NEXT:    return %[[Y]]
func.func @merges_reshapes(%x: tensor<2x3x4xf32>) -> tensor<4x6xf32> {
  %a = "tri.reshape"(%x) {shape = array<i64: 24>} : (tensor<2x3x4xf32>) -> tensor<24xf32>
  %y = "tri.reshape"(%a) {shape = array<i64: 4, 6>} : (tensor<24xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// Reshapes that undo each other disappear.
// CHECK-LABEL: func.func @cancels_reshapes
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @cancels_reshapes(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = "tri.reshape"(%x) {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %y = "tri.reshape"(%a) {shape = array<i64: 2, 3>} : (tensor<6xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @merges_transposes
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK-NEXT:    "tri.transpose"(%[[X]]) {permutation = array<i64: 0, 2, 1>} {{.*}} -> tensor<2x4x3xf32>
func.func @merges_transposes(%x: tensor<2x3x4xf32>) -> tensor<2x4x3xf32> {
  %a = "tri.transpose"(%x) {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %y = "tri.transpose"(%a) {permutation = array<i64: 1, 0, 2>} : (tensor<4x2x3xf32>) -> tensor<2x4x3xf32>
  return %y : tensor<2x4x3xf32>
}

// Moving an axis of size 1 moves no element.
// CHECK-LABEL: func.func @reshapes_instead_of_moving_units
// CHECK:         "tri.reshape"(%{{.*}}) {shape = array<i64: 2, 3, 1>}
func.func @reshapes_instead_of_moving_units(%x: tensor<2x1x3xf32>) -> tensor<2x3x1xf32> {
  %y = "tri.transpose"(%x) {permutation = array<i64: 0, 2, 1>} : (tensor<2x1x3xf32>) -> tensor<2x3x1xf32>
  return %y : tensor<2x3x1xf32>
}

// An exporter transposes matrices of many heads in three dimensions, with reshapes around it.
// CHECK-LABEL: func.func @moves_transpose_before_reshape
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x4x5xf32>)
// CHECK-NEXT:    %[[Y:.*]] = "tri.transpose"(%[[X]]) {permutation = array<i64: 0, 1, 3, 2>}
// CHECK-NEXT:    return %[[Y]]
func.func @moves_transpose_before_reshape(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x5x4xf32> {
  %a = "tri.reshape"(%x) {shape = array<i64: 6, 4, 5>} : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %b = "tri.transpose"(%a) {permutation = array<i64: 0, 2, 1>} : (tensor<6x4x5xf32>) -> tensor<6x5x4xf32>
  %y = "tri.reshape"(%b) {shape = array<i64: 2, 3, 5, 4>} : (tensor<6x5x4xf32>) -> tensor<2x3x5x4xf32>
  return %y : tensor<2x3x5x4xf32>
}

// The sum broadcasts by itself; the product of the expanded value with itself does not.
// CHECK-LABEL: func.func @drops_expansion_before_broadcast
// CHECK-SAME:    (%[[X:.*]]: tensor<1x3xf32>, %[[Z:.*]]: tensor<2x3xf32>)
// CHECK-NEXT:    "tri.add"(%[[X]], %[[Z]])
func.func @drops_expansion_before_broadcast(%x: tensor<1x3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = "tri.expand"(%x) {shape = array<i64: 2, 3>} : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %y = "tri.add"(%a, %z) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @merges_expansions
// CHECK-SAME:    (%[[X:.*]]: tensor<1x1xf32>)
// CHECK-NEXT:    "tri.expand"(%[[X]]) {shape = array<i64: 2, 3>}
func.func @merges_expansions(%x: tensor<1x1xf32>) -> tensor<2x3xf32> {
  %a = "tri.expand"(%x) {shape = array<i64: 1, 3>} : (tensor<1x1xf32>) -> tensor<1x3xf32>
  %y = "tri.expand"(%a) {shape = array<i64: 2, 3>} : (tensor<1x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// Scores broadcast their masks.
// CHECK-LABEL: func.func @drops_expansion_of_a_mask
// CHECK-SAME:    (%[[Q:.*]]: tensor<2x3x4xf32>, %[[K:.*]]: tensor<2x5x4xf32>, %[[V:.*]]: tensor<2x5x6xf32>, %[[MASK:.*]]: tensor<1x5xf32>)
// CHECK-NEXT:    "tri.attention"(%[[Q]], %[[K]], %[[V]], %[[MASK]])
func.func @drops_expansion_of_a_mask(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf32>, %mask: tensor<1x5xf32>) -> tensor<2x3x6xf32> {
  %a = "tri.expand"(%mask) {shape = array<i64: 3, 5>} : (tensor<1x5xf32>) -> tensor<3x5xf32>
  %y = "tri.attention"(%q, %k, %v, %a) {scale = 0.5} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<3x5xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// Queries give the result its shape.
// CHECK-LABEL: func.func @keeps_expansion_of_queries
// CHECK:         %[[A:.*]] = "tri.expand"
// CHECK:         "tri.attention"(%[[A]]
func.func @keeps_expansion_of_queries(%q: tensor<1x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf32>) -> tensor<2x3x6xf32> {
  %a = "tri.expand"(%q) {shape = array<i64: 2, 3, 4>} : (tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
  %y = "tri.attention"(%a, %k, %v) {scale = 0.5} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// CHECK-LABEL: func.func @keeps_expansion_that_gives_the_shape
// CHECK:         %[[A:.*]] = "tri.expand"
// CHECK:         "tri.mul"({{.*}}%[[A]]
func.func @keeps_expansion_that_gives_the_shape(%x: tensor<1x3xf32>) -> tensor<2x3xf32> {
  %a = "tri.expand"(%x) {shape = array<i64: 2, 3>} : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %y = "tri.mul"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// The reshape splits an axis, and the transpose separates the parts.
// CHECK-LABEL: func.func @keeps_transpose_after_split
// CHECK:         "tri.reshape"
// CHECK-NEXT:    "tri.transpose"
// CHECK-NEXT:    "tri.reshape"
func.func @keeps_transpose_after_split(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %a = "tri.reshape"(%x) {shape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %b = "tri.transpose"(%a) {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %y = "tri.reshape"(%b) {shape = array<i64: 6, 4>} : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// With nothing to merge with, the transpose stays where it is.
// CHECK-LABEL: func.func @keeps_lone_transpose_after_merge
// CHECK:         "tri.reshape"
// CHECK-NEXT:    "tri.transpose"
// CHECK-NEXT:    return
func.func @keeps_lone_transpose_after_merge(%x: tensor<2x3x4xf32>) -> tensor<4x6xf32> {
  %a = "tri.reshape"(%x) {shape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %y = "tri.transpose"(%a) {permutation = array<i64: 1, 0>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// A convolution of one axis comes as one of two: its bias and its activation belong to it.
// CHECK-LABEL: func.func @moves_elementwise_before_units
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x1x8xf32>, %[[W:.*]]: tensor<4x3x1x1xf32>, %[[B:.*]]: tensor<4x1xf32>)
// CHECK:         %[[C:.*]] = "tri.conv"(%[[X]], %[[W]])
// CHECK:         %[[T:.*]] = "tri.reshape"(%[[B]]) {shape = array<i64: 1, 4, 1, 1>}
// CHECK-NEXT:    %[[S:.*]] = "tri.add"(%[[C]], %[[T]])
// CHECK-NEXT:    %[[R:.*]] = "tri.relu"(%[[S]])
// CHECK-NEXT:    return %[[R]]
func.func @moves_elementwise_before_units(%x: tensor<2x3x1x8xf32>, %w: tensor<4x3x1x1xf32>, %b: tensor<4x1xf32>) -> tensor<2x4x1x8xf32> {
  %c = "tri.conv"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1} : (tensor<2x3x1x8xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x1x8xf32>
  %a = "tri.reshape"(%c) {shape = array<i64: 2, 4, 8>} : (tensor<2x4x1x8xf32>) -> tensor<2x4x8xf32>
  %s = "tri.add"(%a, %b) : (tensor<2x4x8xf32>, tensor<4x1xf32>) -> tensor<2x4x8xf32>
  %r = "tri.relu"(%s) : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %y = "tri.reshape"(%r) {shape = array<i64: 2, 4, 1, 8>} : (tensor<2x4x8xf32>) -> tensor<2x4x1x8xf32>
  return %y : tensor<2x4x1x8xf32>
}

// Two values that lost the same axis: what is left is one reshape.
// CHECK-LABEL: func.func @moves_sum_of_two_before_units
// CHECK-SAME:    (%[[X:.*]]: tensor<2x1x3xf32>)
// CHECK:         %[[A:.*]] = "tri.exp"(%[[X]])
// CHECK:         %[[B:.*]] = "tri.neg"(%[[X]])
// CHECK:         %[[S:.*]] = "tri.add"(%[[A]], %[[B]])
// CHECK-NEXT:    %[[Y:.*]] = "tri.reshape"(%[[S]]) {shape = array<i64: 2, 3>}
// CHECK-NEXT:    return %[[Y]]
func.func @moves_sum_of_two_before_units(%x: tensor<2x1x3xf32>) -> tensor<2x3xf32> {
  %a = "tri.exp"(%x) : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %b = "tri.neg"(%x) : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %c = "tri.reshape"(%a) {shape = array<i64: 2, 3>} : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  %d = "tri.reshape"(%b) {shape = array<i64: 2, 3>} : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  %y = "tri.add"(%c, %d) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// The other operand is computed, too: it would get the reshape, which would be moved back.
// CHECK-LABEL: func.func @keeps_reshape_beside_computed
// CHECK:         %[[A:.*]] = "tri.relu"
// CHECK:         %[[C:.*]] = "tri.reshape"(%[[A]])
// CHECK:         %[[D:.*]] = "tri.neg"
// CHECK:         %[[Y:.*]] = "tri.mul"(%[[C]], %[[D]])
// CHECK-NEXT:    return %[[Y]]
func.func @keeps_reshape_beside_computed(%x: tensor<2x1x3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = "tri.relu"(%x) : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %c = "tri.reshape"(%a) {shape = array<i64: 2, 3>} : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  %d = "tri.neg"(%z) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "tri.mul"(%c, %d) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// The reshape merges axes that the bias tells apart.
// CHECK-LABEL: func.func @keeps_elementwise_behind_merge
// CHECK:         "tri.reshape"
// CHECK-NEXT:    "tri.add"
func.func @keeps_elementwise_behind_merge(%x: tensor<2x3x4xf32>, %b: tensor<12xf32>) -> tensor<2x12xf32> {
  %a = "tri.exp"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %c = "tri.reshape"(%a) {shape = array<i64: 2, 12>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %y = "tri.add"(%c, %b) : (tensor<2x12xf32>, tensor<12xf32>) -> tensor<2x12xf32>
  return %y : tensor<2x12xf32>
}

// The sum broadcasts what was reshaped.
// CHECK-LABEL: func.func @keeps_elementwise_that_broadcasts
// CHECK:         "tri.reshape"
// CHECK-NEXT:    "tri.add"
func.func @keeps_elementwise_that_broadcasts(%x: tensor<3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = "tri.exp"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %c = "tri.reshape"(%a) {shape = array<i64: 1, 3>} : (tensor<3xf32>) -> tensor<1x3xf32>
  %y = "tri.add"(%c, %z) : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// The value before the reshape is needed anyway: nothing would fuse with what makes it.
// CHECK-LABEL: func.func @keeps_elementwise_behind_shared_value
// CHECK:         "tri.reshape"
// CHECK-NEXT:    "tri.relu"
func.func @keeps_elementwise_behind_shared_value(%x: tensor<2x1x3xf32>) -> (tensor<2x1x3xf32>, tensor<2x3xf32>) {
  %a = "tri.exp"(%x) : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %c = "tri.reshape"(%a) {shape = array<i64: 2, 3>} : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  %y = "tri.relu"(%c) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %a, %y : tensor<2x1x3xf32>, tensor<2x3xf32>
}
