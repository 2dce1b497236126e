// RUN: trivium-opt %s --select-dla --fold-shapes --eliminate | FileCheck %s
// RUN: trivium-opt %s --select-dla --debug=select-dla 2>&1 | FileCheck %s --check-prefix=WHY

// The zero point goes into the op, weights become [rows, columns, channels, filters].
// CHECK-LABEL: func.func @selects_a_convolution
// CHECK-SAME:    (%[[X:.*]]: tensor<1x2x4x5xi8>)
// CHECK-DAG:     %[[IMAGE:.*]] = "tri.transpose"(%[[X]]) {permutation = array<i64: 0, 2, 3, 1>}
// CHECK-DAG:     %[[W:.*]] = "tri.constant"() {value = dense<7> : tensor<3x2x2x3xi8>}
// CHECK-DAG:     %[[B:.*]] = "tri.constant"() {value = dense<9> : tensor<3xi32>}
// CHECK:         %[[Y:.*]] = "dla.conv"(%[[IMAGE]], %[[W]], %[[B]])
// CHECK-SAME:      destination_zero = -10
// CHECK-SAME:      mode = "dense"
// CHECK-SAME:      pads = array<i64: 1, 0, 2, 0>
// CHECK-SAME:      source_zero = 3
// CHECK:         "tri.transpose"(%[[Y]]) {permutation = array<i64: 0, 3, 1, 2>}
// CHECK-NOT:     tri.requantize
func.func @selects_a_convolution(%x: tensor<1x2x4x5xi8>) -> tensor<1x3x5x4xi8> {
  %w = "tri.constant"() {value = dense<7> : tensor<3x2x3x2xi32>} : () -> tensor<3x2x3x2xi32>
  %b = "tri.constant"() {value = dense<9> : tensor<3xi32>} : () -> tensor<3xi32>
  %z = "tri.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0 = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x4x5xi8>) -> tensor<1x2x4x5xi32>
  %1 = "tri.sub"(%0, %z) : (tensor<1x2x4x5xi32>, tensor<i32>) -> tensor<1x2x4x5xi32>
  %2 = "tri.conv"(%1, %w, %b) {strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 2, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x5xi32>, tensor<3x2x3x2xi32>, tensor<3xi32>) -> tensor<1x3x5x4xi32>
  %3 = "tri.requantize"(%2) {multiplier = array<i64: 5>, shift = array<i64: 9>, zero_point = -10 : i64, low = -10 : i64, high = 127 : i64, axis = 1 : i64, to = "i8"} : (tensor<1x3x5x4xi32>) -> tensor<1x3x5x4xi8>
  return %3 : tensor<1x3x5x4xi8>
}

// A result that is used twice would have to leave the machine as a sum.
// CHECK-LABEL: func.func @keeps_sums_with_two_users
// CHECK:         "tri.conv"
// CHECK:         "tri.requantize"(
// WHY-DAG: tri.requantize: sums of tri.conv have 2 uses, they remain in the accumulator
func.func @keeps_sums_with_two_users(%x: tensor<1x2x4x5xi8>) -> (tensor<1x3x4x5xi32>, tensor<1x3x4x5xi8>) {
  %w = "tri.constant"() {value = dense<7> : tensor<3x2x1x1xi32>} : () -> tensor<3x2x1x1xi32>
  %0 = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x4x5xi8>) -> tensor<1x2x4x5xi32>
  %2 = "tri.conv"(%0, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x5xi32>, tensor<3x2x1x1xi32>) -> tensor<1x3x4x5xi32>
  %3 = "tri.requantize"(%2) {multiplier = array<i64: 5>, shift = array<i64: 9>, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<1x3x4x5xi32>) -> tensor<1x3x4x5xi8>
  return %2, %3 : tensor<1x3x4x5xi32>, tensor<1x3x4x5xi8>
}

