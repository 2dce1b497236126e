// RUN: trivium-opt %s --verify-diagnostics

// expected-error @below {{attribute 'trivium.symbols' is {N = "8..1"}, must have a range by name: range 8..1 is empty}}
func.func @empty(%x: tensor<?xf32, ["N"]>) attributes {trivium.symbols = {N = "8..1"}} {
  return
}
