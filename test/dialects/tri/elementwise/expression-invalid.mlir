// RUN: trivium-opt %s --verify-diagnostics

// Functions have names.
func.func @unknown_function(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op expression has 'sqr' at column 8, which is no function, did you mean 'sqrt'}}
  %y = "tri.expression"(%x) {expr = "add(@0,sqr(@0))"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// And so many arguments.
func.func @lacks_an_argument(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op expression ends at column 16, where 'mul' at column 8 has 1 of 2 arguments}}
  %y = "tri.expression"(%x) {expr = "add(@0,mul(@0))"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// But no more.
func.func @surplus_argument(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op expression has '@0' at column 11, behind its end}}
  %y = "tri.expression"(%x) {expr = "add(@0,@0,@0)"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// A word is a number, an operand or a name.
func.func @no_token(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op expression has '$' at column 8, which is no token}}
  %y = "tri.expression"(%x) {expr = "add(@0,$)"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Numbers have 64 bits.
func.func @long_integer(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op expression has an integer at column 8 over 64 bits}}
  %y = "tri.expression"(%x) {expr = "add(@0,99999999999999999999)"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Something must be said.
func.func @says_nothing(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op expression is empty}}
  %y = "tri.expression"(%x) {expr = "()"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// A list is around all of it.
func.func @list_inside(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op expression has '[' at column 5, lists must be around all of it}}
  %y = "tri.expression"(%x) {expr = "add([@0],1)"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// And ends.
func.func @open_list(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op expression has '[' at column 1 without its ']' at the end}}
  %y = "tri.expression"(%x) {expr = "[1,2"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Operands are counted from zero.
func.func @operand_of_none(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op expression names @1, there are 1 operands}}
  %y = "tri.expression"(%x) {expr = "add(@0,@1)"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Bools have no negative.
func.func @negates_bools(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op 'neg' takes bools, must be integers or floats}}
  %y = "tri.expression"(%x) {expr = "neg(torch.bool(@0))"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Floats have no bits.
func.func @bits_of_floats(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op 'and' takes floats, must be bools or integers}}
  %y = "tri.expression"(%x) {expr = "and(@0,1)"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Tensors and numbers have functions, nothing else has.
func.func @function_of_none(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op 'add' takes None, must be a tensor or a number}}
  %y = "tri.expression"(%x) {expr = "add(@0,None)"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Nor is it a result.
func.func @makes_none(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op expression is or lists None, must be a tensor or a number}}
  %y = "tri.expression"(%x) {expr = "None"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// A list has numbers.
func.func @list_of_tensors(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op expression lists tensor<2x3xf32>, must be numbers or tensors of no axes}}
  %y = "tri.expression"(%x) {expr = "[@0,1]"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// A size is that of a tensor.
func.func @size_of_a_number(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op 'size' takes 2, must be a tensor}}
  %y = "tri.expression"(%x) {expr = "size(2,0)"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Along an axis.
func.func @size_of_half_an_axis(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op 'size' takes axis 0.5, must be an integer}}
  %y = "tri.expression"(%x) {expr = "size(@0,0.5)"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Nothing can be divided by zero, if it has no infinity.
func.func @divides_by_zero(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op 'remainder' divides integers by zero}}
  %y = "tri.expression"(%x) {expr = "remainder(torch.long(@0),0)"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Nor raised to a negative power.
func.func @negative_power(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op 'pow' raises integers to the power -2, must not be negative}}
  %y = "tri.expression"(%x) {expr = "pow(torch.long(@0),-2)"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Complex numbers are for others.
func.func @complex_factor(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op 'mul' takes 4j, tri has no complex element types}}
  %y = "tri.expression"(%x) {expr = "mul(@0,4j)"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Whatever they are for.
func.func @complex_result(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tri.expression' op expression is 4j, tri has no complex element types}}
  %y = "tri.expression"(%x) {expr = "4j"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Torch has few unsigned integers.
func.func @unsigned_words(%x: tensor<2xui32>) {
  // expected-error @below {{'tri.expression' op 'neg' takes tensor<2xui32>, must have one of f64, f32, f16,}}
  %y = "tri.expression"(%x) {expr = "neg(@0)"} : (tensor<2xui32>) -> tensor<2xui32>
  return
}

// Torch has few unsigned integers.
func.func @unsigned_result(%x: tensor<2xui32>) {
  // expected-error @below {{'tri.expression' op expression is tensor<2xui32>, must have one of f64, f32, f16,}}
  %y = "tri.expression"(%x) {expr = "@0"} : (tensor<2xui32>) -> tensor<2xui32>
  return
}

// The type of the result is that of torch.
func.func @other_type(%a: tensor<2xi8>, %b: tensor<2xui8>) {
  // expected-error @below {{'tri.expression' op result is tensor<2xi8>, inferred tensor<2xi16>}}
  %y = "tri.expression"(%a, %b) {expr = "add(@0,@1)"} : (tensor<2xi8>, tensor<2xui8>) -> tensor<2xi8>
  return
}

// Shapes broadcast.
func.func @shapes_that_differ(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{'tri.expression' op shapes 2 and 3 do not broadcast}}
  %y = "tri.expression"(%a, %b) {expr = "add(@0,@1)"} : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// Brackets balance.
func.func @lacks_a_closing_bracket(%a: tensor<2xf32>) {
  // expected-error @below {{'tri.expression' op expression has '(' at column 5 without its ')'}}
  %y = "tri.expression"(%a) {expr = "sqrt(@0"} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

func.func @lacks_an_opening_bracket(%a: tensor<2xf32>) {
  // expected-error @below {{'tri.expression' op expression has ')' at column 9 without its '('}}
  %y = "tri.expression"(%a) {expr = "sqrt(@0))"} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
