// RUN: trivium-opt %s --cut-model='outputs=y' --split-input-file | FileCheck %s
// RUN: trivium-opt %s --cut-model='inputs=a outputs=y' --split-input-file | FileCheck %s --check-prefix=INNER

// Symbols that only other inputs give are gone, and so are checks of them.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[X:.*]]: tensor<?x3xf32, ["N", ""]>)
// CHECK-SAME:    trivium.symbols = {N = "1.."}
// CHECK-NOT:     tri.exp
// INNER-LABEL: func.func @main
// INNER-SAME:    (%[[A:.*]]: tensor<?x3xf32, ["N", ""]>)
// INNER-SAME:    trivium.inputs = ["a"]
// INNER-NOT:     tri.relu
func.func @main(%x: tensor<?x3xf32, ["N", ""]>, %z: tensor<?x3xf32, ["M", ""]>) -> (tensor<?x3xf32, ["N", ""]>, tensor<?x3xf32, ["M", ""]>)
    attributes {trivium.inputs = ["x", "z"], trivium.outputs = ["y", "w"], trivium.symbols = {M = "1..", N = "1.."},
                trivium.checks = [{expression = "M + -8", message = "M must be at least 8", node = "n", relation = ">="}]} {
  %0 = "tri.relu"(%x) : (tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["N", ""]> loc("first"("a"))
  %1 = "tri.tanh"(%0) : (tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["N", ""]> loc("second"("y"))
  %2 = "tri.exp"(%z) : (tensor<?x3xf32, ["M", ""]>) -> tensor<?x3xf32, ["M", ""]> loc("third"("w"))
  return %1, %2 : tensor<?x3xf32, ["N", ""]>, tensor<?x3xf32, ["M", ""]>
}

// -----

// State stays where the input is needed that it becomes, and goes with it.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[PAST:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-SAME:    trivium.inputs = ["past", "x"], trivium.outputs = ["y", "next"]
// CHECK-SAME:    trivium.state = {next = "past"}
// INNER-LABEL: func.func @main
// INNER-SAME:    (%[[A:.*]]: tensor<4xf32>) -> tensor<4xf32> attributes {trivium.inputs = ["a"], trivium.outputs = ["y"]}
func.func @main(%past: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    attributes {trivium.inputs = ["past", "x"], trivium.outputs = ["next", "y", "w"], trivium.state = {next = "past"}} {
  %0 = "tri.add"(%past, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("first"("a"))
  %1 = "tri.tanh"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("second"("y"))
  %2 = "tri.mul"(%past, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("third"("next"))
  %3 = "tri.exp"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("fourth"("w"))
  return %2, %1, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
