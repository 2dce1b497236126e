// RUN: trivium-opt %s --verify-diagnostics

// A type names declared symbols.
func.func @undeclared(%x: tensor<?xf32, ["M"]>) attributes {trivium.symbols = {N = "1.."}} {
  // expected-error @below {{'tri.relu' op size 'M' has symbol 'M', which is not declared}}
  %y = "tri.relu"(%x) : (tensor<?xf32, ["M"]>) -> tensor<?xf32, ["M"]>
  return
}

// An expression is in canonical form, so that equal types have equal text.
func.func @not_canonical(%x: tensor<?xf32, ["1 + N"]>) {
  // expected-error @below {{'tri.relu' op tensor<?xf32, ["1 + N"]> has expression '1 + N' along axis 0, must be spelled N + 1}}
  %y = "tri.relu"(%x) : (tensor<?xf32, ["1 + N"]>) -> tensor<?xf32, ["1 + N"]>
  return
}

// A size that is known has no expression.
func.func @known(%x: tensor<3xf32, ["N"]>) {
  // expected-error @below {{'tri.relu' op tensor<3xf32, ["N"]> has expression 'N' for a static size, must be empty}}
  %y = "tri.relu"(%x) : (tensor<3xf32, ["N"]>) -> tensor<3xf32, ["N"]>
  return
}

// And an unknown one has one.
func.func @unknown(%x: tensor<?xf32, [""]>) {
  // expected-error @below {{size '' is not an expression}}
  %y = "tri.relu"(%x) : (tensor<?xf32, [""]>) -> tensor<?xf32, [""]>
  return
}

// Each axis has its expression.
func.func @too_few(%x: tensor<?x?xf32, ["N"]>) {
  // expected-error @below {{has dynamic sizes, must have the expression of each in its type}}
  %y = "tri.relu"(%x) : (tensor<?x?xf32, ["N"]>) -> tensor<?x?xf32, ["N"]>
  return
}

// Expressions are sums, products, quotients, maxima.
func.func @power(%x: tensor<?xf32, ["N**2"]>) {
  // expected-error @below {{size 'N**2' is not a size: it must have names, integers, + - * //, max, min}}
  %y = "tri.relu"(%x) : (tensor<?xf32, ["N**2"]>) -> tensor<?xf32, ["N**2"]>
  return
}

// The result has the size that the op infers, not another one.
func.func @other_result(%x: tensor<?xf32, ["N"]>) {
  // expected-error @below {{op result is tensor<?xf32, ["2*N"]>, inferred tensor<?xf32, ["N"]>}}
  %y = "tri.relu"(%x) : (tensor<?xf32, ["N"]>) -> tensor<?xf32, ["2*N"]>
  return
}

// Attributes of ints alone have one spelling.
func.func @ints_as_text(%x: tensor<?xf32, ["N"]>) {
  // expected-error @below {{attribute 'shape' is ["2", "3"], must be an array<i64>}}
  %y = "tri.reshape"(%x) {shape = ["2", "3"]} : (tensor<?xf32, ["N"]>) -> tensor<2x3xf32>
  return
}

// An encoding that is a dictionary has both an order of axes and expressions of sizes.
func.func @order_alone(%x: tensor<2x3xf32, {order = [1, 0]}>) {
  // expected-error @below {{'tri.relu' op tensor<2x3xf32, {order = [1, 0]}> has only the key 'order', which must be left out}}
  %y = "tri.relu"(%x) : (tensor<2x3xf32, {order = [1, 0]}>) -> tensor<2x3xf32, {order = [1, 0]}>
  return
}
