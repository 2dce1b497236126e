// RUN: trivium-opt %s | FileCheck %s

// Products of halves are added up in f32.
// CHECK-LABEL: func.func @dot
// CHECK-SAME:    (%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}}, %[[ACC:.*]]: {{.*}})
// CHECK:         "tile.dot"(%[[A]], %[[B]], %[[ACC]]) {precision = "tf32"}
// CHECK-SAME:      : (tensor<?x?xf16, ["BM", "BK"]>, tensor<?x?xf16, ["BK", "BN"]>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
func.func @dot(%a: tensor<?x?xf16, ["BM", "BK"]>, %b: tensor<?x?xf16, ["BK", "BN"]>, %acc: tensor<?x?xf32, ["BM", "BN"]>) {
  %0 = "tile.dot"(%a, %b, %acc) {precision = "tf32"} : (tensor<?x?xf16, ["BM", "BK"]>, tensor<?x?xf16, ["BK", "BN"]>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
  return
}

// So are those of floats of 8 bits, which are turned before.
// CHECK-LABEL: func.func @dot_of_floats_of_8_bits
// CHECK:         %[[B:.*]] = "tile.transpose"(%{{.*}}) : (tensor<?x?xf8E4M3FN, ["BN", "BK"]>) -> tensor<?x?xf8E4M3FN, ["BK", "BN"]>
// CHECK:         "tile.dot"(%arg0, %[[B]], %arg2)
// CHECK-SAME:      : (tensor<?x?xf8E4M3FN, ["BM", "BK"]>, tensor<?x?xf8E4M3FN, ["BK", "BN"]>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
func.func @dot_of_floats_of_8_bits(%a: tensor<?x?xf8E4M3FN, ["BM", "BK"]>, %b: tensor<?x?xf8E4M3FN, ["BN", "BK"]>, %acc: tensor<?x?xf32, ["BM", "BN"]>) {
  %t = "tile.transpose"(%b) : (tensor<?x?xf8E4M3FN, ["BN", "BK"]>) -> tensor<?x?xf8E4M3FN, ["BK", "BN"]>
  %0 = "tile.dot"(%a, %t, %acc) : (tensor<?x?xf8E4M3FN, ["BM", "BK"]>, tensor<?x?xf8E4M3FN, ["BK", "BN"]>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
  return
}

// A reduced dimension vanishes; places are of i32.
// CHECK-LABEL: func.func @reduce
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tile.reduce"(%[[X]]) {axis = 0 : i64, kind = "sum"} : (tensor<?x8xf32, ["BM", ""]>) -> tensor<8xf32>
// CHECK:         "tile.reduce"(%[[X]]) {axis = 1 : i64, kind = "argmax"} : (tensor<?x8xf32, ["BM", ""]>) -> tensor<?xi32, ["BM"]>
func.func @reduce(%x: tensor<?x8xf32, ["BM", ""]>) {
  %a = "tile.reduce"(%x) {axis = 0, kind = "sum"} : (tensor<?x8xf32, ["BM", ""]>) -> tensor<8xf32>
  %b = "tile.reduce"(%x) {axis = 1, kind = "argmax"} : (tensor<?x8xf32, ["BM", ""]>) -> tensor<?xi32, ["BM"]>
  return
}

// Scans keep the shape.
// CHECK-LABEL: func.func @scan
// CHECK:         "tile.scan"(%{{.*}}) {axis = 1 : i64, kind = "prod", reverse = true} : (tensor<4x8xi32>) -> tensor<4x8xi32>
func.func @scan(%x: tensor<4x8xi32>) {
  %a = "tile.scan"(%x) {axis = 1, kind = "prod", reverse = true} : (tensor<4x8xi32>) -> tensor<4x8xi32>
  return
}

// A dimension of size 1 may be inserted anywhere, and a matrix turned.
// CHECK-LABEL: func.func @shapes
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[ROW:.*]] = "tile.expand"(%[[X]]) {axis = 0 : i64} : (tensor<?xf32, ["BM"]>) -> tensor<1x?xf32, ["", "BM"]>
// CHECK:         "tile.expand"(%[[X]]) {axis = 1 : i64} : (tensor<?xf32, ["BM"]>) -> tensor<?x1xf32, ["BM", ""]>
// CHECK:         "tile.transpose"(%[[ROW]]) : (tensor<1x?xf32, ["", "BM"]>) -> tensor<?x1xf32, ["BM", ""]>
func.func @shapes(%x: tensor<?xf32, ["BM"]>) {
  %a = "tile.expand"(%x) {axis = 0} : (tensor<?xf32, ["BM"]>) -> tensor<1x?xf32, ["", "BM"]>
  %b = "tile.expand"(%x) {axis = 1} : (tensor<?xf32, ["BM"]>) -> tensor<?x1xf32, ["BM", ""]>
  %c = "tile.transpose"(%a) : (tensor<1x?xf32, ["", "BM"]>) -> tensor<?x1xf32, ["BM", ""]>
  return
}
