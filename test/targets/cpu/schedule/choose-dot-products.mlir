// RUN: trivium-opt %s --choose-dot-products | FileCheck %s

// Weights become words: the bytes 1, 2 and 3 of a column, and a zero.
// CHECK-LABEL: func.func @multiplies_bytes
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[B:.*]] = "tri.constant"() {value = dense<0> : tensor<1xi32>}
// CHECK:         %[[W:.*]] = "tri.constant"() {value = dense<{{.*}}197121{{.*}}> : tensor<1x1x{{[0-9]+}}xi32>}
// CHECK:         "cpu.dot_mat_mul"(%[[X]], %[[W]], %[[B]]) {columns = 1 : i64, signed = false} : (tensor<2x3xui8>
// CHECK-NOT:     "tri.mat_mul"
func.func @multiplies_bytes(%x: tensor<2x3xui8>) -> tensor<2x1xi32> {
  %w = "tri.constant"() {value = dense<[[1], [2], [3]]> : tensor<3x1xi32>} : () -> tensor<3x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xui8>) -> tensor<2x3xi32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<2x3xi32>, tensor<3x1xi32>) -> tensor<2x1xi32>
  return %y : tensor<2x1xi32>
}

// A zero point of 10 takes 10 times (1 + 2 + 3) from the sum.
// CHECK-LABEL: func.func @folds_zero_points
// CHECK:         "tri.constant"() {value = dense<-60> : tensor<1xi32>}
// CHECK:         "cpu.dot_mat_mul"
func.func @folds_zero_points(%x: tensor<2x3xui8>) -> tensor<2x1xi32> {
  %w = "tri.constant"() {value = dense<[[1], [2], [3]]> : tensor<3x1xi32>} : () -> tensor<3x1xi32>
  %z = "tri.constant"() {value = dense<10> : tensor<i32>} : () -> tensor<i32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xui8>) -> tensor<2x3xi32>
  %c = "tri.sub"(%a, %z) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %y = "tri.mat_mul"(%c, %w) : (tensor<2x3xi32>, tensor<3x1xi32>) -> tensor<2x1xi32>
  return %y : tensor<2x1xi32>
}

// Signed bytes are multiplied as unsigned ones, from -128 on.
// CHECK-LABEL: func.func @shifts_signed_bytes
// CHECK:         "tri.constant"() {value = dense<-768> : tensor<1xi32>}
// CHECK:         "cpu.dot_mat_mul"({{.*}} : (tensor<2x3xi8>
func.func @shifts_signed_bytes(%x: tensor<2x3xi8>) -> tensor<2x1xi32> {
  %w = "tri.constant"() {value = dense<[[1], [2], [3]]> : tensor<3x1xi32>} : () -> tensor<3x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xi8>) -> tensor<2x3xi32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<2x3xi32>, tensor<3x1xi32>) -> tensor<2x1xi32>
  return %y : tensor<2x1xi32>
}

// What is known at run time only is multiplied by the sums of the weights then.
// CHECK-LABEL: func.func @keeps_zero_points_of_the_run_time
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[Z:.*]]: {{.*}})
// CHECK:         %[[B:.*]] = "tri.constant"() {value = dense<0> : tensor<1xi32>}
// CHECK:         %[[S:.*]] = "tri.constant"() {value = dense<6> : tensor<1xi32>}
// CHECK:         %[[ONE:.*]] = "tri.reshape"(%[[Z]])
// CHECK:         %[[M:.*]] = "tri.mul"(%[[ONE]], %[[S]])
// CHECK:         %[[C:.*]] = "tri.sub"(%[[B]], %[[M]])
// CHECK:         "cpu.dot_mat_mul"(%[[X]], {{.*}}, %[[C]])
func.func @keeps_zero_points_of_the_run_time(%x: tensor<2x3xui8>, %z: tensor<i32>) -> tensor<2x1xi32> {
  %w = "tri.constant"() {value = dense<[[1], [2], [3]]> : tensor<3x1xi32>} : () -> tensor<3x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xui8>) -> tensor<2x3xi32>
  %c = "tri.sub"(%a, %z) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %y = "tri.mat_mul"(%c, %w) : (tensor<2x3xi32>, tensor<3x1xi32>) -> tensor<2x1xi32>
  return %y : tensor<2x1xi32>
}

// Weights from 1 to 130 are bytes from -128 to 1 and 129 each, which the sums of rows are times.
// CHECK-LABEL: func.func @takes_a_number_off_wide_weights
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[LOW:.*]] = "cpu.dot_mat_mul"(%[[X]]
// CHECK:         %[[SUMS:.*]] = "cpu.dot_mat_mul"(%[[X]]
// CHECK:         %[[N:.*]] = "tri.constant"() {value = dense<129> : tensor<1xi32>}
// CHECK:         %[[REST:.*]] = "tri.mul"(%[[SUMS]], %[[N]])
// CHECK:         "tri.add"(%[[LOW]], %[[REST]])
func.func @takes_a_number_off_wide_weights(%x: tensor<2x3xui8>) -> tensor<2x1xi32> {
  %w = "tri.constant"() {value = dense<[[1], [2], [130]]> : tensor<3x1xi32>} : () -> tensor<3x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xui8>) -> tensor<2x3xi32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<2x3xi32>, tensor<3x1xi32>) -> tensor<2x1xi32>
  return %y : tensor<2x1xi32>
}

