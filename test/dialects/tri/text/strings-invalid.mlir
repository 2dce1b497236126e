// RUN: trivium-opt %s --verify-diagnostics

// Text is not computed with.
func.func @sum(%x: tensor<2x!tri.string>) {
  // expected-error @below {{'tri.add' op element type is !tri.string, must be one to compute with: cast it}}
  %y = "tri.add"(%x, %x) : (tensor<2x!tri.string>, tensor<2x!tri.string>) -> tensor<2x!tri.string>
  return
}

// And numbers are not joined.
func.func @concat(%x: tensor<2x!tri.string>, %n: tensor<2xi64>) {
  // expected-error @below {{'tri.string_concat' op element type is i64, must be !tri.string}}
  %y = "tri.string_concat"(%x, %n) : (tensor<2x!tri.string>, tensor<2xi64>) -> tensor<2x!tri.string>
  return
}

func.func @normalize_rows(%x: tensor<2x3x!tri.string>) {
  // expected-error @below {{'tri.string_normalize' op input is tensor<2x3x!tri.string>, must be of shape [strings] or [1, strings]}}
  %y = "tri.string_normalize"(%x) {count = 3} : (tensor<2x3x!tri.string>) -> tensor<2x3x!tri.string>
  return
}

func.func @case(%x: tensor<3x!tri.string>) {
  // expected-error @below {{'tri.string_normalize' op case is 'title', must be one of lower, upper, none}}
  %y = "tri.string_normalize"(%x) {case = "title", count = 3}
      : (tensor<3x!tri.string>) -> tensor<3x!tri.string>
  return
}

func.func @pattern(%x: tensor<3x!tri.string>) {
  // expected-error @below {{'tri.regex_full_match' op has pattern '(': missing ), unterminated subpattern at position 0}}
  %y = "tri.regex_full_match"(%x) {pattern = "("} : (tensor<3x!tri.string>) -> tensor<3xi1>
  return
}

// Each key has a value.
func.func @values(%x: tensor<3xi64>, %values: tensor<2x!tri.string>, %default: tensor<!tri.string>) {
  // expected-error @below {{'tri.lookup' op has keys tensor<3xi64> and values tensor<2x!tri.string>, must be two lists of one length}}
  %y = "tri.lookup"(%x, %x, %values, %default)
      : (tensor<3xi64>, tensor<3xi64>, tensor<2x!tri.string>, tensor<!tri.string>)
      -> tensor<3x!tri.string>
  return
}

func.func @default(%x: tensor<3xi64>, %default: tensor<1xi64>) {
  // expected-error @below {{'tri.lookup' op has default tensor<1xi64>, must be a scalar}}
  %y = "tri.lookup"(%x, %x, %x, %default)
      : (tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<1xi64>) -> tensor<3xi64>
  return
}
