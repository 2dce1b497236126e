// RUN: trivium-opt %s --split-input-file --verify-diagnostics

// From the parser, on the line itself.
func.func @f( { // expected-error {{expected non-function type}}

// -----

// From MLIR's verifier, with a note elsewhere.
// expected-note @below {{see existing symbol definition here}}
func.func @f() {
  return
}
// expected-error-re @below {{redefinition of symbol {{[a-z]+}} 'f'}}
func.func @f() {
  return
}

// -----

// From our verifier: all faults are reported, not just the first.
func.func @f(%x: tensor<2xf32>) {
  // expected-error @+2 {{'tri.rleu' op is of no dialect, did you mean 'tri.relu'}}
  // expected-error @+2 {{'tri.relu' op has 2 operands, must have 1}}
  %0 = "tri.rleu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "tri.relu"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// Of an op without a place in the file.
// expected-error @unknown {{'tri.relu' op has 0 operands, must have 1}}
%0 = "tri.relu"() : () -> tensor<2xf32> loc("Relu_7")