// One filter for each channel is a mode of its own.
// CHECK-LABEL: func.func @selects_a_depthwise_convolution
// CHECK:         %[[W:.*]] = "tri.constant"() {value = dense<7> : tensor<1x2x3xi8>}
// CHECK:         "dla.conv"({{.*}}, %[[W]], {{.*}}) {{.*}}mode = "depthwise"
func.func @selects_a_depthwise_convolution(%x: tensor<1x3x4x5xi8>) -> tensor<1x3x4x4xi8> {
  %w = "tri.constant"() {value = dense<7> : tensor<3x1x1x2xi32>} : () -> tensor<3x1x1x2xi32>
  %0 = "tri.cast"(%x) {to = "i32"} : (tensor<1x3x4x5xi8>) -> tensor<1x3x4x5xi32>
  %2 = "tri.conv"(%0, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 3 : i64} : (tensor<1x3x4x5xi32>, tensor<3x1x1x2xi32>) -> tensor<1x3x4x4xi32>
  %3 = "tri.requantize"(%2) {multiplier = array<i64: 5>, shift = array<i64: 9>, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<1x3x4x4xi32>) -> tensor<1x3x4x4xi8>
  return %3 : tensor<1x3x4x4xi8>
}

// Other groups have zeros between them.
// CHECK-LABEL: func.func @selects_groups
// CHECK:         %[[W:.*]] = "tri.constant"() {value = dense<{{\[\[\[}}[7, 7, 0, 0], [0, 0, 7, 7]]]]> : tensor<1x1x2x4xi8>}
// CHECK:         "dla.conv"({{.*}}, %[[W]], {{.*}}) {{.*}}mode = "dense"
func.func @selects_groups(%x: tensor<1x2x4x5xi8>) -> tensor<1x4x4x5xi8> {
  %w = "tri.constant"() {value = dense<7> : tensor<4x1x1x1xi32>} : () -> tensor<4x1x1x1xi32>
  %0 = "tri.cast"(%x) {to = "i32"} : (tensor<1x2x4x5xi8>) -> tensor<1x2x4x5xi32>
  %2 = "tri.conv"(%0, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x2x4x5xi32>, tensor<4x1x1x1xi32>) -> tensor<1x4x4x5xi32>
  %3 = "tri.requantize"(%2) {multiplier = array<i64: 5>, shift = array<i64: 9>, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<1x4x4x5xi32>) -> tensor<1x4x4x5xi8>
  return %3 : tensor<1x4x4x5xi8>
}

// A flattened image is multiplied by a kernel of its size; nothing is turned around before.
// CHECK-LABEL: func.func @selects_a_product_with_a_whole_image
// CHECK:         %[[W:.*]] = "tri.constant"() {{.*}} -> tensor<1x2x3x4xi8>
// CHECK:         "dla.conv"({{.*}}, %[[W]], {{.*}}) {{.*}} -> tensor<2x1x1x4xi8>
func.func @selects_a_product_with_a_whole_image(%x: tensor<2x3x1x2xi8>) -> tensor<2x4xi8> {
  %w = "tri.constant"() {value = dense<7> : tensor<6x4xi32>} : () -> tensor<6x4xi32>
  %f = "tri.reshape"(%x) {shape = array<i64: 2, 6>} : (tensor<2x3x1x2xi8>) -> tensor<2x6xi8>
  %0 = "tri.cast"(%f) {to = "i32"} : (tensor<2x6xi8>) -> tensor<2x6xi32>
  %2 = "tri.mat_mul"(%0, %w) : (tensor<2x6xi32>, tensor<6x4xi32>) -> tensor<2x4xi32>
  %3 = "tri.requantize"(%2) {multiplier = array<i64: 5>, shift = array<i64: 9>, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<2x4xi32>) -> tensor<2x4xi8>
  return %3 : tensor<2x4xi8>
}

// Other rows are those of one image.
// CHECK-LABEL: func.func @selects_a_product
// CHECK-SAME:    (%[[X:.*]]: tensor<2x6xi8>)
// CHECK:         %[[ROWS:.*]] = "tri.reshape"(%[[X]]) {shape = array<i64: 1, 2, 1, 6>}
// CHECK:         "dla.conv"(%[[ROWS]], {{.*}}) {{.*}} -> tensor<1x2x1x4xi8>
func.func @selects_a_product(%x: tensor<2x6xi8>) -> tensor<2x4xi8> {
  %w = "tri.constant"() {value = dense<7> : tensor<6x4xi32>} : () -> tensor<6x4xi32>
  %b = "tri.constant"() {value = dense<9> : tensor<4xi32>} : () -> tensor<4xi32>
  %0 = "tri.cast"(%x) {to = "i32"} : (tensor<2x6xi8>) -> tensor<2x6xi32>
  %1 = "tri.mat_mul"(%0, %w) : (tensor<2x6xi32>, tensor<6x4xi32>) -> tensor<2x4xi32>
  %2 = "tri.add"(%1, %b) : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
  %3 = "tri.requantize"(%2) {multiplier = array<i64: 5>, shift = array<i64: 9>, low = -128 : i64, high = 127 : i64, axis = 1 : i64, to = "i8"} : (tensor<2x4xi32>) -> tensor<2x4xi8>
  return %3 : tensor<2x4xi8>
}

