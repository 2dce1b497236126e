// RUN: trivium-opt %s --lower-precision=to=f16 | FileCheck %s
// RUN: trivium-opt %s --lower-precision=to=bf16 | FileCheck %s --check-prefix=BF16
// RUN: trivium-opt %s --lower-precision | FileCheck %s --check-prefix=SAME
// RUN: trivium-opt %s --lower-precision='to=f16 full=layer*' | FileCheck %s --check-prefix=FULL
// RUN: not trivium-opt %s --lower-precision='to=f16 full=layer*,other*' 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: error: keep_f32 has 'other*', which is no node of the model, or of none left

// Inputs and outputs keep their types; one cast serves all who read a value.
// CHECK-LABEL: func.func @casts_once
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT:    %[[A:.*]] = "tri.cast"(%[[X]]) {{.*}} -> tensor<2xf16>
// CHECK-NEXT:    %[[B:.*]] = "tri.exp"(%[[A]]) : (tensor<2xf16>) -> tensor<2xf16>
// CHECK-NEXT:    %[[C:.*]] = "tri.mul"(%[[A]], %[[B]]) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
// CHECK-NEXT:    %[[D:.*]] = "tri.cast"(%[[C]]) {{.*}} -> tensor<2xf32>
// CHECK-NEXT:    return %[[D]], %[[D]]
// BF16-LABEL: func.func @casts_once
// BF16:         "tri.exp"(%{{.*}}) : (tensor<2xbf16>) -> tensor<2xbf16>
// SAME-NOT:   f16
func.func @casts_once(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = "tri.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "tri.mul"(%x, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1, %1 : tensor<2xf32>, tensor<2xf32>
}

