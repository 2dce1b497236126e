// The ops of a group that no target takes as a whole are grouped again, target by target.
// RUN: trivium-opt %s --fuse-epilogues --fuse-elementwise --place="targets=cpu,host" | FileCheck %s
// RUN: trivium-opt %s --place="targets=cpu,host" | FileCheck %s --check-prefix=SINGLE

// What quantises the result of an op without a kernel stays one kernel.
// CHECK:      %[[H:.*]] = "tri.group"(%arg0, %arg1)
// CHECK:          "tri.linear"
// CHECK:        target = "host"
// CHECK:      %[[Q:.*]] = "tri.group"(%[[H]])
// CHECK:          "tri.mul"
// CHECK-NEXT:     "tri.round"
// CHECK-NEXT:     "tri.clip"
// CHECK-NEXT:     "tri.cast"
// CHECK-NEXT:     "tri.yield"
// CHECK:        target = "cpu"

// Ops between others split them: what comes before them and what comes after are two kernels.
// CHECK:      %[[B:.*]] = "tri.group"(%arg0)
// CHECK:          "tri.exp"
// CHECK-NEXT:     "tri.neg"
// CHECK-NEXT:     "tri.yield"
// CHECK:        target = "cpu"
// CHECK:      %[[I:.*]] = "tri.group"(%[[B]])
// CHECK:          "tri.quantize"
// CHECK:        target = "host"
// CHECK:      %[[L:.*]] = "tri.group"(%[[I]])
// CHECK:          "tri.dequantize"
// CHECK:        target = "host"
// CHECK:      %[[A:.*]] = "tri.group"(%[[L]])
// CHECK:          "tri.abs"
// CHECK-NEXT:     "tri.sqrt"
// CHECK-NEXT:     "tri.yield"
// CHECK:        target = "cpu"

// Nothing but what the groups needed is left of their constants.
// CHECK-NOT:  "tri.constant"
// CHECK:      return %[[Q]], %[[A]]

// Ops that were in no group are not grouped here.
// SINGLE-COUNT-11: "tri.group"
func.func @main(%x: tensor<4x3xf32>, %w: tensor<3x3xf32>) -> (tensor<4x3xi8>, tensor<4x3xf32>) {
  %scale = "tri.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %h = "tri.linear"(%x, %w) : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  %m = "tri.mul"(%h, %scale) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %r = "tri.round"(%m) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %c = "tri.clip"(%r) {min = -128.0, max = 127.0} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %q = "tri.cast"(%c) {to = "i8"} : (tensor<4x3xf32>) -> tensor<4x3xi8>
  %e = "tri.exp"(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %n = "tri.neg"(%e) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %p = "tri.quantize"(%n) {to = "!quant.uniform<i8:f32, 0.5:3>"} : (tensor<4x3xf32>) -> tensor<4x3x!quant.uniform<i8:f32, 0.5:3>>
  %l = "tri.dequantize"(%p) {of = "!quant.uniform<i8:f32, 0.5:3>"} : (tensor<4x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4x3xf32>
  %a = "tri.abs"(%l) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %s = "tri.sqrt"(%a) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %q, %s : tensor<4x3xi8>, tensor<4x3xf32>
}
