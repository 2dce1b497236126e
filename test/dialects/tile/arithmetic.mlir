// RUN: trivium-opt %s | FileCheck %s

// A number may fill a tile, or be a scalar.
// CHECK-LABEL: func.func @full
// CHECK:         "tile.full"() {shape = ["BM", "4"], value = dense<1.500000e+00> : tensor<f32>} : () -> tensor<?x4xf32, ["BM", ""]>
// CHECK:         "tile.full"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
func.func @full() {
  %a = "tile.full"() {shape = ["BM", "4"], value = dense<1.5> : tensor<f32>} : () -> tensor<?x4xf32, ["BM", ""]>
  %b = "tile.full"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  return
}

// Functions of one number keep the type.
// CHECK-LABEL: func.func @unary
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[I:.*]]: {{.*}})
// CHECK:         "tile.unary"(%[[X]]) {function = "exp"} : (tensor<?xf16, ["BM"]>) -> tensor<?xf16, ["BM"]>
// CHECK:         "tile.unary"(%[[I]]) {function = "not"} : (tensor<4xi1>) -> tensor<4xi1>
func.func @unary(%x: tensor<?xf16, ["BM"]>, %i: tensor<4xi1>) {
  %a = "tile.unary"(%x) {function = "exp"} : (tensor<?xf16, ["BM"]>) -> tensor<?xf16, ["BM"]>
  %b = "tile.unary"(%i) {function = "not"} : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// Functions of two broadcast, and comparisons give bools.
// CHECK-LABEL: func.func @binary
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tile.binary"(%[[A]], %[[B]]) {function = "add"}
// CHECK-SAME:      : (tensor<?x1xi32, ["BM", ""]>, tensor<?xi32, ["BN"]>) -> tensor<?x?xi32, ["BM", "BN"]>
// CHECK:         "tile.binary"(%[[A]], %[[B]]) {function = "lt"}
// CHECK-SAME:      -> tensor<?x?xi1, ["BM", "BN"]>
func.func @binary(%a: tensor<?x1xi32, ["BM", ""]>, %b: tensor<?xi32, ["BN"]>) {
  %c = "tile.binary"(%a, %b) {function = "add"} : (tensor<?x1xi32, ["BM", ""]>, tensor<?xi32, ["BN"]>) -> tensor<?x?xi32, ["BM", "BN"]>
  %d = "tile.binary"(%a, %b) {function = "lt"} : (tensor<?x1xi32, ["BM", ""]>, tensor<?xi32, ["BN"]>) -> tensor<?x?xi1, ["BM", "BN"]>
  return
}

// A condition broadcasts with what it chooses from.
// CHECK-LABEL: func.func @where
// CHECK-SAME:    (%[[C:.*]]: {{.*}}, %[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         "tile.where"(%[[C]], %[[A]], %[[B]]) : (tensor<4x1xi1>, tensor<f32>, tensor<8xf32>) -> tensor<4x8xf32>
func.func @where(%c: tensor<4x1xi1>, %a: tensor<f32>, %b: tensor<8xf32>) {
  %d = "tile.where"(%c, %a, %b) : (tensor<4x1xi1>, tensor<f32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// Casts convert numbers; bit casts keep bits.
// CHECK-LABEL: func.func @casts
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tile.cast"(%[[X]]) {to = "i8"} : (tensor<4xf32>) -> tensor<4xi8>
// CHECK:         "tile.bit_cast"(%[[X]]) {to = "ui32"} : (tensor<4xf32>) -> tensor<4xui32>
func.func @casts(%x: tensor<4xf32>) {
  %a = "tile.cast"(%x) {to = "i8"} : (tensor<4xf32>) -> tensor<4xi8>
  %b = "tile.bit_cast"(%x) {to = "ui32"} : (tensor<4xf32>) -> tensor<4xui32>
  return
}