// What is computed in half precision is read so.
// CHECK-LABEL: func.func @chains
// CHECK:         %[[A:.*]] = "tri.exp"(%{{.*}}) : (tensor<2xf16>) -> tensor<2xf16>
// CHECK-NEXT:    %[[B:.*]] = "tri.relu"(%[[A]]) : (tensor<2xf16>) -> tensor<2xf16>
// CHECK-NEXT:    %[[C:.*]] = "tri.neg"(%[[B]]) : (tensor<2xf16>) -> tensor<2xf16>
// CHECK-NEXT:    "tri.cast"(%[[C]])
// CHECK-NEXT:    return
func.func @chains(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tri.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "tri.relu"(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "tri.neg"(%1) : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// Constants are rounded at compile time.
// CHECK-LABEL: func.func @constants
// CHECK:         %[[C:.*]] = "tri.constant"() {value = dense<[1.000000e+00, 9.997550e-02]> : tensor<2xf16>}
// CHECK-NEXT:    "tri.add"(%{{.*}}, %[[C]]) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
func.func @constants(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = "tri.constant"() {value = dense<[1.0, 0.1]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "tri.add"(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Indices are integers still, rows of a table are rounded.
// CHECK-LABEL: func.func @tables
// CHECK:         "tri.gather"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<2x2xf16>, tensor<3xi64>) -> tensor<3x2xf16>
func.func @tables(%c: tensor<2x2xf32>) -> tensor<3x2xf32> {
  %i = "tri.constant"() {value = dense<[0, 1, 0]> : tensor<3xi64>} : () -> tensor<3xi64>
  %0 = "tri.gather"(%c, %i) {axis = 0 : i64} : (tensor<2x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// What is computed from constants alone is computed in f32 and rounded once.
// CHECK-LABEL: func.func @scaled_weights
// CHECK:         %[[M:.*]] = "tri.mul"({{.*}}) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK:         %[[W:.*]] = "tri.cast"(%[[M]]) {{.*}}to = "f16"
// CHECK:         "tri.add"(%{{.*}}, %[[W]]) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
func.func @scaled_weights(%x: tensor<2xf32>) -> tensor<2xf32> {
  %q = "tri.constant"() {value = dense<[100, 7]> : tensor<2xi8>} : () -> tensor<2xi8>
  %s = "tri.constant"() {value = dense<0.1> : tensor<f32>} : () -> tensor<f32>
  %f = "tri.cast"(%q) {to = "f32"} : (tensor<2xi8>) -> tensor<2xf32>
  %w = "tri.mul"(%f, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %0 = "tri.add"(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// An epsilon below what f16 holds: its op stays in f32, those around it do not. bf16 holds it.
// CHECK-LABEL: func.func @keeps_small_numbers
// CHECK:         %[[E:.*]] = "tri.exp"(%{{.*}}) : (tensor<2xf16>) -> tensor<2xf16>
// CHECK-NEXT:    %[[F:.*]] = "tri.cast"(%[[E]]) {{.*}} -> tensor<2xf32>
// CHECK-NEXT:    %[[M:.*]] = "tri.maximum"(%[[F]], %{{.*}}) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:    %[[H:.*]] = "tri.cast"(%[[M]]) {{.*}} -> tensor<2xf16>
// CHECK-NEXT:    "tri.reciprocal"(%[[H]]) : (tensor<2xf16>) -> tensor<2xf16>
// BF16-LABEL: func.func @keeps_small_numbers
// BF16:         "tri.maximum"(%{{.*}}, %{{.*}}) : (tensor<2xbf16>, tensor<bf16>) -> tensor<2xbf16>
func.func @keeps_small_numbers(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = "tri.constant"() {value = dense<1.0e-12> : tensor<f32>} : () -> tensor<f32>
  %0 = "tri.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "tri.maximum"(%0, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = "tri.reciprocal"(%1) : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// Numbers too large for f16.
// CHECK-LABEL: func.func @keeps_large_numbers
// CHECK:         "tri.add"(%{{.*}}, %{{.*}}) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// BF16-LABEL: func.func @keeps_large_numbers
// BF16:         "tri.add"(%{{.*}}, %{{.*}}) : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
func.func @keeps_large_numbers(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = "tri.constant"() {value = dense<[1.0, 1.0e+05]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "tri.add"(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// A running sum adds up its errors.
// CHECK-LABEL: func.func @keeps_scans
// CHECK-NEXT:    "tri.cum_sum"(%{{.*}}) {{.*}} : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    return
func.func @keeps_scans(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tri.cum_sum"(%x) {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Places: what comes of integers, and what becomes integers. Their sine is between.
// CHECK-LABEL: func.func @keeps_places
// CHECK:         "tri.mul"(%{{.*}}, %{{.*}}) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:    "tri.sin"(%{{.*}}) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK:         "tri.mul"(%{{.*}}, %{{.*}}) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
// CHECK:         "tri.mul"(%[[Y:.*]], %{{.*}}) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:    "tri.floor"(%{{.*}}) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    "tri.cast"(%{{.*}}) {{.*}} : (tensor<2xf32>) -> tensor<2xi64>
func.func @keeps_places(%i: tensor<2xi64>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi64>) {
  %c = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "tri.cast"(%i) {to = "f32"} : (tensor<2xi64>) -> tensor<2xf32>
  %1 = "tri.mul"(%0, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = "tri.sin"(%1) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = "tri.mul"(%x, %2) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = "tri.mul"(%x, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %5 = "tri.floor"(%4) : (tensor<2xf32>) -> tensor<2xf32>
  %6 = "tri.cast"(%5) {to = "i64"} : (tensor<2xf32>) -> tensor<2xi64>
  return %3, %6 : tensor<2xf32>, tensor<2xi64>
}

// A comparison with a rounded threshold would decide otherwise.
// CHECK-LABEL: func.func @keeps_comparisons
// CHECK-NEXT:    "tri.less"(%{{.*}}, %{{.*}}) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
func.func @keeps_comparisons(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xi1> {
  %0 = "tri.less"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// Integers, and floats of other types, are none of its business.
// CHECK-LABEL: func.func @keeps_other_types
// CHECK-NEXT:    "tri.neg"(%{{.*}}) : (tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    "tri.neg"(%{{.*}}) : (tensor<2xf64>) -> tensor<2xf64>
// CHECK-NEXT:    return
func.func @keeps_other_types(%x: tensor<2xi32>, %y: tensor<2xf64>) -> (tensor<2xi32>, tensor<2xf64>) {
  %0 = "tri.neg"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  %1 = "tri.neg"(%y) : (tensor<2xf64>) -> tensor<2xf64>
  return %0, %1 : tensor<2xi32>, tensor<2xf64>
}

// A number that f16 does not hold goes on as f32 until weights are made of it; so it does in bf16,
// whose greatest number is less.
// CHECK-LABEL: func.func @keeps_numbers_beyond_the_range
// CHECK:         "tri.where"({{.*}} -> tensor<2x3xf32>
// CHECK-NEXT:    "tri.reshape"({{.*}} -> tensor<1x2x3xf32>
// CHECK-NEXT:    "tri.softmax"({{.*}} -> tensor<1x2x3xf32>
// CHECK:         "tri.neg"({{.*}} -> tensor<1x2x3xf16>
// BF16-LABEL: func.func @keeps_numbers_beyond_the_range
// BF16:         "tri.softmax"({{.*}} -> tensor<1x2x3xf32>
func.func @keeps_numbers_beyond_the_range(%c: tensor<2x3xi1>, %x: tensor<2x3xf32>) -> tensor<1x2x3xf32> {
  %low = "tri.constant"() {value = dense<-3.4028234663852886e+38> : tensor<f32>} : () -> tensor<f32>
  %0 = "tri.where"(%c, %x, %low) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "tri.reshape"(%0) {shape = array<i64: 1, 2, 3>} : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  %2 = "tri.softmax"(%1) {axis = -1} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %3 = "tri.neg"(%2) : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  return %3 : tensor<1x2x3xf32>
}

// What is added to scores stays in f32; constants that f16 holds do not.
// CHECK-LABEL: func.func @keeps_masks
// CHECK-SAME:    %[[M:[^ ]*]]: tensor<3x5xf32>)
// CHECK:         "tri.attention"(%{{.*}}, %{{.*}}, %{{.*}}, %[[M]], %{{.*}}) {{.*}} : (tensor<2x3x4xf16>, tensor<2x5x4xf16>, tensor<2x5x6xf16>, tensor<3x5xf32>, tensor<5xf16>) -> tensor<2x3x6xf16>
func.func @keeps_masks(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x5xf32>) -> tensor<2x3x6xf32> {
  %bias = "tri.constant"() {value = dense<[0.0, 1.0, 2.0, 3.0, 4.0]> : tensor<5xf32>} : () -> tensor<5xf32>
  %y = "tri.attention"(%q, %k, %v, %m, %bias) {scale = 0.5} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<3x5xf32>, tensor<5xf32>) -> tensor<2x3x6xf32>
  return %y : tensor<2x3x6xf32>
}

// Nodes that are named stay in f32, between casts.
// FULL-LABEL: func.func @keeps_nodes_in_full
// FULL:         "tri.exp"(%{{.*}}) : (tensor<2xf16>) -> tensor<2xf16>
// FULL:         "tri.relu"(%{{.*}}) : (tensor<2xf32>) -> tensor<2xf32>
// FULL:         "tri.neg"(%{{.*}}) : (tensor<2xf16>) -> tensor<2xf16>
func.func @keeps_nodes_in_full(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tri.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("first"("a"))
  %1 = "tri.relu"(%0) : (tensor<2xf32>) -> tensor<2xf32> loc("layer.norm"("b"))
  %2 = "tri.neg"(%1) : (tensor<2xf32>) -> tensor<2xf32> loc("last"("c"))
  return %2 : tensor<2xf32>
}
