// RUN: trivium-opt %s --verify-values --split-input-file --verify-diagnostics

// A group's value is that of the op that it yields.
func.func @accepts_group(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %b = "tri.relu"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc("relu"("y"))
    "tri.yield"(%b) : (tensor<2xf32>) -> () loc("relu"("y"))
  }) : (tensor<2xf32>) -> tensor<2xf32> loc("relu"("y"))
  return %y : tensor<2xf32>
}

// -----

func.func @finds_value_claimed_twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("first"("v"))
  // expected-error @unknown {{'tri.exp' op claims value 'v', as 'tri.relu' does}}
  %b = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc("second"("v"))
  return %b : tensor<2xf32>
}

// -----

// expected-error @below {{'func.func' op names 2 outputs in 'trivium.outputs', has 1}}
func.func @finds_lost_output(%x: tensor<2xf32>) -> tensor<2xf32> attributes {trivium.outputs = ["a", "b"]} {
  return %x : tensor<2xf32>
}
