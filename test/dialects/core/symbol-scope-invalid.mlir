// RUN: trivium-opt %s --verify-diagnostics

// What an op finds out is known below it alone.
func.func @used_above(%x: tensor<4xf32>, %s: tensor<1xf32>)
    attributes {trivium.symbols = {u0 = "0.."}} {
  // expected-error @below {{'tri.tile' op depends on size 'u0', which nothing above it defines}}
  %0 = "tri.tile"(%s) {repeats = ["u0"]} : (tensor<1xf32>) -> tensor<?xf32, ["u0"]>
  %1 = "tri.non_zero"(%x) {count = "u0"} : (tensor<4xf32>) -> tensor<1x?xi64, ["", "u0"]>
  return
}

// And a symbol that is declared is not known by that.
func.func @never_defined(%s: tensor<1xf32>) attributes {trivium.symbols = {v0 = "0.."}} {
  // expected-error @below {{'tri.tile' op depends on size 'v0', which nothing above it defines}}
  %0 = "tri.tile"(%s) {repeats = ["v0"]} : (tensor<1xf32>) -> tensor<?xf32, ["v0"]>
  return
}

// A symbol is one size: two ops that find the same name could find two.
func.func @defined_twice(%x: tensor<4xf32>) attributes {trivium.symbols = {w0 = "0.."}} {
  %0 = "tri.non_zero"(%x) {count = "w0"} : (tensor<4xf32>) -> tensor<1x?xi64, ["", "w0"]>
  // expected-error @below {{'tri.non_zero' op defines size 'w0', which is defined above}}
  %1 = "tri.non_zero"(%x) {count = "w0"} : (tensor<4xf32>) -> tensor<1x?xi64, ["", "w0"]>
  return
}

func.func @of_an_input(%x: tensor<?xf32, ["N"]>) attributes {trivium.symbols = {N = "0.."}} {
  // expected-error @below {{'tri.non_zero' op defines size 'N', which is defined above}}
  %0 = "tri.non_zero"(%x) {count = "N"} : (tensor<?xf32, ["N"]>) -> tensor<1x?xi64, ["", "N"]>
  return
}

// A limit is known before the op runs.
func.func @limited_by_itself(%x: tensor<i64>) attributes {trivium.symbols = {y0 = "0.."}} {
  // expected-error @below {{'tri.define_sizes' op depends on size 'y0', which nothing above it defines}}
  %0 = "tri.define_sizes"(%x) {limits = ["y0"], sizes = ["y0"]} : (tensor<i64>) -> tensor<i64>
  return
}

// Nobody could check this.
// expected-error @below {{'func.func' op checks size 'z0', which nothing defines}}
func.func @checked(%x: tensor<4xf32>) attributes {
    trivium.checks = [{expression = "z0 - 1", message = "", node = "", relation = ">="}],
    trivium.symbols = {z0 = "0.."}} {
  return
}
