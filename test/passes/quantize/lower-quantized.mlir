// RUN: trivium-opt %s --lower-quantized --eliminate | FileCheck %s

// The sum of products is of i32, its bias has the scale of products, and relu is a bound.
// CHECK-LABEL: func.func @computes_a_convolution_on_integers
// CHECK-NOT:     tri.dequantize
// CHECK:         %[[B:.*]] = "tri.constant"() {value = dense<12> : tensor<1xi32>}
// CHECK:         %[[X:.*]] = "tri.sub"({{.*}} : (tensor<1x1x2x2xi32>
// CHECK:         %[[SUM:.*]] = "tri.conv"(%[[X]], {{.*}}, %[[B]]) {{.*}} -> tensor<1x1x2x2xi32>
// CHECK:         "tri.requantize"(%[[SUM]]) {{.*}}low = -10 : i64, multiplier = array<i64: 1073741824>{{.*}}shift = array<i64: 33>{{.*}}zero_point = -10
// CHECK-NOT:     tri.relu
// CHECK-NOT:     tri.quantize
func.func @computes_a_convolution_on_integers(%x: tensor<1x1x2x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x1x2x2x!quant.uniform<i8:f32, 1.0:-10>> {
  %w = "tri.constant"() {value = dense<7> : tensor<1x1x1x1xi8>} : () -> tensor<1x1x1x1xi8>
  %b = "tri.constant"() {value = dense<1.5> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 0.5:3>"} : (tensor<1x1x2x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x1x2x2xf32>
  %1 = "tri.storage_cast"(%w) {to = "!quant.uniform<i8:f32, 0.25>"} : (tensor<1x1x1x1xi8>) -> tensor<1x1x1x1x!quant.uniform<i8:f32, 0.25>>
  %2 = "tri.dequantize"(%1) {of = "!quant.uniform<i8:f32, 0.25>"} : (tensor<1x1x1x1x!quant.uniform<i8:f32, 0.25>>) -> tensor<1x1x1x1xf32>
  %3 = "tri.conv"(%0, %2, %b) {operandSegmentSizes = array<i32: 1, 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x2x2xf32>
  %4 = "tri.relu"(%3) : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %5 = "tri.quantize"(%4) {to = "!quant.uniform<i8:f32, 1.0:-10>"} : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2x!quant.uniform<i8:f32, 1.0:-10>>
  return %5 : tensor<1x1x2x2x!quant.uniform<i8:f32, 1.0:-10>>
}

// An equal scale needs nothing: integers are moved as they are.
// CHECK-LABEL: func.func @moves_integers_of_one_scale
// CHECK:         "tri.max_pool"({{.*}}) {{.*}} -> tensor<1x1x1x1xi8>
// CHECK-NOT:     tri.requantize
// CHECK:         return
func.func @moves_integers_of_one_scale(%x: tensor<1x1x2x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x1x1x1x!quant.uniform<i8:f32, 0.5:3>> {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 0.5:3>"} : (tensor<1x1x2x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x1x2x2xf32>
  %1 = "tri.max_pool"(%0) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32>
  %2 = "tri.quantize"(%1) {to = "!quant.uniform<i8:f32, 0.5:3>"} : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1x!quant.uniform<i8:f32, 0.5:3>>
  return %2 : tensor<1x1x1x1x!quant.uniform<i8:f32, 0.5:3>>
}

// The float that goes to relu is also a result: it would have to be computed twice.
// CHECK-LABEL: func.func @keeps_a_sum_with_two_users
// CHECK:         "tri.add"({{.*}} -> tensor<2xf32>
// CHECK:         "tri.quantize"
func.func @keeps_a_sum_with_two_users(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> (tensor<2xf32>, tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 0.5>"} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  %1 = "tri.add"(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = "tri.quantize"(%1) {to = "!quant.uniform<i8:f32, 1.0>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return %1, %2 : tensor<2xf32>, tensor<2x!quant.uniform<i8:f32, 1.0>>
}

// One of the terms is no quantised number.
// CHECK-LABEL: func.func @keeps_a_float_term
// CHECK:         "tri.add"({{.*}} -> tensor<2xf32>
// CHECK:         "tri.quantize"
func.func @keeps_a_float_term(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>> {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 0.5>"} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  %1 = "tri.add"(%0, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = "tri.quantize"(%1) {to = "!quant.uniform<i8:f32, 1.0>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return %2 : tensor<2x!quant.uniform<i8:f32, 1.0>>
}

// Products of words may be too large for i32.
// CHECK-LABEL: func.func @keeps_products_of_words
// CHECK:         "tri.mul"({{.*}} -> tensor<2xf32>
// CHECK:         "tri.quantize"
func.func @keeps_products_of_words(%x: tensor<2x!quant.uniform<u16:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 1.0>> {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<u16:f32, 0.5>"} : (tensor<2x!quant.uniform<u16:f32, 0.5>>) -> tensor<2xf32>
  %2 = "tri.mul"(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = "tri.quantize"(%2) {to = "!quant.uniform<i8:f32, 1.0>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return %3 : tensor<2x!quant.uniform<i8:f32, 1.0>>
}

// Both terms get a multiplier; one shift and one rounding bring the sum to the result's scale.
// CHECK-LABEL: func.func @adds_with_one_rounding
// CHECK-DAG:     %[[MA:.*]] = "tri.constant"() {value = dense<8388608> : tensor<i32>}
// CHECK-DAG:     %[[MB:.*]] = "tri.constant"() {value = dense<4194304> : tensor<i32>}
// CHECK-DAG:     %[[A:.*]] = "tri.mul"({{.*}}, %[[MA]]) : (tensor<2xi32>
// CHECK-DAG:     %[[B:.*]] = "tri.mul"({{.*}}, %[[MB]]) : (tensor<2xi32>
// CHECK:         %[[SUM:.*]] = "tri.add"(%[[A]], %[[B]])
// CHECK:         "tri.requantize"(%[[SUM]]) {{.*}}multiplier = array<i64: 1>{{.*}}shift = array<i64: 24>
func.func @adds_with_one_rounding(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x!quant.uniform<i8:f32, 1.0>> {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 0.5>"} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  %1 = "tri.dequantize"(%y) {of = "!quant.uniform<i8:f32, 0.25>"} : (tensor<2x!quant.uniform<i8:f32, 0.25>>) -> tensor<2xf32>
  %2 = "tri.add"(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = "tri.quantize"(%2) {to = "!quant.uniform<i8:f32, 1.0>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return %3 : tensor<2x!quant.uniform<i8:f32, 1.0>>
}

// All ops between one byte and another become a table: silu is two of them.
// CHECK-LABEL: func.func @looks_up_functions_of_one_byte
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[TABLE:.*]] = "tri.constant"() {{.*}} : () -> tensor<256xi8>
// CHECK:         %[[INDEX:.*]] = "tri.storage_cast"(%[[X]]) {to = "i8"}
// CHECK:         "tri.gather"(%[[TABLE]], %[[INDEX]])
// CHECK-NOT:     tri.sigmoid
// CHECK:         return
func.func @looks_up_functions_of_one_byte(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 1.0>> {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 0.5>"} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  %1 = "tri.sigmoid"(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "tri.mul"(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = "tri.quantize"(%2) {to = "!quant.uniform<i8:f32, 1.0>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return %3 : tensor<2x!quant.uniform<i8:f32, 1.0>>
}

// The constant has another number for each element, so there is no one table.
// CHECK-LABEL: func.func @keeps_a_function_that_depends_on_the_place
// CHECK:         "tri.div"
// CHECK-NOT:     tri.gather
func.func @keeps_a_function_that_depends_on_the_place(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 1.0>> {
  %c = "tri.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 0.5>"} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  %1 = "tri.div"(%0, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = "tri.quantize"(%1) {to = "!quant.uniform<i8:f32, 1.0>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return %2 : tensor<2x!quant.uniform<i8:f32, 1.0>>
}

// The sigmoid is a result, too.
// CHECK-LABEL: func.func @keeps_a_function_with_two_users
// CHECK:         "tri.sigmoid"
// CHECK-NOT:     tri.gather
func.func @keeps_a_function_with_two_users(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> (tensor<2xf32>, tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 0.5>"} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  %1 = "tri.sigmoid"(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "tri.quantize"(%1) {to = "!quant.uniform<i8:f32, 1.0>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return %1, %2 : tensor<2xf32>, tensor<2x!quant.uniform<i8:f32, 1.0>>
}

// A function of two bytes would need a table of 65536 entries.
// CHECK-LABEL: func.func @keeps_a_function_of_two_bytes
// CHECK:         "tri.div"
// CHECK-NOT:     tri.gather
func.func @keeps_a_function_of_two_bytes(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 1.0>> {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 0.5>"} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  %1 = "tri.dequantize"(%y) {of = "!quant.uniform<i8:f32, 0.5>"} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  %2 = "tri.div"(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = "tri.quantize"(%2) {to = "!quant.uniform<i8:f32, 1.0>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return %3 : tensor<2x!quant.uniform<i8:f32, 1.0>>
}

// Weights that are turned after they were dequantised: integers are turned, scales go with them.
// CHECK-LABEL: func.func @turns_integers
// CHECK:         %[[W:.*]] = "tri.transpose"({{.*}}) {permutation = array<i64: 1, 0>} : (tensor<2x1x!quant.uniform
// CHECK:         "tri.storage_cast"(%[[W]]) {to = "i8"}
// CHECK:         "tri.mat_mul"({{.*}}) : (tensor<3x1xi32>, tensor<1x2xi32>)
// CHECK:         "tri.requantize"({{.*}}) {axis = 1 : i64
func.func @turns_integers(%x: tensor<3x1x!quant.uniform<i8:f32, 0.5>>, %w: tensor<2x1x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<3x2x!quant.uniform<i8:f32, 1.0>> {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 0.5>"} : (tensor<3x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<3x1xf32>
  %1 = "tri.dequantize"(%w) {of = "!quant.uniform<i8:f32:0, {0.5, 0.25}>"} : (tensor<2x1x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x1xf32>
  %2 = "tri.transpose"(%1) {permutation = array<i64: 1, 0>} : (tensor<2x1xf32>) -> tensor<1x2xf32>
  %3 = "tri.mat_mul"(%0, %2) : (tensor<3x1xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  %4 = "tri.quantize"(%3) {to = "!quant.uniform<i8:f32, 1.0>"} : (tensor<3x2xf32>) -> tensor<3x2x!quant.uniform<i8:f32, 1.0>>
  return %4 : tensor<3x2x!quant.uniform<i8:f32, 1.0>>
}

// Softmax is not elementwise: moves of its results are looked through in vain.
// CHECK-LABEL: func.func @keeps_a_move_of_floats
// CHECK:         "tri.softmax"
// CHECK:         "tri.transpose"({{.*}} -> tensor<1x3xf32>
// CHECK:         "tri.quantize"
func.func @keeps_a_move_of_floats(%x: tensor<3x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x3x!quant.uniform<i8:f32, 1.0>> {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 0.5>"} : (tensor<3x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<3x1xf32>
  %1 = "tri.softmax"(%0) {axis = 0 : i64} : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %2 = "tri.transpose"(%1) {permutation = array<i64: 1, 0>} : (tensor<3x1xf32>) -> tensor<1x3xf32>
  %3 = "tri.quantize"(%2) {to = "!quant.uniform<i8:f32, 1.0>"} : (tensor<1x3xf32>) -> tensor<1x3x!quant.uniform<i8:f32, 1.0>>
  return %3 : tensor<1x3x!quant.uniform<i8:f32, 1.0>>
}

// Windows at the border have less of the input: they are divided by what they have.
// CHECK-LABEL: func.func @divides_averages_by_what_is_inside
// CHECK:         %[[SUM:.*]] = "tri.conv"({{.*}}pads = array<i64: 1, 0, 0, 0>
// CHECK:         %[[COUNT:.*]] = "tri.constant"() {value = dense<{{\[\[}}1, 1], [2, 2]]> : tensor<2x2xi32>}
// CHECK:         "tri.requantize_mean"(%[[SUM]], %[[COUNT]]) {{.*}}multiplier = 1431655765 : i64, shift = 31
func.func @divides_averages_by_what_is_inside(%x: tensor<1x1x2x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x1x2x2x!quant.uniform<i8:f32, 0.75:3>> {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 0.5:3>"} : (tensor<1x1x2x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x1x2x2xf32>
  %1 = "tri.average_pool"(%0) {kernel = array<i64: 2, 1>, strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %2 = "tri.quantize"(%1) {to = "!quant.uniform<i8:f32, 0.75:3>"} : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2x!quant.uniform<i8:f32, 0.75:3>>
  return %2 : tensor<1x1x2x2x!quant.uniform<i8:f32, 0.75:3>>
}

// What hangs over the end does not count, but padding does.
// CHECK-LABEL: func.func @keeps_averages_that_count_some_of_the_padding
// CHECK:         "tri.average_pool"({{.*}} -> tensor<1x1x2x1xf32>
func.func @keeps_averages_that_count_some_of_the_padding(%x: tensor<1x1x2x1x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x1x2x1x!quant.uniform<i8:f32, 1.0:3>> {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32, 0.5:3>"} : (tensor<1x1x2x1x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x1x2x1xf32>
  %1 = "tri.average_pool"(%0) {kernel = array<i64: 2, 1>, strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = true, count_include_pad = true} : (tensor<1x1x2x1xf32>) -> tensor<1x1x2x1xf32>
  %2 = "tri.quantize"(%1) {to = "!quant.uniform<i8:f32, 1.0:3>"} : (tensor<1x1x2x1xf32>) -> tensor<1x1x2x1x!quant.uniform<i8:f32, 1.0:3>>
  return %2 : tensor<1x1x2x1x!quant.uniform<i8:f32, 1.0:3>>
}

// Bytes without a scale are no quantised numbers: nothing says what they stand for.
// CHECK-LABEL: func.func @keeps_a_function_of_plain_bytes
// CHECK:         "tri.sigmoid"
// CHECK:         "tri.quantize"
func.func @keeps_a_function_of_plain_bytes(%x: tensor<2xui8>) -> tensor<2x!quant.uniform<i8:f32, 1.0>> {
  %f = "tri.cast"(%x) {to = "f32"} : (tensor<2xui8>) -> tensor<2xf32>
  %s = "tri.sigmoid"(%f) : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.quantize"(%s) {to = "!quant.uniform<i8:f32, 1.0>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return %y : tensor<2x!quant.uniform<i8:f32, 1.0>>
}
