// RUN: trivium-opt %s --cut-model='inputs=a,z outputs=y' --split-input-file | FileCheck %s
// RUN: trivium-opt %s --cut-model='outputs=w*' --split-input-file | FileCheck %s --check-prefix=END
// RUN: trivium-opt %s --cut-model --split-input-file | FileCheck %s --check-prefix=WHOLE
// RUN: not trivium-opt %s --cut-model='inputs=a' --split-input-file 2>&1 | FileCheck %s --check-prefix=LACKS
// RUN: not trivium-opt %s --cut-model='inputs=aa outputs=q*' --split-input-file 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// LACKS: error: input 'z' is needed, but not in inputs: add it, or cut behind it
// UNKNOWN: error: inputs has 'aa', which is no value of the model, and matches none: did you mean 'a'?

// What made a value that becomes an input is gone, and so is what the outputs do not need.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[Z:.*]]: tensor<2x3xf32>, %[[A:.*]]: tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-SAME:    trivium.inputs = ["z", "a"], trivium.outputs = ["y"]
// CHECK-NOT:     tri.relu
// CHECK:         %[[B:.*]] = "tri.exp"(%[[A]])
// CHECK:         %[[Y:.*]] = "tri.add"(%[[B]], %[[Z]])
// CHECK-NOT:     tri.tanh
// CHECK:         return %[[Y]] :

// An input that is not needed is gone.
// END-LABEL: func.func @main
// END-SAME:    (%[[X:.*]]: tensor<2x3xf32>) -> tensor<2x3xf32>
// END-SAME:    trivium.inputs = ["x"], trivium.outputs = ["w"]
// END:         %[[A:.*]] = "tri.relu"(%[[X]])
// END-NEXT:    %[[W:.*]] = "tri.tanh"(%[[A]])
// END-NEXT:    return %[[W]] :

// WHOLE-LABEL: func.func @main
// WHOLE-SAME:    trivium.inputs = ["x", "z"], trivium.outputs = ["y", "w"]
// WHOLE:         tri.relu
// WHOLE:         tri.tanh
func.func @main(%x: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    attributes {trivium.inputs = ["x", "z"], trivium.outputs = ["y", "w"]} {
  %0 = "tri.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("first"("a"))
  %1 = "tri.exp"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("second"("b"))
  %2 = "tri.add"(%1, %z) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("third"("y"))
  %3 = "tri.tanh"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("fourth"("w"))
  return %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// A model of which all is needed stays as it is.
// CHECK-LABEL: func.func @keeps_what_is_needed
// CHECK-SAME:    trivium.inputs = ["a", "z"], trivium.outputs = ["y"]
// CHECK:         tri.exp
// CHECK:         tri.add
func.func @keeps_what_is_needed(%a: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32>
    attributes {trivium.inputs = ["a", "z"], trivium.outputs = ["y"]} {
  %0 = "tri.exp"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("second"("w2"))
  %1 = "tri.add"(%0, %z) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("third"("y"))
  return %1 : tensor<2x3xf32>
}
