// RUN: trivium-opt %s --verify-diagnostics

// The condition is one truth value.
func.func @condition_of_two(%c: tensor<2xi1>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.if' op condition is tensor<2xi1>, must be one i1}}
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) : (tensor<2xi1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// It is no number.
func.func @condition_is_a_number(%c: tensor<f32>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.if' op condition is tensor<f32>, must be one i1}}
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// Each branch takes the inputs.
func.func @branch_takes_another(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.if' op then_body takes (tensor<3xf32>), inputs are (tensor<2xf32>)}}
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<3xf32>):
    "tri.yield"(%a) : (tensor<3xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// Each branch returns the results.
func.func @branches_differ(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.if' op else_body yields (tensor<2xf32>, tensor<2xf32>), results are (tensor<2xf32>)}}
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// There are two.
func.func @branch_is_absent(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.if' op has 0 blocks in its body, must have 1}}
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }, {
   }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// A branch captures nothing but by its inputs.
func.func @branch_looks_outside(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.if' op body uses a value it does not define: operand 0 of 'tri.relu'}}
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    %b = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// A loop ends.
func.func @endless(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.loop' op never ends, must have a trip count, a condition or iterations}}
  %r = "tri.loop"(%x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) {operandSegmentSizes = array<i32: 0, 0, 1, 0, 0>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// What decides when it ends is said once.
func.func @ends_twice(%n: tensor<i64>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.loop' op has a trip count or a condition, and iterations, must have one}}
  %r = "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) {iterations = 3 : i64, operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>} : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// The number of iterations is no less than 0.
func.func @negative(%x: tensor<2xf32>) {
  // expected-error @below {{'tri.loop' op has -2 iterations, must be at least 0, or -1}}
  %r = "tri.loop"(%x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) {iterations = -2 : i64, operandSegmentSizes = array<i32: 0, 0, 1, 0, 0>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// A loop that decides at run time when it ends has no outputs but what it carries.
func.func @unknown_outputs(%n: tensor<i64>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.loop' op has outputs, must know the number of its iterations, or find it}}
  %r:2 = "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) {operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>} : (tensor<i64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<4x2xf32>)
  return
}

// The trip count is an i64.
func.func @trip_count_is_small(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.loop' op trip count is tensor<i1>, must be one i64}}
  %r = "tri.loop"(%c, %x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) {operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>} : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// The body takes the number of the iteration first.
func.func @body_lacks_number(%n: tensor<i64>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.loop' op body takes (tensor<2xf32>), must take (tensor<i64>, tensor<2xf32>)}}
  %r = "tri.loop"(%n, %x) ({
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) {operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>} : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// A loop with a condition computes the next one.
func.func @body_lacks_condition(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.loop' op body yields (tensor<2xf32>), must yield first (tensor<i1>, tensor<2xf32>)}}
  %r = "tri.loop"(%c, %x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) {operandSegmentSizes = array<i32: 0, 1, 1, 0, 0>} : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// What is carried keeps its type.
func.func @carries_another_type(%n: tensor<i64>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.loop' op body yields (tensor<i64>), must yield first (tensor<2xf32>)}}
  %r = "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    "tri.yield"(%i) : (tensor<i64>) -> ()
  }) {operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>} : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// What is scanned has an element for each iteration.
func.func @scans_too_few(%s: tensor<4x2xf32>) {
  // expected-error @below {{'tri.loop' op scans tensor<4x2xf32>, must have 3 elements along its first axis}}
  %r = "tri.loop"(%s) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) {iterations = 3 : i64, operandSegmentSizes = array<i32: 0, 0, 0, 1, 0>} : (tensor<4x2xf32>) -> tensor<3x2xf32>
  return
}

// Outputs have an axis for the iterations.
func.func @output_is_not_stacked(%s: tensor<4x2xf32>) {
  // expected-error @below {{'tri.loop' op results are (tensor<2xf32>), must be (tensor<4x2xf32>)}}
  %r = "tri.loop"(%s) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) {iterations = 4 : i64, operandSegmentSizes = array<i32: 0, 0, 0, 1, 0>} : (tensor<4x2xf32>) -> tensor<2xf32>
  return
}

// One branch can run.
func.func @both_branches_fail(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.if' op has two bodies that fail, must have one that does not}}
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    "tri.fail"() {message = "is odd"} : () -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.fail"() {message = "is odd"} : () -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// A body of a loop returns.
func.func @body_fails(%n: tensor<i64>, %x: tensor<2xf32>) {
  // expected-error @below {{'tri.loop' op body ends in 'tri.fail', must end in 'tri.yield'}}
  %r = "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    "tri.fail"() {message = "is odd"} : () -> ()
  }) {operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>} : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// What fails says why.
func.func @no_message(%c: tensor<i1>, %x: tensor<2xf32>) {
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    // expected-error @below {{'tri.fail' op has no message, must say why the body cannot run}}
    "tri.fail"() {message = ""} : () -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}
