// RUN: trivium-opt %s --fuse-epilogues | FileCheck %s

// The product, its bias, the number it is multiplied with and the residual are one kernel. The
// number is copied into it; everything else goes in as an input.
// CHECK-LABEL: func.func @fuses_chain
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>, %[[R:.*]]: tensor<2x4xf32>)
// CHECK-DAG:     %[[W:.*]] = "tri.weight"() {name = "w"
// CHECK-DAG:     %[[B:.*]] = "tri.weight"() {name = "b"
// CHECK:         %[[Y:.*]] = "tri.group"(%[[X]], %[[W]], %[[B]], %[[R]]) ({
// CHECK-NEXT:    ^bb0(%[[X1:.*]]: tensor<2x3xf32>, %[[W1:.*]]: tensor<3x4xf32>, %[[B1:.*]]: tensor<4xf32>, %[[R1:.*]]: tensor<2x4xf32>):
// CHECK-NEXT:      %[[M:.*]] = "tri.mat_mul"(%[[X1]], %[[W1]])
// CHECK-NEXT:      %[[A:.*]] = "tri.add"(%[[M]], %[[B1]])
// CHECK-NEXT:      %[[H:.*]] = "tri.constant"()
// CHECK-NEXT:      %[[S:.*]] = "tri.mul"(%[[A]], %[[H]])
// CHECK-NEXT:      %[[D:.*]] = "tri.add"(%[[R1]], %[[S]])
// CHECK-NEXT:      "tri.yield"(%[[D]])
// CHECK:         return %[[Y]]
func.func @fuses_chain(%x: tensor<2x3xf32>, %r: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %w = "tri.weight"() {name = "w", type = tensor<3x4xf32>} : () -> tensor<3x4xf32>
  %b = "tri.weight"() {name = "b", type = tensor<4xf32>} : () -> tensor<4xf32>
  %half = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %m = "tri.mat_mul"(%x, %w) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %a = "tri.add"(%m, %b) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %s = "tri.mul"(%a, %half) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %y = "tri.add"(%r, %s) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// A value that is used twice is no obstacle when its uses meet again.
// CHECK-LABEL: func.func @fuses_detour
// CHECK:         "tri.group"
// CHECK:           "tri.softmax"
// CHECK:           "tri.exp"
// CHECK:           "tri.neg"
// CHECK:           "tri.add"
// CHECK:           "tri.yield"
func.func @fuses_detour(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = "tri.softmax"(%x) {axis = 1} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = "tri.exp"(%s) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %n = "tri.neg"(%s) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "tri.add"(%e, %n) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// The sum could join either product; it joins the second one, of which the value is fresh.
// CHECK-LABEL: func.func @fuses_sum_into_later_product
// CHECK-SAME:    (%[[X:.*]]: tensor<2x2xf32>)
// CHECK:         %[[M:.*]] = "tri.mat_mul"(%[[X]], %[[X]])
// CHECK:         "tri.group"({{.*}}%[[M]]
func.func @fuses_sum_into_later_product(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %r = "tri.relu"(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = "tri.mat_mul"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %n = "tri.mat_mul"(%r, %r) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = "tri.add"(%m, %n) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// The product's own value is returned: it must come out of its kernel.
// CHECK-LABEL: func.func @keeps_value_with_two_users
// CHECK-NOT:     tri.group
func.func @keeps_value_with_two_users(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %m = "tri.mat_mul"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = "tri.relu"(%m) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y, %m : tensor<2x2xf32>, tensor<2x2xf32>
}

// Between the two uses of the product lies an op that cannot join: a group would need its own result.
// CHECK-LABEL: func.func @keeps_cycle_apart
// CHECK-NOT:     tri.group
func.func @keeps_cycle_apart(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %m = "tri.mat_mul"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %t = "tri.transpose"(%m) {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = "tri.add"(%m, %t) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// The sum is larger than the product's result.
// CHECK-LABEL: func.func @keeps_op_of_other_shape
// CHECK-NOT:     tri.group
func.func @keeps_op_of_other_shape(%x: tensor<2x2xf32>, %z: tensor<3x2x2xf32>) -> tensor<3x2x2xf32> {
  %m = "tri.mat_mul"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = "tri.add"(%m, %z) : (tensor<2x2xf32>, tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  return %y : tensor<3x2x2xf32>
}

// CHECK-LABEL: func.func @keeps_reshape_out
// CHECK-NOT:     tri.group
func.func @keeps_reshape_out(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %m = "tri.mat_mul"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = "tri.reshape"(%m) {shape = array<i64: 4>} : (tensor<2x2xf32>) -> tensor<4xf32>
  %y = "tri.relu"(%r) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// What is widened for the sum alone is widened in its kernel, behind the product.
// CHECK-LABEL: func.func @widens_inside
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>, %[[W:.*]]: tensor<3x4xf32>, %[[R:.*]]: tensor<2x4xi8>)
// CHECK-NEXT:    %[[Y:.*]] = "tri.group"(%[[X]], %[[W]], %[[R]]) ({
// CHECK-NEXT:    ^bb0(%[[X1:.*]]: tensor<2x3xf32>, %[[W1:.*]]: tensor<3x4xf32>, %[[R1:.*]]: tensor<2x4xi8>):
// CHECK-NEXT:      %[[M:.*]] = "tri.mat_mul"(%[[X1]], %[[W1]])
// CHECK-NEXT:      %[[F:.*]] = "tri.cast"(%[[R1]])
// CHECK-NEXT:      %[[A:.*]] = "tri.abs"(%[[F]])
// CHECK-NEXT:      %[[D:.*]] = "tri.add"(%[[M]], %[[A]])
// CHECK-NEXT:      "tri.yield"(%[[D]])
func.func @widens_inside(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %r: tensor<2x4xi8>) -> tensor<2x4xf32> {
  %f = "tri.cast"(%r) {to = "f32"} : (tensor<2x4xi8>) -> tensor<2x4xf32>
  %a = "tri.abs"(%f) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %m = "tri.mat_mul"(%x, %w) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %y = "tri.add"(%m, %a) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// As much to read as is made, made for others as well, made for the product itself: not inside.
// CHECK-LABEL: func.func @keeps_outside
// CHECK:         "tri.abs"
// CHECK:         "tri.cast"
// CHECK:         "tri.cast"
// CHECK:         "tri.group"
// CHECK-NOT:     "tri.abs"
// CHECK-NOT:     "tri.cast"
func.func @keeps_outside(%x: tensor<2x2xi8>, %w: tensor<2x2xf32>, %r: tensor<2x2xf32>, %s: tensor<2x2xi8>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %a = "tri.abs"(%r) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %f = "tri.cast"(%s) {to = "f32"} : (tensor<2x2xi8>) -> tensor<2x2xf32>
  %g = "tri.cast"(%x) {to = "f32"} : (tensor<2x2xi8>) -> tensor<2x2xf32>
  %m = "tri.mat_mul"(%g, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %t = "tri.add"(%m, %a) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = "tri.mul"(%t, %f) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y, %f : tensor<2x2xf32>, tensor<2x2xf32>
}

// The kernel of a blocked convolution leaves room for one number around its result.
// CHECK-LABEL: func.func @leaves_room_for_border
// CHECK:         "tri.group"
// CHECK:           %[[C:.*]] = "cpu.blocked_conv"
// CHECK-NEXT:      %[[R:.*]] = "tri.relu"(%[[C]])
// CHECK-NEXT:      %[[P:.*]] = "tri.pad"(%[[R]])
// CHECK-NEXT:      "tri.yield"(%[[P]])
func.func @leaves_room_for_border(%x: tensor<1x1x2x3x4xf32>, %w: tensor<1x4x4xf32>) -> tensor<1x1x4x5x4xf32> {
  %c = "cpu.blocked_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, lanes = 4, outputs = 4, strides = array<i64: 1, 1>}
      : (tensor<1x1x2x3x4xf32>, tensor<1x4x4xf32>) -> tensor<1x1x2x3x4xf32>
  %r = "tri.relu"(%c) : (tensor<1x1x2x3x4xf32>) -> tensor<1x1x2x3x4xf32>
  %p = "tri.pad"(%r) {pads = array<i64: 0, 0, 1, 1, 0, 0, 0, 1, 1, 0>, value = 3.0} : (tensor<1x1x2x3x4xf32>) -> tensor<1x1x4x5x4xf32>
  return %p : tensor<1x1x4x5x4xf32>
}

// A border of copies, one that cuts off, one that not all users want, one around a plain result.
// CHECK-LABEL: func.func @keeps_other_pads
// CHECK-NOT:     tri.group
// CHECK:         return
func.func @keeps_other_pads(%x: tensor<1x1x2x3x4xf32>, %w: tensor<1x4x4xf32>, %m: tensor<2x3xf32>, %n: tensor<3x4xf32>)
    -> (tensor<1x1x4x5x4xf32>, tensor<1x1x1x3x4xf32>, tensor<1x1x4x5x4xf32>, tensor<1x1x2x3x4xf32>, tensor<2x6xf32>) {
  %a = "cpu.blocked_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, lanes = 4, outputs = 4, strides = array<i64: 1, 1>}
      : (tensor<1x1x2x3x4xf32>, tensor<1x4x4xf32>) -> tensor<1x1x2x3x4xf32>
  %p = "tri.pad"(%a) {pads = array<i64: 0, 0, 1, 1, 0, 0, 0, 1, 1, 0>, mode = "edge"} : (tensor<1x1x2x3x4xf32>) -> tensor<1x1x4x5x4xf32>
  %b = "cpu.blocked_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, lanes = 4, outputs = 4, strides = array<i64: 1, 1>}
      : (tensor<1x1x2x3x4xf32>, tensor<1x4x4xf32>) -> tensor<1x1x2x3x4xf32>
  %q = "tri.pad"(%b) {pads = array<i64: 0, 0, -1, 0, 0, 0, 0, 0, 0, 0>} : (tensor<1x1x2x3x4xf32>) -> tensor<1x1x1x3x4xf32>
  %c = "cpu.blocked_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, lanes = 4, outputs = 4, strides = array<i64: 1, 1>}
      : (tensor<1x1x2x3x4xf32>, tensor<1x4x4xf32>) -> tensor<1x1x2x3x4xf32>
  %s = "tri.pad"(%c) {pads = array<i64: 0, 0, 1, 1, 0, 0, 0, 1, 1, 0>} : (tensor<1x1x2x3x4xf32>) -> tensor<1x1x4x5x4xf32>
  %d = "tri.mat_mul"(%m, %n) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %t = "tri.pad"(%d) {pads = array<i64: 0, 1, 0, 1>} : (tensor<2x4xf32>) -> tensor<2x6xf32>
  return %p, %q, %s, %c, %t : tensor<1x1x4x5x4xf32>, tensor<1x1x1x3x4xf32>, tensor<1x1x4x5x4xf32>, tensor<1x1x2x3x4xf32>, tensor<2x6xf32>
}
