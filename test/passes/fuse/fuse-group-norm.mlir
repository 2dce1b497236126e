// RUN: trivium-opt %s --fuse-group-norm --eliminate | FileCheck %s

// Two groups of two channels; the scale of a group is that of its channels.
// CHECK-LABEL: func.func @fuses
// CHECK-SAME:    (%[[X:.*]]: tensor<1x4x3x5xf32>)
// CHECK-DAG:     %[[S:.*]] = "tri.constant"() {value = dense<[1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00]>
// CHECK-DAG:     %[[B:.*]] = "tri.constant"() {value = dense<0.000000e+00> : tensor<4xf32>}
// CHECK:         %[[Y:.*]] = "tri.group_norm"(%[[X]], %[[S]], %[[B]]) {{.*}}groups = 2
// CHECK-NEXT:    return %[[Y]]
func.func @fuses(%x: tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32> {
  %s = "tri.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = "tri.constant"() {value = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %r = "tri.reshape"(%x) {shape = array<i64: 1, 2, 30>} : (tensor<1x4x3x5xf32>) -> tensor<1x2x30xf32>
  %n = "tri.instance_norm"(%r, %s, %b) : (tensor<1x2x30xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x30xf32>
  %y = "tri.reshape"(%n) {shape = array<i64: 1, 4, 3, 5>} : (tensor<1x2x30xf32>) -> tensor<1x4x3x5xf32>
  return %y : tensor<1x4x3x5xf32>
}

// Groups of three of the four rows of two channels are no groups of channels.
// CHECK-LABEL: func.func @keeps_groups_that_cut_channels
// CHECK:         "tri.instance_norm"
func.func @keeps_groups_that_cut_channels(%x: tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32> {
  %s = "tri.constant"() {value = dense<1.0> : tensor<3xf32>} : () -> tensor<3xf32>
  %r = "tri.reshape"(%x) {shape = array<i64: 1, 3, 10>} : (tensor<1x2x3x5xf32>) -> tensor<1x3x10xf32>
  %n = "tri.instance_norm"(%r, %s, %s) : (tensor<1x3x10xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x10xf32>
  %y = "tri.reshape"(%n) {shape = array<i64: 1, 2, 3, 5>} : (tensor<1x3x10xf32>) -> tensor<1x2x3x5xf32>
  return %y : tensor<1x2x3x5xf32>
}

// The result does not go back to the shape that the input came from.
// CHECK-LABEL: func.func @keeps_other_shape
// CHECK:         "tri.instance_norm"
func.func @keeps_other_shape(%x: tensor<1x4x3x5xf32>) -> tensor<1x4x15xf32> {
  %s = "tri.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %r = "tri.reshape"(%x) {shape = array<i64: 1, 2, 30>} : (tensor<1x4x3x5xf32>) -> tensor<1x2x30xf32>
  %n = "tri.instance_norm"(%r, %s, %s) : (tensor<1x2x30xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x30xf32>
  %y = "tri.reshape"(%n) {shape = array<i64: 1, 4, 15>} : (tensor<1x2x30xf32>) -> tensor<1x4x15xf32>
  return %y : tensor<1x4x15xf32>
}

// CHECK-LABEL: func.func @keeps_norm_with_two_users
// CHECK:         "tri.instance_norm"
func.func @keeps_norm_with_two_users(%x: tensor<1x4x3xf32>) -> (tensor<1x4x3xf32>, tensor<1x2x6xf32>) {
  %s = "tri.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %r = "tri.reshape"(%x) {shape = array<i64: 1, 2, 6>} : (tensor<1x4x3xf32>) -> tensor<1x2x6xf32>
  %n = "tri.instance_norm"(%r, %s, %s) : (tensor<1x2x6xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x6xf32>
  %y = "tri.reshape"(%n) {shape = array<i64: 1, 4, 3>} : (tensor<1x2x6xf32>) -> tensor<1x4x3xf32>
  return %y, %n : tensor<1x4x3xf32>, tensor<1x2x6xf32>
}
