// RUN: trivium-opt %s --verify-diagnostics

// A branch returns another size, which nobody finds.
func.func @not_found(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<3xf32>)
    attributes {trivium.symbols = {}} {
  // expected-error @below {{'tri.if' op else_body yields (tensor<3xf32>), results are (tensor<2xf32>)}}
  %r = "tri.if"(%c, %x, %y) ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<3xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>, %b: tensor<3xf32>):
    "tri.yield"(%b) : (tensor<3xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// A size is found that no result has.
func.func @nowhere(%c: tensor<i1>, %x: tensor<2xf32>)
    attributes {trivium.symbols = {u0 = "0.."}} {
  // expected-error @below {{'tri.if' op has size u0 in 'result_sizes', which no axis of the results has}}
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) {result_sizes = ["u0"]} : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// What is carried grows, but the body does not take it so.
func.func @keeps_its_size(%n: tensor<i64>, %x: tensor<1xf32>)
    attributes {trivium.symbols = {u0 = "0.."}} {
  // expected-error @below {{'tri.loop' op body yields (tensor<2xf32>), must yield first (tensor<1xf32>)}}
  %r = "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %h: tensor<1xf32>):
    %b = "tri.concat"(%h, %h) {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
    "tri.yield"(%b) : (tensor<2xf32>) -> ()
  }) {operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>, result_sizes = ["u0"]} : (tensor<i64>, tensor<1xf32>) -> tensor<?xf32, ["u0"]>
  return
}

// The number of outputs comes first among the sizes that are found.
func.func @number_of_outputs(%n: tensor<i64>, %x: tensor<3xf32>)
    attributes {trivium.symbols = {u0 = "0..", u1 = "0.."}} {
  // expected-error @below {{'tri.loop' op has outputs, must know the number of its iterations, or find it}}
  %r = "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<3xf32>):
    "tri.yield"(%a) : (tensor<3xf32>) -> ()
  }) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 1>} : (tensor<i64>, tensor<3xf32>) -> tensor<4x3xf32>
  return
}

// What is found is a symbol, not a size that follows from one.
func.func @follows(%c: tensor<i1>, %x: tensor<2xf32>)
    attributes {trivium.symbols = {u0 = "0.."}} {
  // expected-error @below {{'tri.if' op has size 2*u0 in 'result_sizes', must be one symbol}}
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) {result_sizes = ["2*u0"]} : (tensor<i1>, tensor<2xf32>) -> tensor<?xf32, ["2*u0"]>
  return
}

// Each size is found once.
func.func @twice(%c: tensor<i1>, %x: tensor<2xf32>)
    attributes {trivium.symbols = {u0 = "0.."}} {
  // expected-error @below {{'tri.if' op has a size in 'result_sizes' twice}}
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) {result_sizes = ["u0", "u0"]} : (tensor<i1>, tensor<2xf32>) -> tensor<?xf32, ["u0"]>
  return
}

// What is scanned says how often the body runs.
func.func @scans(%n: tensor<i64>, %x: tensor<4x2xf32>) {
  // expected-error @below {{'tri.loop' op scans, must know the number of its iterations}}
  "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    "tri.yield"() : () -> ()
  }) {operandSegmentSizes = array<i32: 1, 0, 0, 1, 0>} : (tensor<i64>, tensor<4x2xf32>) -> ()
  return
}

// -----

func.func @joins_to_a_known_size(%n: tensor<i64>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{'tri.loop' op joins outputs to tensor<2x3xf32>, must find the size of its first axis}}
  %r = "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2x3xf32>):
    "tri.yield"(%a) : (tensor<2x3xf32>) -> ()
  }) {joined = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 1>} : (tensor<i64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

func.func @joins_more_than_it_has(%n: tensor<i64>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{'tri.loop' op joins 1 outputs, has 0}}
  %r = "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2x3xf32>):
    "tri.yield"(%a) : (tensor<2x3xf32>) -> ()
  }) {joined = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>} : (tensor<i64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
