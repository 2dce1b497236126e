// RUN: trivium-opt %s --decompose | FileCheck %s
// RUN: trivium-opt %s --decompose=ops=silu,gemm | FileCheck %s --check-prefix=SOME
// RUN: trivium-opt %s --decompose=ops=linear | FileCheck %s --check-prefix=LINEAR
// RUN: trivium-opt %s --decompose=ops=multihead_attention | FileCheck %s --check-prefix=MODULE

// Rules apply to what rules make: nothing is left that has one.
// CHECK-LABEL: func.func @decomposes_activations
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK-NOT:     tri.silu
// CHECK-NOT:     tri.sigmoid
// CHECK:         "tri.exp"
// CHECK:         "tri.div"
// CHECK:         %[[Y:.*]] = "tri.mul"(%[[X]]
// CHECK:         return %[[Y]]
//
// Or only those for the ops that are named.
// SOME-LABEL:  func.func @decomposes_activations
// SOME:          "tri.sigmoid"
// SOME-NEXT:     "tri.mul"
func.func @decomposes_activations(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tri.silu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @decomposes_gemm
// CHECK-SAME:    (%[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<4x3xf32>, %[[C:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[T:.*]] = "tri.transpose"(%[[B]])
// CHECK-NEXT:    %[[M:.*]] = "tri.mat_mul"(%[[A]], %[[T]])
// CHECK-NEXT:    "tri.add"(%[[M]], %[[C]])
func.func @decomposes_gemm(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>, %c: tensor<4xf32>) -> tensor<2x4xf32> {
  %y = "tri.gemm"(%a, %b, %c) {trans_b = true} : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// A layer on matrices is a gemm, on anything else a product of more axes.
// CHECK-LABEL: func.func @decomposes_linear
// CHECK-SAME:    (%[[X:.*]]: tensor<5x2x3xf32>, %[[W:.*]]: tensor<4x3xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[T:.*]] = "tri.transpose"(%[[W]])
// CHECK-NEXT:    %[[M:.*]] = "tri.mat_mul"(%[[X]], %[[T]])
// CHECK-NEXT:    "tri.add"(%[[M]], %[[B]])
//
// LINEAR-LABEL: func.func @decomposes_linear
// LINEAR:         "tri.mat_mul"
func.func @decomposes_linear(%x: tensor<5x2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> tensor<5x2x4xf32> {
  %y = "tri.linear"(%x, %w, %b) : (tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<5x2x4xf32>
  return %y : tensor<5x2x4xf32>
}

// LINEAR-LABEL: func.func @decomposes_linear_of_a_matrix
// LINEAR-SAME:    (%[[X:.*]]: tensor<2x3xf32>, %[[W:.*]]: tensor<4x3xf32>)
// LINEAR-NEXT:    "tri.gemm"(%[[X]], %[[W]]) {{.*}}trans_b = true
func.func @decomposes_linear_of_a_matrix(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %y = "tri.linear"(%x, %w) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @decomposes_stack_and_unbind
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>)
// CHECK:         "tri.slice"(%[[X]]) {sizes = array<i64: 1, 3>, starts = array<i64: 0, 0>
// CHECK:         "tri.slice"(%[[X]]) {sizes = array<i64: 1, 3>, starts = array<i64: 1, 0>
// CHECK:         "tri.concat"({{.*}}) {axis = 1 : i64} : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
func.func @decomposes_stack_and_unbind(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %a, %b = "tri.unbind"(%x) {axis = 0} : (tensor<2x3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %y = "tri.stack"(%a, %b) {axis = -1} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// What moves by all of an axis stays where it is.
// CHECK-LABEL: func.func @decomposes_roll
// CHECK-SAME:    (%[[X:.*]]: tensor<2x5xf32>)
// CHECK-NEXT:    %[[END:.*]] = "tri.slice"(%[[X]]) {sizes = array<i64: 2, 2>, starts = array<i64: 0, 3>
// CHECK-NEXT:    %[[BEGIN:.*]] = "tri.slice"(%[[X]]) {sizes = array<i64: 2, 3>, starts = array<i64: 0, 0>
// CHECK-NEXT:    %[[Y:.*]] = "tri.concat"(%[[END]], %[[BEGIN]]) {axis = 1 : i64}
// CHECK-NEXT:    return %[[Y]]
func.func @decomposes_roll(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %y = "tri.roll"(%x) {axes = array<i64: 0, 1>, shifts = array<i64: 2, -3>} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @decomposes_channel_shuffle
// CHECK-SAME:    (%[[X:.*]]: tensor<1x6x4xf32>)
// CHECK-NEXT:    %[[S:.*]] = "tri.reshape"(%[[X]]) {shape = array<i64: 1, 2, 3, 4>}
// CHECK-NEXT:    %[[T:.*]] = "tri.transpose"(%[[S]]) {permutation = array<i64: 0, 2, 1, 3>}
// CHECK-NEXT:    "tri.reshape"(%[[T]])
func.func @decomposes_channel_shuffle(%x: tensor<1x6x4xf32>) -> tensor<1x6x4xf32> {
  %y = "tri.channel_shuffle"(%x) {groups = 2} : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
  return %y : tensor<1x6x4xf32>
}

// A module of attention is three projections, attention, and a projection; its weights on average
// are made where they are used.
// MODULE-LABEL: func.func @decomposes_multihead_attention
// MODULE-SAME:    (%[[X:.*]]: tensor<1x5x4xf32>, %[[W:.*]]: tensor<12x4xf32>, %[[OUT:.*]]: tensor<4x4xf32>)
// MODULE-NEXT:    %[[QKV:.*]] = "tri.linear"(%[[X]], %[[W]])
// MODULE-NEXT:    "tri.split"(%[[QKV]]) {axis = 2 : i64, sizes = array<i64: 4, 4, 4>}
// MODULE:         %[[Y:.*]] = "tri.attention"({{.*}}) {{.*}}scale = 0.70710678
// MODULE-NOT:     tri.softmax
// MODULE:         "tri.linear"({{.*}}, %[[OUT]])
func.func @decomposes_multihead_attention(%x: tensor<1x5x4xf32>, %w: tensor<12x4xf32>, %out: tensor<4x4xf32>) -> tensor<1x5x4xf32> {
  %y, %weights = "tri.multihead_attention"(%x, %x, %x, %w, %out) {batch_first = true, heads = 2, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>}
      : (tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>) -> (tensor<1x5x4xf32>, tensor<1x5x5xf32>)
  return %y : tensor<1x5x4xf32>
}

// MODULE-LABEL: func.func @decomposes_attention_with_weights
// MODULE-NOT:     tri.attention
// MODULE:         "tri.softmax"
// MODULE:         %[[MEAN:.*]] = "tri.reduce_mean"
// MODULE:         return %{{.*}}, %[[MEAN]]
func.func @decomposes_attention_with_weights(%x: tensor<5x1x4xf32>, %w: tensor<12x4xf32>, %out: tensor<4x4xf32>) -> (tensor<5x1x4xf32>, tensor<1x5x5xf32>) {
  %y, %weights = "tri.multihead_attention"(%x, %x, %x, %w, %out) {heads = 2, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>}
      : (tensor<5x1x4xf32>, tensor<5x1x4xf32>, tensor<5x1x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>) -> (tensor<5x1x4xf32>, tensor<1x5x5xf32>)
  return %y, %weights : tensor<5x1x4xf32>, tensor<1x5x5xf32>
}

// Half types are normalised in f32.
// CHECK-LABEL: func.func @decomposes_norm_of_halves
// CHECK:         "tri.cast"({{.*}}to = "f32"
// CHECK:         "tri.reduce_mean"({{.*}} -> tensor<2x1xf32>
// CHECK:         "tri.cast"({{.*}}to = "f16"
// CHECK-NEXT:    return
func.func @decomposes_norm_of_halves(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %y = "tri.rms_norm"(%x) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  return %y : tensor<2x3xf16>
}

// Squares of integers wrap around as they are.
// CHECK-LABEL: func.func @keeps_reduction_of_integers
// CHECK:         "tri.reduce_l2"
func.func @keeps_reduction_of_integers(%x: tensor<2xi32>) -> tensor<1xi32> {
  %y = "tri.reduce_l2"(%x) {axes = array<i64: 0>} : (tensor<2xi32>) -> tensor<1xi32>
  return %y : tensor<1xi32>
}

// SOME-LABEL:  func.func @keeps_other_ops
// SOME:          "tri.softmax"
func.func @keeps_other_ops(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tri.softmax"(%x) {axis = 0} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// An expression becomes an op for each function, and one for a part that occurs twice.
// CHECK-LABEL: func.func @decomposes_expression
// CHECK-SAME:    (%[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xi8>)
// CHECK:         %[[C:.*]] = "tri.cast"(%[[B]]) {{.*}}to = "f32"
// CHECK:         %[[S:.*]] = "tri.add"(%[[A]], %[[C]])
// CHECK-NOT:     "tri.add"
// CHECK:         %[[E:.*]] = "tri.expm1"(%[[S]])
// CHECK:         %[[Y:.*]] = "tri.mul"(%[[S]], %[[E]])
// CHECK:         return %[[Y]]
func.func @decomposes_expression(%a: tensor<2x3xf32>, %b: tensor<3xi8>) -> tensor<2x3xf32> {
  %y = "tri.expression"(%a, %b) {expr = "mul(add(@0,@1),expm1(add(@0,@1)))"}
      : (tensor<2x3xf32>, tensor<3xi8>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// Parts that look alike, but are of other numbers, are not one: 1 and 1.0 make other types.
// CHECK-LABEL: func.func @keeps_parts_that_differ
// CHECK:         %[[I:.*]] = "tri.add"({{.*}}) : (tensor<2xi8>, tensor<i8>) -> tensor<2xi8>
// CHECK:         %[[F:.*]] = "tri.add"({{.*}}) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK:         "tri.mul"
func.func @keeps_parts_that_differ(%x: tensor<2xi8>) -> tensor<2xf32> {
  %y = "tri.expression"(%x) {expr = "mul(add(@0,1),add(@0,1.0))"} : (tensor<2xi8>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// Numbers stay numbers until a tensor needs them.
// CHECK-LABEL: func.func @computes_numbers
// CHECK-SAME:    (%[[X:.*]]: tensor<2x8xf32>)
// CHECK:         %[[N:.*]] = "tri.constant"() {value = dense<4.000000e+00> : tensor<f32>}
// CHECK-NEXT:    "tri.div"(%[[X]], %[[N]])
func.func @computes_numbers(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %y = "tri.expression"(%x) {expr = "div(@0,floor_divide(size(@0,1),2))"} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @lists_numbers
// CHECK:         "tri.constant"() {value = dense<[2, -1]> : tensor<2xi64>}
func.func @lists_numbers(%x: tensor<2x8xf32>) -> tensor<2xi64> {
  %y = "tri.expression"(%x) {expr = "[size(@0,0),-1]"} : (tensor<2x8xf32>) -> tensor<2xi64>
  return %y : tensor<2xi64>
}

// An operand alone is itself.
// CHECK-LABEL: func.func @drops_expression_of_one_operand
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @drops_expression_of_one_operand(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tri.expression"(%x) {expr = "int(@0)"} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// Logic of bools is not that of bits.
// CHECK-LABEL: func.func @decomposes_by_kind
// CHECK:         "tri.or"
// CHECK:         "tri.bitwise_or"
func.func @decomposes_by_kind(%a: tensor<2xi1>, %b: tensor<2xi8>) -> (tensor<2xi1>, tensor<2xi8>) {
  %0 = "tri.expression"(%a, %a) {expr = "or(@0,@1)"} : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  %1 = "tri.expression"(%b, %b) {expr = "or(@0,@1)"} : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %0, %1 : tensor<2xi1>, tensor<2xi8>
}

// SOME-LABEL:  func.func @keeps_expression
// SOME:          "tri.expression"
func.func @keeps_expression(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tri.expression"(%x) {expr = "exp(@0)"} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// A layer walks what the one below made; the states of each are its part of all.
// CHECK-LABEL: func.func @decomposes_recurrent_stack
// CHECK-SAME:    (%[[X:.*]]: tensor<2x5x3xf32>, {{.*}}, %[[H:.*]]: tensor<2x2x4xf32>)
// CHECK:         %[[T:.*]] = "tri.transpose"(%[[X]])
// CHECK:         %[[H0:.*]] = "tri.slice"(%[[H]]) {{.*}}starts = array<i64: 0, 0, 0>
// CHECK:         %[[Y0:.*]]:2 = "tri.gru"(%[[T]], {{.*}}, %[[H0]]) {{.*}}linear_before_reset = true
// CHECK:         %[[Z:.*]] = "tri.reshape"(%[[Y0]]#0) {{.*}} -> tensor<5x2x4xf32>
// CHECK:         %[[H1:.*]] = "tri.slice"(%[[H]]) {{.*}}starts = array<i64: 1, 0, 0>
// CHECK:         %[[Y1:.*]]:2 = "tri.gru"(%[[Z]], {{.*}}, %[[H1]])
// CHECK:         %[[LAST:.*]] = "tri.concat"(%[[Y0]]#1, %[[Y1]]#1)
// CHECK:         return {{.*}}, %[[LAST]]
func.func @decomposes_recurrent_stack(%x: tensor<2x5x3xf32>, %w0: tensor<1x12x3xf32>, %w1: tensor<1x12x4xf32>, %r: tensor<1x12x4xf32>, %h: tensor<2x2x4xf32>) -> (tensor<2x5x4xf32>, tensor<2x2x4xf32>) {
  %y:2 = "tri.recurrent_stack"(%x, %w0, %w1, %r, %r, %h)
      {batch_first = true, cell = "gru", hidden_size = 4, operandSegmentSizes = array<i32: 1, 2, 2, 0, 0, 1>}
      : (tensor<2x5x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<1x12x4xf32>, tensor<1x12x4xf32>, tensor<2x2x4xf32>) -> (tensor<2x5x4xf32>, tensor<2x2x4xf32>)
  return %y#0, %y#1 : tensor<2x5x4xf32>, tensor<2x2x4xf32>
}

// What the taps read comes from samples between elements; offsets are moved to the end first.
// CHECK-LABEL: func.func @decomposes_deform_conv
// CHECK-SAME:    (%[[X:.*]]: tensor<1x4x5x5xf32>, %[[W:.*]]: tensor<6x4x3x3xf32>,
// CHECK:         %[[PARTS:.*]] = "tri.reshape"(%[[X]]) {shape = array<i64: 2, 2, 5, 5>}
// CHECK:         "tri.concat"
// CHECK:         %[[GRID:.*]] = "tri.reshape"(%{{.*}}) {shape = array<i64: 2, 9, 9, 2>}
// CHECK:         %[[SEEN:.*]] = "tri.grid_sample"(%[[PARTS]], %[[GRID]])
// CHECK-SAME:      normalized = false
// CHECK:         %[[COLUMNS:.*]] = "tri.reshape"(%[[SEEN]]) {shape = array<i64: 1, 1, 36, 9>}
// CHECK:         "tri.mat_mul"(%{{.*}}, %[[COLUMNS]])
// CHECK-NOT:     "tri.add"
func.func @decomposes_deform_conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>, %o: tensor<1x36x3x3xf32>) -> tensor<1x6x3x3xf32> {
  %y = "tri.deform_conv"(%x, %w, %o) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, offset_group = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>, tensor<1x36x3x3xf32>) -> tensor<1x6x3x3xf32>
  return %y : tensor<1x6x3x3xf32>
}
