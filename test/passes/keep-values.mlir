// RUN: trivium-opt %s --keep-values='values=a,w*,x' --split-input-file | FileCheck %s
// RUN: trivium-opt %s --keep-values='values=w*' --split-input-file | FileCheck %s --check-prefix=SAME
// RUN: not trivium-opt %s --keep-values='values=a,bb' --split-input-file 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: keep has 'bb', which is no value of the model, and matches none: did you mean 'b'?

// A value that is kept is returned, too; an input and what is an output already are not.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    trivium.inputs = ["x"], trivium.kept = ["a"], trivium.outputs = ["w", "a"]
// CHECK:         %[[A:.*]] = "tri.relu"
// CHECK:         %[[B:.*]] = "tri.exp"(%[[A]])
// CHECK:         %[[W:.*]] = "tri.tanh"(%[[B]])
// CHECK:         return %[[W]], %[[A]]
// SAME-NOT:      trivium.kept
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {trivium.inputs = ["x"], trivium.outputs = ["w"]} {
  %0 = "tri.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("first"("a"))
  %1 = "tri.exp"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("second"("b"))
  %2 = "tri.tanh"(%1) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("third"("w"))
  return %2 : tensor<2x3xf32>
}

// -----

// What is an output, or an input, is not kept once more.
// CHECK-LABEL: func.func @keeps_outputs_alone
// CHECK-SAME:    -> (tensor<4xf32>, tensor<4xf32>) attributes {trivium.inputs = ["x"], trivium.outputs = ["w", "a"]}
func.func @keeps_outputs_alone(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {trivium.inputs = ["x"], trivium.outputs = ["w", "a"]} {
  %0 = "tri.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("first"("a"))
  %1 = "tri.tanh"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("second"("w"))
  return %1, %0 : tensor<4xf32>, tensor<4xf32>
}