// Only the outputs whose weights are no bytes have such a number; kernels have them, too.
// CHECK-LABEL: func.func @takes_a_number_off_wide_kernels
// CHECK:         "cpu.dot_conv"({{.*}}outputs = 2
// CHECK:         "cpu.dot_conv"({{.*}}outputs = 1
// CHECK:         "tri.constant"() {value = dense<{{\[\[\[}}0{{\]\]}}, {{\[\[}}129{{\]\]\]}}> : tensor<2x1x1xi32>}
func.func @takes_a_number_off_wide_kernels(%x: tensor<1x2x32x32xui8>) -> tensor<1x2x32x32xi32> {
  %w = "tri.constant"() {value = dense<[[[[1]], [[2]]], [[[1]], [[130]]]]> : tensor<2x2x1x1xi32>} : () -> tensor<2x2x1x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x32x32xui8>) -> tensor<1x2x32x32xi32>
  %y = "tri.conv"(%a, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x2x32x32xi32>, tensor<2x2x1x1xi32>) -> tensor<1x2x32x32xi32>
  return %y : tensor<1x2x32x32xi32>
}

// Weights from -100 to 200 are no bytes, whatever is taken off: 200 is 127 and 73.
// CHECK-LABEL: func.func @splits_wide_weights
// CHECK:         %[[LOW:.*]] = "cpu.dot_mat_mul"
// CHECK:         %[[REST:.*]] = "cpu.dot_mat_mul"
// CHECK:         "tri.add"(%[[LOW]], %[[REST]])
func.func @splits_wide_weights(%x: tensor<2x3xui8>) -> tensor<2x1xi32> {
  %w = "tri.constant"() {value = dense<[[-100], [2], [200]]> : tensor<3x1xi32>} : () -> tensor<3x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xui8>) -> tensor<2x3xi32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<2x3xi32>, tensor<3x1xi32>) -> tensor<2x1xi32>
  return %y : tensor<2x1xi32>
}

// CHECK-LABEL: func.func @keeps_weights_beyond_three_bytes
// CHECK:         "tri.mat_mul"
func.func @keeps_weights_beyond_three_bytes(%x: tensor<2x3xui8>) -> tensor<2x1xi32> {
  %w = "tri.constant"() {value = dense<[[1], [2], [382]]> : tensor<3x1xi32>} : () -> tensor<3x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xui8>) -> tensor<2x3xi32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<2x3xi32>, tensor<3x1xi32>) -> tensor<2x1xi32>
  return %y : tensor<2x1xi32>
}

// CHECK-LABEL: func.func @keeps_wider_inputs
// CHECK:         "tri.mat_mul"
func.func @keeps_wider_inputs(%x: tensor<2x3xi16>) -> tensor<2x1xi32> {
  %w = "tri.constant"() {value = dense<[[1], [2], [3]]> : tensor<3x1xi32>} : () -> tensor<3x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xi16>) -> tensor<2x3xi32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<2x3xi32>, tensor<3x1xi32>) -> tensor<2x1xi32>
  return %y : tensor<2x1xi32>
}

// CHECK-LABEL: func.func @keeps_variable_weights
// CHECK:         "tri.mat_mul"
func.func @keeps_variable_weights(%x: tensor<2x3xui8>, %w: tensor<3x1xi32>) -> tensor<2x1xi32> {
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xui8>) -> tensor<2x3xi32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<2x3xi32>, tensor<3x1xi32>) -> tensor<2x1xi32>
  return %y : tensor<2x1xi32>
}

// Rows with zero points of their own have no common bias.
// CHECK-LABEL: func.func @keeps_zero_points_of_rows
// CHECK:         "tri.mat_mul"
func.func @keeps_zero_points_of_rows(%x: tensor<2x3xui8>) -> tensor<2x1xi32> {
  %w = "tri.constant"() {value = dense<[[1], [2], [3]]> : tensor<3x1xi32>} : () -> tensor<3x1xi32>
  %z = "tri.constant"() {value = dense<[[1], [2]]> : tensor<2x1xi32>} : () -> tensor<2x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xui8>) -> tensor<2x3xi32>
  %c = "tri.sub"(%a, %z) : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>
  %y = "tri.mat_mul"(%c, %w) : (tensor<2x3xi32>, tensor<3x1xi32>) -> tensor<2x1xi32>
  return %y : tensor<2x1xi32>
}

