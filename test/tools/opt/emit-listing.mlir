// RUN: trivium-opt %s --split-input-file --emit=listing | FileCheck %s

// A graph as ONNC lists it: inputs and constants are ops, too, and all attributes are shown.
// CHECK:      main {
// CHECK-NEXT:   %data_0<f32>[1, 3, 67, 67] = InputOperator()
// CHECK-NEXT:   %conv1_w_0<f32>[8, 3, 11, 11] = Initializer()
// CHECK-NEXT:   %conv1_b_0<f32>[8] = Initializer()
// CHECK-NEXT:   %conv1_1<f32>[1, 8, 15, 15] = tri.conv<strides: [4, 4], pads: [0, 0, 0, 0], dilations: [1, 1], group: 1>(%data_0<f32>[1, 3, 67, 67], %conv1_w_0<f32>[8, 3, 11, 11], %conv1_b_0<f32>[8])
// CHECK-NEXT:   %conv1_2<f32>[1, 8, 15, 15] = tri.relu(%conv1_1<f32>[1, 8, 15, 15])
// CHECK-NEXT:   %norm1_1<f32>[1, 8, 15, 15] = tri.lrn<size: 5, alpha: 0.0001, beta: 0.75, bias: 1.0>(%conv1_2<f32>[1, 8, 15, 15])
// CHECK-NEXT:   %pool1_1<f32>[1, 8, 7, 7] = tri.max_pool<kernel: [3, 3], strides: [2, 2], pads: [0, 0, 0, 0], dilations: [1, 1], ceil_mode: false>(%norm1_1<f32>[1, 8, 15, 15])
// CHECK-NEXT:   %flat_1<f32>[1, 392] = tri.reshape<shape: [1, 392]>(%pool1_1<f32>[1, 8, 7, 7])
// CHECK-NEXT:   %fc8_w_0<f32>[392, 10] = Initializer()
// CHECK-NEXT:   %fc8_1<f32>[1, 10] = tri.mat_mul(%flat_1<f32>[1, 392], %fc8_w_0<f32>[392, 10])
// CHECK-NEXT:   %prob_1<f32>[1, 10] = tri.softmax<axis: 1>(%fc8_1<f32>[1, 10])
// CHECK-NEXT:   OutputOperator(%prob_1<f32>[1, 10])
// CHECK-NEXT: }
func.func @main(%x: tensor<1x3x67x67xf32> loc("data"("data_0"))) -> tensor<1x10xf32> {
  %w = "tri.constant"() {value = dense<0.5> : tensor<8x3x11x11xf32>} : () -> tensor<8x3x11x11xf32> loc("conv1_w_0"("conv1_w_0"))
  %b = "tri.constant"() {value = dense<0.0> : tensor<8xf32>} : () -> tensor<8xf32> loc("conv1_b_0"("conv1_b_0"))
  %0 = "tri.conv"(%x, %w, %b) {pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 4, 4>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x3x67x67xf32>, tensor<8x3x11x11xf32>, tensor<8xf32>) -> tensor<1x8x15x15xf32> loc("conv1"("conv1_1"))
  %1 = "tri.relu"(%0) : (tensor<1x8x15x15xf32>) -> tensor<1x8x15x15xf32> loc("relu1"("conv1_2"))
  %2 = "tri.lrn"(%1) {size = 5 : i64} : (tensor<1x8x15x15xf32>) -> tensor<1x8x15x15xf32> loc("norm1"("norm1_1"))
  %3 = "tri.max_pool"(%2) {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x15x15xf32>) -> tensor<1x8x7x7xf32> loc("pool1"("pool1_1"))
  %4 = "tri.reshape"(%3) {shape = array<i64: 1, 392>} : (tensor<1x8x7x7xf32>) -> tensor<1x392xf32> loc("flat"("flat_1"))
  %fw = "tri.weight"() {name = "fc8_w_0", type = tensor<392x10xf32>} : () -> tensor<392x10xf32> loc("fc8_w_0"("fc8_w_0"))
  %5 = "tri.mat_mul"(%4, %fw) : (tensor<1x392xf32>, tensor<392x10xf32>) -> tensor<1x10xf32> loc("fc8"("fc8_1"))
  %6 = "tri.softmax"(%5) {axis = 1 : i64} : (tensor<1x10xf32>) -> tensor<1x10xf32> loc("prob"("prob_1"))
  return %6 : tensor<1x10xf32>
}

// -----

// What has no name gets a number, no two have the same, and what is inside is indented.
// CHECK:      twins {
// CHECK-NEXT:   %x<f32>[2] = InputOperator()
// CHECK-NEXT:   %x_1<f32>[2], %2<f32>[2] = tri.group<target: "cpu">(%x<f32>[2]) {
// CHECK-NEXT:     %3<f32>[2] = Argument()
// CHECK-NEXT:     %4<f32>[2] = tri.relu(%3<f32>[2])
// CHECK-NEXT:     tri.yield(%4<f32>[2], %3<f32>[2])
// CHECK-NEXT:   }
// CHECK-NEXT:   OutputOperator(%x_1<f32>[2], %2<f32>[2])
// CHECK-NEXT: }
func.func @twins(%x: tensor<2xf32> loc("x"("x"))) -> (tensor<2xf32>, tensor<2xf32>) {
  %0:2 = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %1 = "tri.relu"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%1, %a) : (tensor<2xf32>, tensor<2xf32>) -> ()
  }) {target = "cpu"} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) loc("r"("x"))
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}
