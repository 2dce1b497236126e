// RUN: trivium-opt %s | FileCheck %s

// Operands broadcast, and have the type that torch promotes them to.
// CHECK-LABEL: func.func @promotes
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tri.expression"(%[[A]], %[[B]]) {expr = "add(mul(@0,2),@1)"}
// CHECK-SAME:      : (tensor<2x1x4xf16>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
func.func @promotes(%a: tensor<2x1x4xf16>, %b: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %y = "tri.expression"(%a, %b) {expr = "add(mul(@0,2),@1)"}
      : (tensor<2x1x4xf16>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// Numbers, and tensors without axes, count only where they are of a higher kind.
// CHECK-LABEL: func.func @categories
// CHECK:         "tri.expression"({{.*}}) {expr = "mul(@0,2)"} : ({{.*}}) -> tensor<4xi8>
// CHECK:         "tri.expression"({{.*}}) {expr = "mul(@0,2.5)"} : ({{.*}}) -> tensor<4xf32>
// CHECK:         "tri.expression"({{.*}}) {expr = "mul(@0,@1)"} : ({{.*}}) -> tensor<4xi8>
// CHECK:         "tri.expression"({{.*}}) {expr = "div(@0,2)"} : ({{.*}}) -> tensor<4xf32>
// CHECK:         "tri.expression"({{.*}}) {expr = "sqrt(@0)"} : ({{.*}}) -> tensor<4xf32>
// CHECK:         "tri.expression"({{.*}}) {expr = "torch.bool(@0)"} : ({{.*}}) -> tensor<4xi1>
func.func @categories(%x: tensor<4xi8>, %n: tensor<i64>) {
  %0 = "tri.expression"(%x) {expr = "mul(@0,2)"} : (tensor<4xi8>) -> tensor<4xi8>
  %1 = "tri.expression"(%x) {expr = "mul(@0,2.5)"} : (tensor<4xi8>) -> tensor<4xf32>
  %2 = "tri.expression"(%x, %n) {expr = "mul(@0,@1)"} : (tensor<4xi8>, tensor<i64>) -> tensor<4xi8>
  %3 = "tri.expression"(%x) {expr = "div(@0,2)"} : (tensor<4xi8>) -> tensor<4xf32>
  %4 = "tri.expression"(%x) {expr = "sqrt(@0)"} : (tensor<4xi8>) -> tensor<4xf32>
  %5 = "tri.expression"(%x) {expr = "torch.bool(@0)"} : (tensor<4xi8>) -> tensor<4xi1>
  return
}

// What numbers alone make is a tensor without axes; a list has one axis.
// CHECK-LABEL: func.func @numbers_and_lists
// CHECK:         "tri.expression"({{.*}}) {expr = "size(@0,1)"} : ({{.*}}) -> tensor<i64>
// CHECK:         "tri.expression"({{.*}}) {expr = "[size(@0,0),-1]"} : ({{.*}}) -> tensor<2xi64>
// CHECK:         "tri.expression"() {expr = "0.5"} : () -> tensor<f32>
func.func @numbers_and_lists(%x: tensor<4x2xi8>) {
  %0 = "tri.expression"(%x) {expr = "size(@0,1)"} : (tensor<4x2xi8>) -> tensor<i64>
  %1 = "tri.expression"(%x) {expr = "[size(@0,0),-1]"} : (tensor<4x2xi8>) -> tensor<2xi64>
  %2 = "tri.expression"() {expr = "0.5"} : () -> tensor<f32>
  return
}

// Brackets may be missing: how many arguments a function takes says what belongs to it.
// CHECK-LABEL: func.func @without_brackets
// CHECK:         {expr = "expm1,sub(@0,0.5)"}
func.func @without_brackets(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "tri.expression"(%x) {expr = "expm1,sub(@0,0.5)"} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
