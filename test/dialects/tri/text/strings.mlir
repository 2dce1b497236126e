// RUN: trivium-opt %s | FileCheck %s

// Constants of text, with quotes and letters of all alphabets.
// CHECK-LABEL: func.func @constants
// CHECK:         "tri.constant"() {value = dense<["a\22b\\", "\C3\A9", ""]> : tensor<3x!tri.string>}
// CHECK:         "tri.constant"() {value = dense<"all"> : tensor<2x2x!tri.string>}
// CHECK:         "tri.constant"() {value = dense<> : tensor<0x!tri.string>}
func.func @constants() -> (tensor<3x!tri.string>, tensor<2x2x!tri.string>, tensor<0x!tri.string>) {
  %0 = "tri.constant"() {value = dense<["a\22b\\", "\C3\A9", ""]> : tensor<3x!tri.string>}
      : () -> tensor<3x!tri.string>
  %1 = "tri.constant"() {value = dense<"all"> : tensor<2x2x!tri.string>}
      : () -> tensor<2x2x!tri.string>
  %2 = "tri.constant"() {value = dense<> : tensor<0x!tri.string>} : () -> tensor<0x!tri.string>
  return %0, %1, %2 : tensor<3x!tri.string>, tensor<2x2x!tri.string>, tensor<0x!tri.string>
}

// Elements move and are compared as those of other types.
// CHECK-LABEL: func.func @moves
// CHECK:         "tri.gather"
// CHECK:         "tri.equal"
func.func @moves(%x: tensor<4x!tri.string>, %i: tensor<2xi64>, %y: tensor<1x!tri.string>)
    -> tensor<2xi1> {
  %0 = "tri.gather"(%x, %i) {axis = 0} : (tensor<4x!tri.string>, tensor<2xi64>)
      -> tensor<2x!tri.string>
  %1 = "tri.equal"(%0, %y) : (tensor<2x!tri.string>, tensor<1x!tri.string>) -> tensor<2xi1>
  return %1 : tensor<2xi1>
}

// CHECK-LABEL: func.func @concat
// CHECK:         "tri.string_concat"
func.func @concat(%x: tensor<2x1x!tri.string>, %y: tensor<3x!tri.string>)
    -> tensor<2x3x!tri.string> {
  %0 = "tri.string_concat"(%x, %y) : (tensor<2x1x!tri.string>, tensor<3x!tri.string>)
      -> tensor<2x3x!tri.string>
  return %0 : tensor<2x3x!tri.string>
}

// How many parts there are, a run finds out.
// CHECK-LABEL: func.func @split
// CHECK:         "tri.string_split"(%{{.*}}) {delimiter = ",", parts = "u0"}
func.func @split(%x: tensor<2x!tri.string>)
    -> (tensor<2x?x!tri.string, ["", "u0"]>, tensor<2xi64>)
    attributes {trivium.symbols = {u0 = "0.."}} {
  %0, %1 = "tri.string_split"(%x) {delimiter = ",", parts = "u0"}
      : (tensor<2x!tri.string>) -> (tensor<2x?x!tri.string, ["", "u0"]>, tensor<2xi64>)
  return %0, %1 : tensor<2x?x!tri.string, ["", "u0"]>, tensor<2xi64>
}

// CHECK-LABEL: func.func @normalize
// CHECK:         "tri.string_normalize"(%{{.*}}) {case = "lower", case_sensitive = true, count = "u1", stopwords = ["the", "a"]}
func.func @normalize(%x: tensor<1x5x!tri.string>) -> tensor<1x?x!tri.string, ["", "u1"]>
    attributes {trivium.symbols = {u1 = "0..5"}} {
  %0 = "tri.string_normalize"(%x)
      {case = "lower", case_sensitive = true, count = "u1", stopwords = ["the", "a"]}
      : (tensor<1x5x!tri.string>) -> tensor<1x?x!tri.string, ["", "u1"]>
  return %0 : tensor<1x?x!tri.string, ["", "u1"]>
}

// CHECK-LABEL: func.func @match
// CHECK:         "tri.regex_full_match"(%{{.*}}) {pattern = "[a-z]+@.*"}
func.func @match(%x: tensor<2x!tri.string>) -> tensor<2xi1> {
  %0 = "tri.regex_full_match"(%x) {pattern = "[a-z]+@.*"} : (tensor<2x!tri.string>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func.func @lookup
// CHECK:         "tri.lookup"
func.func @lookup(%x: tensor<2x3x!tri.string>, %keys: tensor<4x!tri.string>,
                  %values: tensor<4xf32>, %default: tensor<f32>) -> tensor<2x3xf32> {
  %0 = "tri.lookup"(%x, %keys, %values, %default)
      : (tensor<2x3x!tri.string>, tensor<4x!tri.string>, tensor<4xf32>, tensor<f32>)
      -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
