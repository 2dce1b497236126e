// RUN: trivium-opt %s --split-input-file --quantize=table=%S/inputs/scales.json | FileCheck %s
// RUN: trivium-opt %s --split-input-file --quantize="table=%S/inputs/scales.json per-tensor" | FileCheck %s --check-prefix=WHOLE

// The input and the result are rounded; the sum before relu is not, which becomes a bound of the
// result. Each channel of the weights has a scale, and the bias that of products. What is moved
// keeps its scale.
// CHECK-LABEL: func.func @quantizes_a_convolution
// CHECK:         %[[XQ:.*]] = "tri.quantize"({{.*}}) {to = "!quant.uniform<i8:f32, 5.000000e-01:3>"}
// CHECK:         %[[X:.*]] = "tri.dequantize"(%[[XQ]])
// CHECK:         dense<127> : tensor<2x1x1x1xi8>
// CHECK:         %[[W:.*]] = "tri.dequantize"({{.*}} : (tensor<2x1x1x1x!quant.uniform<i8:f32:0,
// CHECK:         %[[B:.*]] = "tri.dequantize"({{.*}} : (tensor<2x!quant.uniform<i32:f32:0,
// CHECK:         %[[C:.*]] = "tri.conv"(%[[X]], %[[W]], %[[B]])
// CHECK:         %[[R:.*]] = "tri.relu"(%[[C]])
// CHECK:         "tri.quantize"(%[[R]]) {to = "!quant.uniform<u8:f32, 2.500000e-01>"}
// CHECK:         "tri.reshape"
// CHECK:         "tri.quantize"({{.*}}) {to = "!quant.uniform<u8:f32, 2.500000e-01>"}
//
// Or all weights have one scale.
// WHOLE-LABEL: func.func @quantizes_a_convolution
// WHOLE:         dense<{{\[\[\[\[}}64]]], [{{\[\[}}127]]]]> : tensor<2x1x1x1xi8>
func.func @quantizes_a_convolution(%x: tensor<1x1x2x2xf32>) -> tensor<2x4xf32> attributes {trivium.inputs = ["x"]} {
  %w = "tri.constant"() {value = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>} : () -> tensor<2x1x1x1xf32>
  %b = "tri.constant"() {value = dense<[1.5, -0.5]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "tri.conv"(%x, %w, %b) {operandSegmentSizes = array<i32: 1, 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32> loc("Conv"("c"))
  %1 = "tri.relu"(%0) : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("Relu"("r"))
  %2 = "tri.reshape"(%1) {shape = array<i64: 2, 4>} : (tensor<1x2x2x2xf32>) -> tensor<2x4xf32> loc("Reshape"("y"))
  return %2 : tensor<2x4xf32>
}

// -----

// The result of exp is not in the table, and stays a float.
// CHECK-LABEL: func.func @keeps_values_that_are_not_in_the_table
// CHECK:         "tri.quantize"(%arg0)
// CHECK:         "tri.quantize"(%[[R:.*]]) {to = "!quant.uniform<u8
// CHECK:         %[[E:.*]] = "tri.exp"
// CHECK-NEXT:    return %[[E]]
func.func @keeps_values_that_are_not_in_the_table(%x: tensor<2xf32>) -> tensor<2xf32> attributes {trivium.inputs = ["x"]} {
  %0 = "tri.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("Add"("r"))
  %1 = "tri.exp"(%0) : (tensor<2xf32>) -> tensor<2xf32> loc("Exp"("e"))
  return %1 : tensor<2xf32>
}

// -----

// Both terms are rounded, each once, before the first op that uses them.
// CHECK-LABEL: func.func @quantizes_both_terms
// CHECK-DAG:     %[[X:.*]] = "tri.dequantize"({{.*}}x!quant.uniform<i8
// CHECK-DAG:     %[[R:.*]] = "tri.dequantize"({{.*}}x!quant.uniform<u8
// CHECK:         "tri.add"(%[[X]], %[[R]])
// CHECK-NOT:     tri.quantize
// CHECK:         "tri.mul"(%[[R]], %[[X]])
func.func @quantizes_both_terms(%x: tensor<2xf32>, %r: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) attributes {trivium.inputs = ["x", "r"]} {
  %0 = "tri.add"(%x, %r) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("Add"("a"))
  %1 = "tri.mul"(%r, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("Mul"("m"))
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// -----

// A window has the scale of what it is taken from.
// CHECK-LABEL: func.func @windows_keep_their_scale
// CHECK:         "tri.quantize"({{.*}}) {to = "!quant.uniform<u8:f32, 2.500000e-01>"} : (tensor<4xf32>)
// CHECK:         "tri.slice"
// CHECK:         "tri.quantize"({{.*}}) {to = "!quant.uniform<u8:f32, 2.500000e-01>"} : (tensor<2xf32>)
func.func @windows_keep_their_scale(%x: tensor<4xf32>) -> tensor<2xf32> attributes {trivium.inputs = ["x"]} {
  %0 = "tri.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("Add"("r"))
  %1 = "tri.slice"(%0) {starts = array<i64: 1>, sizes = array<i64: 2>, steps = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32> loc("Slice"("s"))
  return %1 : tensor<2xf32>
}

// -----

// Whoever else reads the sum may do so in integers.
// CHECK-LABEL: func.func @rounds_sums_that_others_read
// CHECK:         %[[S:.*]] = "tri.add"
// CHECK:         "tri.quantize"(%[[S]]) {to = "!quant.uniform<u8:f32, 2.500000e-01>"}
func.func @rounds_sums_that_others_read(%x: tensor<2xf32>, %mask: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) attributes {trivium.inputs = ["x", "m"]} {
  %0 = "tri.add"(%x, %mask) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("Add"("r"))
  %1 = "tri.softmax"(%0) {axis = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32> loc("Softmax"("e"))
  return %1, %0 : tensor<2xf32>, tensor<2xf32>
}
