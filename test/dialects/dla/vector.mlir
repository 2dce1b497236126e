// RUN: trivium-opt %s | FileCheck %s

// The second tensor may have one image, row or column for all.
// CHECK-LABEL: func.func @combines
// CHECK-SAME:    (%[[X:.*]]: tensor<{{.*}}>, %[[OTHER:.*]]: tensor<1x1x1x3xi8>)
// CHECK:         "dla.eltwise"(%[[X]], %[[OTHER]])
// CHECK-SAME:    operator = "mul"
// CHECK-SAME:    -> tensor<2x5x4x3xi8>
func.func @combines(%x: tensor<2x5x4x3xi8>, %other: tensor<1x1x1x3xi8>) -> tensor<2x5x4x3xi8> {
  %y = "dla.eltwise"(%x, %other) {operator = "mul", shift = 7, rounding = "half_even"} : (tensor<2x5x4x3xi8>, tensor<1x1x1x3xi8>) -> tensor<2x5x4x3xi8>
  return %y : tensor<2x5x4x3xi8>
}

// A function of a byte is a table.
// CHECK-LABEL: func.func @looks_up
// CHECK:         "dla.lookup"(%{{.*}}, %{{.*}}) : (tensor<1x5x4x3xi8>, tensor<256xi8>) -> tensor<1x5x4x3xi8>
func.func @looks_up(%x: tensor<1x5x4x3xi8>, %table: tensor<256xi8>) -> tensor<1x5x4x3xi8> {
  %y = "dla.lookup"(%x, %table) : (tensor<1x5x4x3xi8>, tensor<256xi8>) -> tensor<1x5x4x3xi8>
  return %y : tensor<1x5x4x3xi8>
}

// Positions are in units of 2^-16.
// CHECK-LABEL: func.func @resizes
// CHECK:         "dla.resize"
// CHECK-SAME:    start = array<i64: -32768, 0>
// CHECK-SAME:    -> tensor<1x10x2x3xi8>
func.func @resizes(%x: tensor<1x5x4x3xi8>) -> tensor<1x10x2x3xi8> {
  %y = "dla.resize"(%x) {out = array<i64: 10, 2>, start = array<i64: -32768, 0>, step = array<i64: 32768, 131072>} : (tensor<1x5x4x3xi8>) -> tensor<1x10x2x3xi8>
  return %y : tensor<1x10x2x3xi8>
}

// CHECK-LABEL: func.func @copies_to_another_scale
// CHECK:         "dla.copy"
// CHECK-SAME:    source_zero = 3
func.func @copies_to_another_scale(%x: tensor<1x5x4x3xi8>) -> tensor<1x5x4x3xi8> {
  %y = "dla.copy"(%x) {source_zero = 3, multiplier = 5, shift = 2, destination_zero = -4} : (tensor<1x5x4x3xi8>) -> tensor<1x5x4x3xi8>
  return %y : tensor<1x5x4x3xi8>
}

// Along channels, unless it says otherwise.
// CHECK-LABEL: func.func @joins
// CHECK:         "dla.concat"(%{{.*}}, %{{.*}}) : (tensor<1x5x4x3xi8>, tensor<1x5x4x2xi8>) -> tensor<1x5x4x5xi8>
func.func @joins(%a: tensor<1x5x4x3xi8>, %b: tensor<1x5x4x2xi8>) -> tensor<1x5x4x5xi8> {
  %y = "dla.concat"(%a, %b) : (tensor<1x5x4x3xi8>, tensor<1x5x4x2xi8>) -> tensor<1x5x4x5xi8>
  return %y : tensor<1x5x4x5xi8>
}

// CHECK-LABEL: func.func @takes_a_window
// CHECK:         "dla.slice"(%{{.*}}) {sizes = array<i64: 2, 4, 1>, start = array<i64: 3, 0, 2>} : (tensor<2x5x4x3xi8>) -> tensor<2x2x4x1xi8>
func.func @takes_a_window(%x: tensor<2x5x4x3xi8>) -> tensor<2x2x4x1xi8> {
  %y = "dla.slice"(%x) {start = array<i64: 3, 0, 2>, sizes = array<i64: 2, 4, 1>} : (tensor<2x5x4x3xi8>) -> tensor<2x2x4x1xi8>
  return %y : tensor<2x2x4x1xi8>
}