// Outside of an image is the zero point; the bias takes it from all windows alike.
// CHECK-LABEL: func.func @convolves_bytes
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[B:.*]] = "tri.constant"() {value = dense<80> : tensor<1xi32>}
// CHECK:         "cpu.dot_conv"(%[[X]], {{.*}}, %[[B]]) {{.*}}kernel = array<i64: 2>, outputs = 1 : i64, padding = 10
func.func @convolves_bytes(%x: tensor<1x2x5xui8>) -> tensor<1x1x6xi32> {
  %w = "tri.constant"() {value = dense<[[[3, -1], [0, 0]]]> : tensor<1x2x2xi32>} : () -> tensor<1x2x2xi32>
  %b = "tri.constant"() {value = dense<100> : tensor<1xi32>} : () -> tensor<1xi32>
  %z = "tri.constant"() {value = dense<10> : tensor<i32>} : () -> tensor<i32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x5xui8>) -> tensor<1x2x5xi32>
  %c = "tri.sub"(%a, %z) : (tensor<1x2x5xi32>, tensor<i32>) -> tensor<1x2x5xi32>
  %y = "tri.conv"(%c, %w, %b) {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 1>}
      : (tensor<1x2x5xi32>, tensor<1x2x2xi32>, tensor<1xi32>) -> tensor<1x1x6xi32>
  return %y : tensor<1x1x6xi32>
}

// CHECK-LABEL: func.func @keeps_padding_that_is_no_byte
// CHECK:         "tri.conv"
func.func @keeps_padding_that_is_no_byte(%x: tensor<1x2x5xui8>) -> tensor<1x1x6xi32> {
  %w = "tri.constant"() {value = dense<1> : tensor<1x2x2xi32>} : () -> tensor<1x2x2xi32>
  %z = "tri.constant"() {value = dense<256> : tensor<i32>} : () -> tensor<i32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x5xui8>) -> tensor<1x2x5xi32>
  %c = "tri.sub"(%a, %z) : (tensor<1x2x5xi32>, tensor<i32>) -> tensor<1x2x5xi32>
  %y = "tri.conv"(%c, %w) {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 1>}
      : (tensor<1x2x5xi32>, tensor<1x2x2xi32>) -> tensor<1x1x6xi32>
  return %y : tensor<1x1x6xi32>
}

// CHECK-LABEL: func.func @keeps_padding_of_the_run_time
// CHECK:         "tri.conv"
func.func @keeps_padding_of_the_run_time(%x: tensor<1x2x5xui8>, %z: tensor<i32>) -> tensor<1x1x6xi32> {
  %w = "tri.constant"() {value = dense<1> : tensor<1x2x2xi32>} : () -> tensor<1x2x2xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x5xui8>) -> tensor<1x2x5xi32>
  %c = "tri.sub"(%a, %z) : (tensor<1x2x5xi32>, tensor<i32>) -> tensor<1x2x5xi32>
  %y = "tri.conv"(%c, %w) {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 1>}
      : (tensor<1x2x5xi32>, tensor<1x2x2xi32>) -> tensor<1x1x6xi32>
  return %y : tensor<1x1x6xi32>
}

// CHECK-LABEL: func.func @keeps_depthwise
// CHECK:         "tri.conv"
func.func @keeps_depthwise(%x: tensor<1x2x5xui8>) -> tensor<1x2x5xi32> {
  %w = "tri.constant"() {value = dense<1> : tensor<2x1x1xi32>} : () -> tensor<2x1x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x5xui8>) -> tensor<1x2x5xi32>
  %y = "tri.conv"(%a, %w) {dilations = array<i64: 1>, group = 2, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x5xi32>, tensor<2x1x1xi32>) -> tensor<1x2x5xi32>
  return %y : tensor<1x2x5xi32>
}

// Sixteen outputs fill vectors; two outputs would leave most lanes of them empty.
// CHECK-LABEL: func.func @packs_panels
// CHECK:         "cpu.dot_panel_conv"
func.func @packs_panels(%x: tensor<1x2x10xui8>) -> tensor<1x16x8xi32> {
  %w = "tri.constant"() {value = dense<1> : tensor<16x2x3xi32>} : () -> tensor<16x2x3xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x10xui8>) -> tensor<1x2x10xi32>
  %y = "tri.conv"(%a, %w) {dilations = array<i64: 1>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x10xi32>, tensor<16x2x3xi32>) -> tensor<1x16x8xi32>
  return %y : tensor<1x16x8xi32>
}

// CHECK-LABEL: func.func @keeps_empty
// CHECK:         "tri.mat_mul"
func.func @keeps_empty(%x: tensor<0x3xui8>) -> tensor<0x1xi32> {
  %w = "tri.constant"() {value = dense<1> : tensor<3x1xi32>} : () -> tensor<3x1xi32>
  %a = "tri.cast"(%x) {to = "i32"} : (tensor<0x3xui8>) -> tensor<0x3xi32>
  %y = "tri.mat_mul"(%a, %w) : (tensor<0x3xi32>, tensor<3x1xi32>) -> tensor<0x1xi32>
  return %y : tensor<0x1xi32>
}
