// RUN: trivium-opt %s --record-refusals | FileCheck %s

// What was refused is known by the names of its nodes, and stays so when the op is gone.
// CHECK-LABEL: func.func @keeps_reasons
// CHECK-SAME:    attributes {dla.refusals = {conv = "vanilla: too wide", relu = "vanilla: too wide"}}
// CHECK:         "tri.requantize"
func.func @keeps_reasons(%x: tensor<1x2xi32>) -> tensor<1x2xi8> {
  %0 = "tri.requantize"(%x) {axis = 0 : i64, dla.refusal = "vanilla: too wide", high = 127 : i64, low = -128 : i64, multiplier = array<i64: 1>, rounding = "half_away", shift = array<i64: 0>, to = "i8", zero_point = 0 : i64} : (tensor<1x2xi32>) -> tensor<1x2xi8> loc(fused["conv"("a"), "relu"("b")])
  return %0 : tensor<1x2xi8>
}

// Nothing was refused, and a reason without a node is nobody's.
// CHECK-LABEL: func.func @has_none
// CHECK-NOT:     dla.refusals
func.func @has_none(%x: tensor<1x2xi8>) -> (tensor<1x2xi8>, tensor<1x2xi8>) {
  %0 = "tri.abs"(%x) : (tensor<1x2xi8>) -> tensor<1x2xi8> loc("size"("c"))
  %1 = "tri.neg"(%x) {dla.refusal = "vanilla: unknown"} : (tensor<1x2xi8>) -> tensor<1x2xi8>
  return %0, %1 : tensor<1x2xi8>, tensor<1x2xi8>
}
