// RUN: trivium-opt %s --verify-diagnostics

func.func @first(%x: tensor<?xf32, ["N"]>) attributes {trivium.symbols = {N = "1.."}} {
  return
}

// A name has one range in a module.
// expected-error @below {{symbol 'N' has range 1..8, was declared with 1..}}
func.func @second(%x: tensor<?xf32, ["N"]>) attributes {trivium.symbols = {N = "1..8"}} {
  return
}
