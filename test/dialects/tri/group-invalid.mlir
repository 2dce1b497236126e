// RUN: trivium-opt %s --verify-diagnostics

// A group has a body.
func.func @no_body(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.group' op has 0 blocks in its body, must have 1}}
  %r = "tri.group"(%x) ({
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// With something in it.
func.func @body_is_empty(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.group' op body ends in nothing, must end in 'tri.yield'}}
  %r = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// The body sees the inputs, in their order, as its arguments.
func.func @arguments_differ(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.group' op body takes tensor<3xf32>; inputs are tensor<2xf32>}}
  %r = "tri.group"(%x) ({
  ^bb0(%a: tensor<3xf32>):
    "tri.yield"(%a) : (tensor<3xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// It ends by naming its outputs.
func.func @body_does_not_yield(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.group' op body ends in 'tri.relu', must end in 'tri.yield'}}
  %r = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %b = "tri.relu"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// Outputs and results are of the same types.
func.func @results_differ(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.group' op body yields (tensor<2xf32>), results are (tensor<3xf32>)}}
  %r = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// What the body uses comes in through the inputs: a group can be compiled by itself.
func.func @body_looks_outside(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.group' op body uses a value it does not define: operand 1 of 'tri.add'}}
  %r = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %b = "tri.add"(%a, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%b) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// Ops inside are checked like all others.
func.func @body_is_invalid(%x: tensor<2xf32>) {
  %r = "tri.group"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    // expected-error @below {{'tri.relu' op result is tensor<3xf32>, inferred tensor<2xf32>}}
    %b = "tri.relu"(%a) : (tensor<2xf32>) -> tensor<3xf32>
    "tri.yield"(%b) : (tensor<3xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<3xf32>
  return
}
