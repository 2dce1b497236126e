// RUN: trivium-opt %s --verify-diagnostics

// The size of a body is not known below the loop.
func.func @inner_size(%n: tensor<i64>, %x: tensor<1xf32>)
    attributes {trivium.symbols = {u0 = "0.."}} {
  // expected-error @below {{'tri.loop' op depends on size 'u0', which nothing above it defines}}
  %r = "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %h: tensor<?xf32, ["u0"]>):
    "tri.yield"(%h) : (tensor<?xf32, ["u0"]>) -> ()
  }) {carried_sizes = ["u0"], operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>} : (tensor<i64>, tensor<1xf32>) -> tensor<?xf32, ["u0"]>
  return
}