// The matrix is an input: the machine reads weights that are laid out ahead.
// CHECK-LABEL: func.func @keeps_a_product_of_inputs
// CHECK:         "tri.requantize"(
// WHY-DAG: tri.requantize: weights of the op are not constant
func.func @keeps_a_product_of_inputs(%x: tensor<2x6xi8>, %w: tensor<6x4xi8>) -> tensor<2x4xi8> {
  %0 = "tri.cast"(%x) {to = "i32"} : (tensor<2x6xi8>) -> tensor<2x6xi32>
  %1 = "tri.cast"(%w) {to = "i32"} : (tensor<6x4xi8>) -> tensor<6x4xi32>
  %2 = "tri.mat_mul"(%0, %1) : (tensor<2x6xi32>, tensor<6x4xi32>) -> tensor<2x4xi32>
  %3 = "tri.requantize"(%2) {multiplier = array<i64: 5>, shift = array<i64: 9>, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<2x4xi32>) -> tensor<2x4xi8>
  return %3 : tensor<2x4xi8>
}

// Sums of windows, as convolutions with ones say them, are a pool; so are means of whole images.
// CHECK-LABEL: func.func @selects_averages
// CHECK:         %[[Y:.*]] = "dla.pool"({{.*}}divisor = "none"{{.*}}kernel = array<i64: 2, 2>{{.*}}mode = "average"{{.*}}strides = array<i64: 2, 2>
// CHECK:         "dla.pool"(%[[Y]]) {{.*}}kernel = array<i64: 2, 2>{{.*}}mode = "average"{{.*}} -> tensor<1x1x1x3xi8>
func.func @selects_averages(%x: tensor<1x3x4x4xi8>) -> tensor<1x3x1x1xi8> {
  %w = "tri.constant"() {value = dense<1> : tensor<3x1x2x2xi32>} : () -> tensor<3x1x2x2xi32>
  %0 = "tri.cast"(%x) {to = "i32"} : (tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi32>
  %1 = "tri.conv"(%0, %w) {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 3 : i64} : (tensor<1x3x4x4xi32>, tensor<3x1x2x2xi32>) -> tensor<1x3x2x2xi32>
  %2 = "tri.requantize"(%1) {multiplier = array<i64: 5>, shift = array<i64: 9>, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<1x3x2x2xi32>) -> tensor<1x3x2x2xi8>
  %3 = "tri.cast"(%2) {to = "i32"} : (tensor<1x3x2x2xi8>) -> tensor<1x3x2x2xi32>
  %4 = "tri.reduce_sum"(%3) {axes = array<i64: 2, 3>, keepdims = true} : (tensor<1x3x2x2xi32>) -> tensor<1x3x1x1xi32>
  %5 = "tri.requantize"(%4) {multiplier = array<i64: 5>, shift = array<i64: 9>, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<1x3x1x1xi32>) -> tensor<1x3x1x1xi8>
  return %5 : tensor<1x3x1x1xi8>
}

// What is divided by the number of pixels in each window is so by the packet.
// CHECK-LABEL: func.func @selects_a_counted_average
// CHECK:         "dla.pool"({{.*}}divisor = "inside"{{.*}}mode = "average", multiplier = 5 : i64, pads = array<i64: 1, 0, 0, 0>
func.func @selects_a_counted_average(%x: tensor<1x3x2x2xi8>) -> tensor<1x3x2x2xi8> {
  %w = "tri.constant"() {value = dense<1> : tensor<3x1x2x1xi32>} : () -> tensor<3x1x2x1xi32>
  %n = "tri.constant"() {value = dense<[[1], [2]]> : tensor<2x1xi32>} : () -> tensor<2x1xi32>
  %0 = "tri.cast"(%x) {to = "i32"} : (tensor<1x3x2x2xi8>) -> tensor<1x3x2x2xi32>
  %1 = "tri.conv"(%0, %w) {strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 3 : i64} : (tensor<1x3x2x2xi32>, tensor<3x1x2x1xi32>) -> tensor<1x3x2x2xi32>
  %2 = "tri.requantize_mean"(%1, %n) {multiplier = 5, shift = 3, low = -128, high = 127, to = "i8"} : (tensor<1x3x2x2xi32>, tensor<2x1xi32>) -> tensor<1x3x2x2xi8>
  return %2 : tensor<1x3x2x2xi8>
}

// Other numbers are none that the packet counts.
// CHECK-LABEL: func.func @keeps_other_counts
// CHECK:         "tri.requantize_mean"(
// WHY-DAG: tri.requantize_mean: vanilla divides by what of windows is in images
func.func @keeps_other_counts(%x: tensor<1x3x2x2xi8>) -> tensor<1x3x2x2xi8> {
  %w = "tri.constant"() {value = dense<1> : tensor<3x1x2x1xi32>} : () -> tensor<3x1x2x1xi32>
  %n = "tri.constant"() {value = dense<2> : tensor<2x1xi32>} : () -> tensor<2x1xi32>
  %0 = "tri.cast"(%x) {to = "i32"} : (tensor<1x3x2x2xi8>) -> tensor<1x3x2x2xi32>
  %1 = "tri.conv"(%0, %w) {strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 3 : i64} : (tensor<1x3x2x2xi32>, tensor<3x1x2x1xi32>) -> tensor<1x3x2x2xi32>
  %2 = "tri.requantize_mean"(%1, %n) {multiplier = 5, shift = 3, low = -128, high = 127, to = "i8"} : (tensor<1x3x2x2xi32>, tensor<2x1xi32>) -> tensor<1x3x2x2xi8>
  return %2 : tensor<1x3x2x2xi8>
}

// Sums of channels are none of its pools.
// CHECK-LABEL: func.func @keeps_sums_of_channels
// CHECK:         "tri.requantize"(
// WHY-DAG: tri.requantize: sums axes (1,) of 4, must be rows and columns of images
func.func @keeps_sums_of_channels(%x: tensor<1x3x4x4xi8>) -> tensor<1x1x4x4xi8> {
  %0 = "tri.cast"(%x) {to = "i32"} : (tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi32>
  %1 = "tri.reduce_sum"(%0) {axes = array<i64: 1>, keepdims = true} : (tensor<1x3x4x4xi32>) -> tensor<1x1x4x4xi32>
  %2 = "tri.requantize"(%1) {multiplier = array<i64: 5>, shift = array<i64: 9>, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<1x1x4x4xi32>) -> tensor<1x1x4x4xi8>
  return %2 : tensor<1x1x4x4xi8>
}

// The greatest values are brought to another scale by the same packet.
// CHECK-LABEL: func.func @selects_a_rescaled_max_pool
// CHECK:         "dla.pool"({{.*}}mode = "max"{{.*}}multiplier = 5{{.*}}shift = 9{{.*}}source_zero = 3
// CHECK-NOT:     dla.copy
func.func @selects_a_rescaled_max_pool(%x: tensor<1x3x4x4xi8>) -> tensor<1x3x2x2xi8> {
  %z = "tri.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0 = "tri.max_pool"(%x) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xi8>) -> tensor<1x3x2x2xi8>
  %1 = "tri.cast"(%0) {to = "i32"} : (tensor<1x3x2x2xi8>) -> tensor<1x3x2x2xi32>
  %2 = "tri.sub"(%1, %z) : (tensor<1x3x2x2xi32>, tensor<i32>) -> tensor<1x3x2x2xi32>
  %3 = "tri.requantize"(%2) {multiplier = array<i64: 5>, shift = array<i64: 9>, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<1x3x2x2xi32>) -> tensor<1x3x2x2xi8>
  return %3 : tensor<1x3x2x2xi8>
}

// A result of the pool is needed as it is, too; a window that hangs over the end is padded.
// CHECK-LABEL: func.func @selects_a_max_pool_and_a_copy
// CHECK:         %[[Y:.*]] = "dla.pool"({{.*}}mode = "max"{{.*}}multiplier = 1 : i64, pads = array<i64: 0, 0, 1, 1>
// CHECK:         "dla.copy"(%[[Y]]) {{.*}}multiplier = 5
func.func @selects_a_max_pool_and_a_copy(%x: tensor<1x3x3x3xi8>) -> (tensor<1x3x2x2xi8>, tensor<1x3x2x2xi8>) {
  %0 = "tri.max_pool"(%x) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = true} : (tensor<1x3x3x3xi8>) -> tensor<1x3x2x2xi8>
  %1 = "tri.cast"(%0) {to = "i32"} : (tensor<1x3x2x2xi8>) -> tensor<1x3x2x2xi32>
  %2 = "tri.requantize"(%1) {multiplier = array<i64: 5>, shift = array<i64: 9>, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<1x3x2x2xi32>) -> tensor<1x3x2x2xi8>
  return %0, %2 : tensor<1x3x2x2xi8>, tensor<1x3x2x2xi8>
}

// Floats are none of its business.
// CHECK-LABEL: func.func @keeps_floats
// CHECK:         "tri.max_pool"
func.func @keeps_floats(%x: tensor<1x3x4x4xf32>) -> tensor<1x3x2x2xf32> {
  %0 = "tri.max_pool"(%x) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x2x2xf32>
  return %0 : tensor<1x3x2x2xf32>
}

// The operand that is repeated comes second, whatever it was.
// CHECK-LABEL: func.func @selects_a_sum
// CHECK-SAME:    (%[[A:.*]]: tensor<1x3x1x1xi8>, %[[B:.*]]: tensor<1x3x4x4xi8>)
// CHECK-DAG:     %[[X:.*]] = "tri.transpose"(%[[B]])
// CHECK-DAG:     %[[Y:.*]] = "tri.reshape"(%[[A]]) {shape = array<i64: 1, 1, 1, 3>}
// CHECK:         "dla.eltwise"(%[[X]], %[[Y]]) {{.*}}multiplier = 6 : i64, operator = "add", other_multiplier = 5
func.func @selects_a_sum(%a: tensor<1x3x1x1xi8>, %b: tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi8> {
  %m = "tri.constant"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
  %n = "tri.constant"() {value = dense<6> : tensor<i32>} : () -> tensor<i32>
  %0 = "tri.cast"(%a) {to = "i32"} : (tensor<1x3x1x1xi8>) -> tensor<1x3x1x1xi32>
  %1 = "tri.cast"(%b) {to = "i32"} : (tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi32>
  %2 = "tri.mul"(%0, %m) : (tensor<1x3x1x1xi32>, tensor<i32>) -> tensor<1x3x1x1xi32>
  %3 = "tri.mul"(%1, %n) : (tensor<1x3x4x4xi32>, tensor<i32>) -> tensor<1x3x4x4xi32>
  %4 = "tri.add"(%2, %3) : (tensor<1x3x1x1xi32>, tensor<1x3x4x4xi32>) -> tensor<1x3x4x4xi32>
  %5 = "tri.requantize"(%4) {multiplier = array<i64: 1>, shift = array<i64: 4>, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<1x3x4x4xi32>) -> tensor<1x3x4x4xi8>
  return %5 : tensor<1x3x4x4xi8>
}

// Channels are not repeated.
// CHECK-LABEL: func.func @keeps_a_sum_that_repeats_channels
// CHECK:         "tri.requantize"(
// WHY-DAG: tri.requantize: vanilla does not repeat channels
func.func @keeps_a_sum_that_repeats_channels(%a: tensor<1x1x4x4xi8>, %b: tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi8> {
  %0 = "tri.cast"(%a) {to = "i32"} : (tensor<1x1x4x4xi8>) -> tensor<1x1x4x4xi32>
  %1 = "tri.cast"(%b) {to = "i32"} : (tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi32>
  %4 = "tri.mul"(%0, %1) : (tensor<1x1x4x4xi32>, tensor<1x3x4x4xi32>) -> tensor<1x3x4x4xi32>
  %5 = "tri.requantize"(%4) {multiplier = array<i64: 1>, shift = array<i64: 4>, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<1x3x4x4xi32>) -> tensor<1x3x4x4xi8>
  return %5 : tensor<1x3x4x4xi8>
}

// CHECK-LABEL: func.func @selects_another_scale
// CHECK:         "dla.copy"({{.*}}multiplier = 5{{.*}}shift = 4
func.func @selects_another_scale(%x: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %0 = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xi8>) -> tensor<2x3xi32>
  %1 = "tri.requantize"(%0) {multiplier = array<i64: 5>, shift = array<i64: 4>, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<2x3xi32>) -> tensor<2x3xi8>
  return %1 : tensor<2x3xi8>
}

// CHECK-LABEL: func.func @keeps_a_scale_for_each_channel
// CHECK:         "tri.requantize"(
// WHY-DAG: tri.requantize: vanilla has one multiplier for all of a copy
func.func @keeps_a_scale_for_each_channel(%x: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %0 = "tri.cast"(%x) {to = "i32"} : (tensor<2x3xi8>) -> tensor<2x3xi32>
  %1 = "tri.requantize"(%0) {multiplier = array<i64: 5, 6, 7>, shift = array<i64: 4, 4, 4>, axis = 1 : i64, low = -128 : i64, high = 127 : i64, to = "i8"} : (tensor<2x3xi32>) -> tensor<2x3xi8>
  return %1 : tensor<2x3xi8>
}

// The table begins with the entry of -128; the op's indices below zero count from its end.
// CHECK-LABEL: func.func @selects_a_table
// CHECK:         %[[T:.*]] = "tri.constant"() {value = dense<"0x0202{{.*}}0101"> : tensor<256xi8>}
// CHECK:         "dla.lookup"({{.*}}, %[[T]])
func.func @selects_a_table(%x: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %a = "tri.constant"() {value = dense<1> : tensor<128xi8>} : () -> tensor<128xi8>
  %b = "tri.constant"() {value = dense<2> : tensor<128xi8>} : () -> tensor<128xi8>
  %t = "tri.concat"(%a, %b) {axis = 0 : i64} : (tensor<128xi8>, tensor<128xi8>) -> tensor<256xi8>
  %0 = "tri.gather"(%t, %x) : (tensor<256xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// A row of a matrix is no entry of a table.
// CHECK-LABEL: func.func @keeps_rows
// CHECK:         "tri.gather"
func.func @keeps_rows(%t: tensor<256x4xi8>, %x: tensor<2xi8>) -> tensor<2x4xi8> {
  %0 = "tri.gather"(%t, %x) : (tensor<256x4xi8>, tensor<2xi8>) -> tensor<2x4xi8>
  return %0 : tensor<2x4xi8>
}

// CHECK-LABEL: func.func @selects_a_join
// CHECK:         "dla.concat"({{.*}}axis = 3
func.func @selects_a_join(%a: tensor<1x16x2x3xi8>, %b: tensor<1x5x2x3xi8>) -> tensor<1x21x2x3xi8> {
  %0 = "tri.concat"(%a, %b) {axis = 1 : i64} : (tensor<1x16x2x3xi8>, tensor<1x5x2x3xi8>) -> tensor<1x21x2x3xi8>
  return %0 : tensor<1x21x2x3xi8>
}

// CHECK-LABEL: func.func @keeps_a_join_of_parts_of_atoms
// CHECK:         "tri.concat"(
// WHY-DAG: tri.concat: vanilla joins parts of a multiple of 16 channels, not 5
func.func @keeps_a_join_of_parts_of_atoms(%a: tensor<1x5x2x3xi8>, %b: tensor<1x16x2x3xi8>) -> tensor<1x21x2x3xi8> {
  %0 = "tri.concat"(%a, %b) {axis = 1 : i64} : (tensor<1x5x2x3xi8>, tensor<1x16x2x3xi8>) -> tensor<1x21x2x3xi8>
  return %0 : tensor<1x21x2x3xi8>
}

// What an op of the accelerator has made, as another image.
// CHECK-LABEL: func.func @selects_a_window
// CHECK:         "dla.slice"({{.*}}) {sizes = array<i64: 2, 3, 8>, start = array<i64: 0, 0, 16>}
// CHECK-NOT:     tri.slice
func.func @selects_a_window(%a: tensor<1x16x2x3xi8>, %b: tensor<1x16x2x3xi8>) -> tensor<1x8x2x3xi8> {
  %0 = "tri.concat"(%a, %b) {axis = 1 : i64} : (tensor<1x16x2x3xi8>, tensor<1x16x2x3xi8>) -> tensor<1x32x2x3xi8>
  %1 = "tri.slice"(%0) {starts = array<i64: 0, 16, 0, 0>, sizes = array<i64: 1, 8, 2, 3>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x32x2x3xi8>) -> tensor<1x8x2x3xi8>
  return %1 : tensor<1x8x2x3xi8>
}

// CHECK-LABEL: func.func @keeps_windows
// CHECK-DAG:     "tri.slice"(
// WHY-DAG: tri.slice: vanilla takes channels behind a multiple of 16 channels, not 8
// CHECK-DAG:     "tri.slice"(
// WHY-DAG: tri.slice: vanilla copies adjacent elements, has steps of (1, 1, 1, 2)
// CHECK-DAG:     "tri.slice"(
// WHY-DAG: tri.slice: takes part of the batch, must be of rows, columns or channels
// CHECK-DAG:     "tri.slice"(
// WHY-DAG: tri.slice: vanilla copies windows of results of its own
func.func @keeps_windows(%a: tensor<2x16x2x3xi8>) -> (tensor<2x8x2x3xi8>, tensor<2x32x2x2xi8>, tensor<1x32x2x3xi8>, tensor<2x8x2x3xi8>) {
  %0 = "tri.concat"(%a, %a) {axis = 1 : i64} : (tensor<2x16x2x3xi8>, tensor<2x16x2x3xi8>) -> tensor<2x32x2x3xi8>
  %1 = "tri.slice"(%0) {starts = array<i64: 0, 8, 0, 0>, sizes = array<i64: 2, 8, 2, 3>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x32x2x3xi8>) -> tensor<2x8x2x3xi8>
  %2 = "tri.slice"(%0) {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 2, 32, 2, 2>, steps = array<i64: 1, 1, 1, 2>} : (tensor<2x32x2x3xi8>) -> tensor<2x32x2x2xi8>
  %3 = "tri.slice"(%0) {starts = array<i64: 1, 0, 0, 0>, sizes = array<i64: 1, 32, 2, 3>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x32x2x3xi8>) -> tensor<1x32x2x3xi8>
  %4 = "tri.slice"(%a) {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 2, 8, 2, 3>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x16x2x3xi8>) -> tensor<2x8x2x3xi8>
  return %1, %2, %3, %4 : tensor<2x8x2x3xi8>, tensor<2x32x2x2xi8>, tensor<1x32x2x3xi8>, tensor<2x8x2x3xi8>
}

// CHECK-LABEL: func.func @selects_a_resize
// CHECK:         "dla.resize"({{.*}}out = array<i64: 4, 9>{{.*}}step = array<i64: 32768, 21845>
func.func @selects_a_resize(%x: tensor<1x1x2x3xi8>) -> tensor<1x1x4x9xi8> {
  %0 = "tri.resize"(%x) {sizes = array<i64: 1, 1, 4, 9>, scales = array<f64: 1.0, 1.0, 2.0, 3.0>, coordinate_transform = "asymmetric", nearest_mode = "floor"} : (tensor<1x1x2x3xi8>) -> tensor<1x1x4x9xi8>
  return %0 : tensor<1x1x4x9xi8>
}

// Rounding of f64 drew these pixels: no steps of the machine find the same ones.
// CHECK-LABEL: func.func @keeps_a_resize_with_other_pixels
// CHECK:         "tri.resize"(
// WHY-DAG: tri.resize: no start and step in parts of 2^16 find the same pixels
func.func @keeps_a_resize_with_other_pixels(%x: tensor<1x1x1x12xi8>) -> tensor<1x1x1x28xi8> {
  %0 = "tri.resize"(%x) {sizes = array<i64: 1, 1, 1, 28>, scales = array<f64: 1.0, 1.0, 1.0, 2.3333333333333335>, coordinate_transform = "half_pixel", nearest_mode = "floor"} : (tensor<1x1x1x12xi8>) -> tensor<1x1x1x28xi8>
  return %0 : tensor<1x1x1x28xi8>
}
