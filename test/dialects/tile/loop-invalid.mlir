// RUN: trivium-opt %s --verify-diagnostics

// Bounds are scalars.
func.func @upper_is_a_tile(%i: tensor<i32>, %n: tensor<4xi32>) {
  // expected-error @below {{'tile.for' op upper is tile<4xi32>, must be a scalar}}
  "tile.for"(%i, %n, %i) ({
  ^bb0(%j: tensor<i32>):
    "tile.yield"() : () -> ()
  }) : (tensor<i32>, tensor<4xi32>, tensor<i32>) -> ()
  return
}

// Of the type that programs count in.
func.func @step_is_wide(%i: tensor<i32>, %n: tensor<i64>) {
  // expected-error @below {{'tile.for' op step is tile<i64>, must be of i32}}
  "tile.for"(%i, %i, %n) ({
  ^bb0(%j: tensor<i32>):
    "tile.yield"() : () -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i64>) -> ()
  return
}

// There are three.
func.func @lacks_a_step(%i: tensor<i32>) {
  // expected-error @below {{'tile.for' op has 2 operands, must have at least 3}}
  "tile.for"(%i, %i) ({
  ^bb0(%j: tensor<i32>):
    "tile.yield"() : () -> ()
  }) : (tensor<i32>, tensor<i32>) -> ()
  return
}

// Loads start in the same turn, or in one before.
func.func @stages_are_negative(%i: tensor<i32>) {
  // expected-error @below {{'tile.for' op stages is -1, must not be negative}}
  "tile.for"(%i, %i, %i) ({
  ^bb0(%j: tensor<i32>):
    "tile.yield"() : () -> ()
  }) {stages = -1} : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  return
}

// A loop has a body.
func.func @no_body(%i: tensor<i32>) {
  // expected-error @below {{'tile.for' op has 0 blocks in its body, must have 1}}
  "tile.for"(%i, %i, %i) ({
  }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  return
}

// The body gets the index first.
func.func @body_takes_no_index(%i: tensor<i32>, %x: tensor<f32>) {
  // expected-error @below {{'tile.for' op body takes (tile<f32>), must take (tile<i32>, tile<f32>)}}
  %y = "tile.for"(%i, %i, %i, %x) ({
  ^bb0(%a: tensor<f32>):
    "tile.yield"(%a) : (tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>) -> tensor<f32>
  return
}

// What the body leaves has the type of what it got.
func.func @body_yields_another_type(%i: tensor<i32>, %x: tensor<f32>) {
  // expected-error @below {{'tile.for' op yields (tile<i32>), carries (tile<f32>)}}
  %y = "tile.for"(%i, %i, %i, %x) ({
  ^bb0(%j: tensor<i32>, %a: tensor<f32>):
    "tile.yield"(%j) : (tensor<i32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>) -> tensor<f32>
  return
}

// And so has the result.
func.func @result_differs(%i: tensor<i32>, %x: tensor<f32>) {
  // expected-error @below {{'tile.for' op returns (tile<f16>), carries (tile<f32>)}}
  %y = "tile.for"(%i, %i, %i, %x) ({
  ^bb0(%j: tensor<i32>, %a: tensor<f32>):
    "tile.yield"(%a) : (tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>) -> tensor<f16>
  return
}

// Memory stays where it is.
func.func @carries_memory(%i: tensor<i32>, %x: memref<4xf32>) {
  // expected-error @below {{'tile.for' op operand or result is memory<4xf32, strides (1,)>, must be a tile}}
  %y = "tile.for"(%i, %i, %i, %x) ({
  ^bb0(%j: tensor<i32>, %a: memref<4xf32>):
    // expected-error @below {{'tile.yield' op operand or result is memory<4xf32, strides (1,)>, must be a tile}}
    "tile.yield"(%a) : (memref<4xf32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>, memref<4xf32>) -> memref<4xf32>
  return
}

// The end of a kernel is none of a loop.
func.func @body_returns(%i: tensor<i32>) {
  // expected-error @below {{'tile.for' op body ends in 'tile.return', must end in 'tile.yield'}}
  "tile.for"(%i, %i, %i) ({
  ^bb0(%j: tensor<i32>):
    "tile.return"() : () -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  return
}

// The body ends once.
func.func @body_goes_on(%i: tensor<i32>) {
  // expected-error @below {{'tile.for' op body goes on after 'tile.yield'}}
  "tile.for"(%i, %i, %i) ({
  ^bb0(%j: tensor<i32>):
    "tile.yield"() : () -> ()
    "tile.yield"() : () -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  return
}

// Ops inside are checked like all others.
func.func @body_is_invalid(%i: tensor<i32>) {
  "tile.for"(%i, %i, %i) ({
  ^bb0(%j: tensor<i32>):
    // expected-error @below {{'tile.unary' op function exp takes floats, not i32}}
    %a = "tile.unary"(%j) {function = "exp"} : (tensor<i32>) -> tensor<i32>
    "tile.yield"() : () -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  return
}
