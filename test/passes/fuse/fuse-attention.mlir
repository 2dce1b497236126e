// RUN: trivium-opt %s --fuse-attention --eliminate | FileCheck %s

// The keys come transposed; the scale stands at the scores.
// CHECK-LABEL: func.func @fuses_scale_of_scores
// CHECK-SAME:    (%[[Q:.*]]: tensor<2x3x4xf32>, %[[K:.*]]: tensor<2x4x5xf32>, %[[V:.*]]: tensor<2x5x6xf32>)
// CHECK-NEXT:    %[[T:.*]] = "tri.transpose"(%[[K]]) {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT:    %[[Y:.*]] = "tri.attention"(%[[Q]], %[[T]], %[[V]]) {causal = false, {{.*}}scale = 5.0
// CHECK-NEXT:    return %[[Y]]
func.func @fuses_scale_of_scores(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x5x6xf32>) -> tensor<2x3x6xf32> {
  %two = "tri.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tri.mat_mul"(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %d = "tri.div"(%s, %two) : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
  %p = "tri.softmax"(%d) {axis = -1} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<2x3x5xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// As torch exports it: the root of the scale at both factors, zero for NaN after the softmax.
// CHECK-LABEL: func.func @fuses_exported_attention
// CHECK-SAME:    (%[[Q:.*]]: tensor<2x3x4xf32>, %[[K:.*]]: tensor<2x4x5xf32>, %[[V:.*]]: tensor<2x5x6xf32>, %[[M:.*]]: tensor<1x3x5xf32>)
// CHECK:         %[[T:.*]] = "tri.transpose"(%[[K]])
// CHECK-NEXT:    %[[Y:.*]] = "tri.attention"(%[[Q]], %[[T]], %[[V]], %[[M]]) {causal = false, {{.*}}scale = 2.5
// CHECK-NEXT:    return %[[Y]]
func.func @fuses_exported_attention(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x5x6xf32>, %m: tensor<1x3x5xf32>) -> tensor<2x3x6xf32> {
  %root = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "tri.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %a = "tri.mul"(%q, %root) : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %b = "tri.mul"(%k, %root) : (tensor<2x4x5xf32>, tensor<f32>) -> tensor<2x4x5xf32>
  %s = "tri.mat_mul"(%a, %b) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %t = "tri.add"(%s, %m) : (tensor<2x3x5xf32>, tensor<1x3x5xf32>) -> tensor<2x3x5xf32>
  %p = "tri.softmax"(%t) {axis = -1} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %n = "tri.is_nan"(%p) : (tensor<2x3x5xf32>) -> tensor<2x3x5xi1>
  %w = "tri.where"(%n, %zero, %p) : (tensor<2x3x5xi1>, tensor<f32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = "tri.mat_mul"(%w, %v) : (tensor<2x3x5xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// Adding minus infinity where a condition does not hold is a mask of bools.
// CHECK-LABEL: func.func @fuses_condition_behind_mask
// CHECK-SAME:    %[[C:[^ ]*]]: tensor<3x5xi1>)
// CHECK:         "tri.attention"(%{{.*}}, %{{.*}}, %{{.*}}, %[[C]])
func.func @fuses_condition_behind_mask(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x5x6xf32>, %c: tensor<3x5xi1>) -> tensor<2x3x6xf32> {
  %zero = "tri.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %low = "tri.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %m = "tri.where"(%c, %zero, %low) : (tensor<3x5xi1>, tensor<f32>, tensor<f32>) -> tensor<3x5xf32>
  %s = "tri.mat_mul"(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %t = "tri.add"(%m, %s) : (tensor<3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %p = "tri.softmax"(%t) {axis = 2} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<2x3x5xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// A constant that lets each query see the keys up to its own place.
// CHECK-LABEL: func.func @fuses_causal_mask
// CHECK:         "tri.attention"(%{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}}) {causal = true
func.func @fuses_causal_mask(%q: tensor<1x2x4xf32>, %k: tensor<1x4x2xf32>, %v: tensor<1x2x6xf32>) -> tensor<1x2x6xf32> {
  %m = "tri.constant"() {value = dense<[[0.0, -3.4028234663852886e+38], [0.0, 0.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %s = "tri.mat_mul"(%q, %k) : (tensor<1x2x4xf32>, tensor<1x4x2xf32>) -> tensor<1x2x2xf32>
  %t = "tri.add"(%s, %m) : (tensor<1x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2xf32>
  %p = "tri.softmax"(%t) {axis = 2} : (tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<1x2x2xf32>, tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
  return %y : tensor<1x2x6xf32>
}

// Masks stay in the order of the model; the second drops scores where it is true.
// CHECK-LABEL: func.func @fuses_two_selections
// CHECK-SAME:    %[[C:[^ ]*]]: tensor<3x5xi1>, %[[D:[^ ]*]]: tensor<3x5xi1>)
// CHECK:         %[[N:.*]] = "tri.not"(%[[D]])
// CHECK:         "tri.attention"(%{{.*}}, %{{.*}}, %{{.*}}, %[[C]], %[[N]]) {{.*}}fills = array<f64>
func.func @fuses_two_selections(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x5x6xf32>, %c: tensor<3x5xi1>, %d: tensor<3x5xi1>) -> tensor<2x3x6xf32> {
  %low = "tri.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %s = "tri.mat_mul"(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %t = "tri.where"(%c, %s, %low) : (tensor<3x5xi1>, tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
  %u = "tri.where"(%d, %low, %t) : (tensor<3x5xi1>, tensor<f32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %p = "tri.softmax"(%u) {axis = 2} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<2x3x5xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// A mask before the scale is scaled with the scores.
// CHECK-LABEL: func.func @scales_the_mask
// CHECK-SAME:    %[[M:[^ ]*]]: tensor<3x5xf32>)
// CHECK:         %[[S:.*]] = "tri.mul"(%[[M]]
// CHECK:         "tri.attention"(%{{.*}}, %{{.*}}, %{{.*}}, %[[S]]) {{.*}}scale = 2.0
func.func @scales_the_mask(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x5xf32>) -> tensor<2x3x6xf32> {
  %two = "tri.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tri.mat_mul"(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %t = "tri.add"(%s, %m) : (tensor<2x3x5xf32>, tensor<3x5xf32>) -> tensor<2x3x5xf32>
  %u = "tri.mul"(%t, %two) : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
  %p = "tri.softmax"(%u) {axis = 2} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<2x3x5xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// The model returns the weights, too.
// CHECK-LABEL: func.func @keeps_weights_with_two_users
// CHECK:         "tri.softmax"
func.func @keeps_weights_with_two_users(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x5x6xf32>) -> (tensor<2x3x6xf32>, tensor<2x3x5xf32>) {
  %s = "tri.mat_mul"(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %p = "tri.softmax"(%s) {axis = -1} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<2x3x5xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %y, %p : tensor<2x3x6xf32>, tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @keeps_softmax_over_queries
// CHECK:         "tri.softmax"
func.func @keeps_softmax_over_queries(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x5x6xf32>) -> tensor<2x3x6xf32> {
  %s = "tri.mat_mul"(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %p = "tri.softmax"(%s) {axis = 1} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<2x3x5xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// The heads mix between scores and softmax.
// CHECK-LABEL: func.func @keeps_scores_that_are_changed
// CHECK:         "tri.softmax"
func.func @keeps_scores_that_are_changed(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x5x6xf32>) -> tensor<2x3x6xf32> {
  %s = "tri.mat_mul"(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %t = "tri.tanh"(%s) : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %p = "tri.softmax"(%t) {axis = -1} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<2x3x5xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// All heads have the same values: that is not attention of ours.
// CHECK-LABEL: func.func @keeps_values_that_broadcast
// CHECK:         "tri.softmax"
func.func @keeps_values_that_broadcast(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<1x5x6xf32>) -> tensor<2x3x6xf32> {
  %s = "tri.mat_mul"(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %p = "tri.softmax"(%s) {axis = -1} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<2x3x5xf32>, tensor<1x5x6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// A number in place of scores need not be low: the attention puts the same number there.
// CHECK-LABEL: func.func @fuses_where_with_a_number
// CHECK-SAME:    %[[C:[^ ]*]]: tensor<3x5xi1>)
// CHECK:         "tri.attention"(%{{.*}}, %{{.*}}, %{{.*}}, %[[C]]) {{.*}}fills = array<f64: -5.000000e+00>
func.func @fuses_where_with_a_number(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x5x6xf32>, %c: tensor<3x5xi1>) -> tensor<2x3x6xf32> {
  %low = "tri.constant"() {value = dense<-5.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tri.mat_mul"(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %t = "tri.where"(%c, %s, %low) : (tensor<3x5xi1>, tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
  %p = "tri.softmax"(%t) {axis = 2} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<2x3x5xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// The number is scaled with the scores.
// CHECK-LABEL: func.func @scales_the_number
// CHECK:         "tri.attention"({{.*}}fills = array<f64: -3.000000e+09>{{.*}}scale = 3.0
func.func @scales_the_number(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x5x6xf32>, %c: tensor<3x5xi1>) -> tensor<2x3x6xf32> {
  %low = "tri.constant"() {value = dense<-1.0e9> : tensor<f32>} : () -> tensor<f32>
  %three = "tri.constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tri.mat_mul"(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %t = "tri.where"(%c, %s, %low) : (tensor<3x5xi1>, tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
  %u = "tri.mul"(%t, %three) : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
  %p = "tri.softmax"(%u) {axis = 2} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<2x3x5xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// A triangle of a number that scores may reach is a mask as others are.
// CHECK-LABEL: func.func @keeps_triangle_of_a_number
// CHECK:         "tri.attention"({{.*}}) {causal = false, fills = array<f64: -1.000000e+09>
func.func @keeps_triangle_of_a_number(%q: tensor<1x2x4xf32>, %k: tensor<1x4x2xf32>, %v: tensor<1x2x6xf32>) -> tensor<1x2x6xf32> {
  %m = "tri.constant"() {value = dense<[[true, false], [true, true]]> : tensor<2x2xi1>} : () -> tensor<2x2xi1>
  %low = "tri.constant"() {value = dense<-1.0e9> : tensor<f32>} : () -> tensor<f32>
  %s = "tri.mat_mul"(%q, %k) : (tensor<1x2x4xf32>, tensor<1x4x2xf32>) -> tensor<1x2x2xf32>
  %t = "tri.where"(%m, %s, %low) : (tensor<2x2xi1>, tensor<1x2x2xf32>, tensor<f32>) -> tensor<1x2x2xf32>
  %p = "tri.softmax"(%t) {axis = 2} : (tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<1x2x2xf32>, tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
  return %y : tensor<1x2x6xf32>
}

// A triangle of the lowest number beside another mask: a query may see no key but later ones.
// CHECK-LABEL: func.func @keeps_triangle_beside_another_mask
// CHECK:         "tri.attention"({{.*}}) {causal = false
func.func @keeps_triangle_beside_another_mask(%q: tensor<1x2x4xf32>, %k: tensor<1x4x2xf32>, %v: tensor<1x2x6xf32>, %pad: tensor<1x2xf32>) -> tensor<1x2x6xf32> {
  %m = "tri.constant"() {value = dense<[[0.0, -3.4028234663852886e+38], [0.0, 0.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %s = "tri.mat_mul"(%q, %k) : (tensor<1x2x4xf32>, tensor<1x4x2xf32>) -> tensor<1x2x2xf32>
  %t = "tri.add"(%s, %m) : (tensor<1x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2xf32>
  %u = "tri.add"(%t, %pad) : (tensor<1x2x2xf32>, tensor<1x2xf32>) -> tensor<1x2x2xf32>
  %p = "tri.softmax"(%u) {axis = 2} : (tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<1x2x2xf32>, tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
  return %y : tensor<1x2x6xf32>
}

// One of minus infinity is causal beside another mask, too, even before it.
// CHECK-LABEL: func.func @fuses_causal_mask_beside_another
// CHECK-SAME:    %[[PAD:[^ ]*]]: tensor<1x2xf32>)
// CHECK:         "tri.attention"(%{{.*}}, %{{.*}}, %{{.*}}, %[[PAD]]) {causal = true
func.func @fuses_causal_mask_beside_another(%q: tensor<1x2x4xf32>, %k: tensor<1x4x2xf32>, %v: tensor<1x2x6xf32>, %pad: tensor<1x2xf32>) -> tensor<1x2x6xf32> {
  %m = "tri.constant"() {value = dense<[[0.0, 0xFF800000], [0.0, 0.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %s = "tri.mat_mul"(%q, %k) : (tensor<1x2x4xf32>, tensor<1x4x2xf32>) -> tensor<1x2x2xf32>
  %t = "tri.add"(%s, %m) : (tensor<1x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2xf32>
  %u = "tri.add"(%t, %pad) : (tensor<1x2x2xf32>, tensor<1x2xf32>) -> tensor<1x2x2xf32>
  %p = "tri.softmax"(%u) {axis = 2} : (tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<1x2x2xf32>, tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
  return %y : tensor<1x2x6xf32>
}

// Another number for each query is not an attribute.
// CHECK-LABEL: func.func @keeps_where_with_several_numbers
// CHECK:         "tri.softmax"
func.func @keeps_where_with_several_numbers(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x5x6xf32>, %c: tensor<3x5xi1>) -> tensor<2x3x6xf32> {
  %low = "tri.constant"() {value = dense<[[-5.0], [-6.0], [-7.0]]> : tensor<3x1xf32>} : () -> tensor<3x1xf32>
  %s = "tri.mat_mul"(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %t = "tri.where"(%c, %s, %low) : (tensor<3x5xi1>, tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
  %p = "tri.softmax"(%t) {axis = 2} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<2x3x5xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// A mask that is added before a scale is rounded otherwise when it is scaled itself, unless by a
// power of two: a query whose keys are all masked would see the difference.
// CHECK-LABEL: func.func @keeps_mask_before_other_scale
// CHECK:         "tri.softmax"
func.func @keeps_mask_before_other_scale(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x5xf32>) -> tensor<2x3x6xf32> {
  %three = "tri.constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tri.mat_mul"(%q, %k) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %t = "tri.add"(%s, %m) : (tensor<2x3x5xf32>, tensor<3x5xf32>) -> tensor<2x3x5xf32>
  %u = "tri.mul"(%t, %three) : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
  %p = "tri.softmax"(%u) {axis = 2} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = "tri.mat_mul"(%p, %v) : (tensor<2x3x5xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}
