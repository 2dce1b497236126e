// RUN: trivium-opt %s | trivium-opt | FileCheck %s

// CHECK-LABEL: func.func @broadcast
// CHECK: "tri.add"{{.*}} -> tensor<?x5xf32, ["T", ""]>
func.func @broadcast(%a: tensor<1x5xf32>, %b: tensor<?x1xf32, ["T", ""]>)
    attributes {trivium.symbols = {N = "1..", T = "1..512", H = "8..640", Z = "0.."}} {
  %y = "tri.add"(%a, %b)
      : (tensor<1x5xf32>, tensor<?x1xf32, ["T", ""]>) -> tensor<?x5xf32, ["T", ""]>
  return
}

// CHECK-LABEL: func.func @mat_mul
// CHECK: "tri.mat_mul"{{.*}} -> tensor<?x?x8xf32, ["N", "T + 1", ""]>
func.func @mat_mul(%a: tensor<?x?x4xf32, ["N", "T + 1", ""]>, %b: tensor<4x8xf32>) {
  %y = "tri.mat_mul"(%a, %b) : (tensor<?x?x4xf32, ["N", "T + 1", ""]>, tensor<4x8xf32>)
      -> tensor<?x?x8xf32, ["N", "T + 1", ""]>
  return
}

// CHECK-LABEL: func.func @conv
// CHECK: "tri.conv"{{.*}} -> tensor<?x6x?x16xf32, ["N", "", "(H + 1)//2", ""]>
func.func @conv(%x: tensor<?x3x?x32xf32, ["N", "", "H", ""]>, %w: tensor<6x3x3x3xf32>) {
  %y = "tri.conv"(%x, %w) {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>,
      dilations = array<i64: 1, 1>}
      : (tensor<?x3x?x32xf32, ["N", "", "H", ""]>, tensor<6x3x3x3xf32>)
      -> tensor<?x6x?x16xf32, ["N", "", "(H + 1)//2", ""]>
  return
}

// CHECK-LABEL: func.func @pool_ceil
// CHECK: "tri.max_pool"{{.*}} -> tensor<1x3x?xf32, ["", "", "H//2"]>
func.func @pool_ceil(%x: tensor<1x3x?xf32, ["", "", "H"]>) {
  %y = "tri.max_pool"(%x) {kernel = array<i64: 3>, strides = array<i64: 2>,
      pads = array<i64: 0, 0>, dilations = array<i64: 1>, ceil_mode = true}
      : (tensor<1x3x?xf32, ["", "", "H"]>) -> tensor<1x3x?xf32, ["", "", "H//2"]>
  return
}

// CHECK-LABEL: func.func @concat
// CHECK: "tri.concat"{{.*}} -> tensor<?x4xf32, ["N + T", ""]>
func.func @concat(%a: tensor<?x4xf32, ["N", ""]>, %b: tensor<?x4xf32, ["T", ""]>) {
  %y = "tri.concat"(%a, %b) {axis = 0 : i64}
      : (tensor<?x4xf32, ["N", ""]>, tensor<?x4xf32, ["T", ""]>) -> tensor<?x4xf32, ["N + T", ""]>
  return
}

// The first half, and what is left without the last element, which is there.
// CHECK-LABEL: func.func @slice
// CHECK: "tri.slice"{{.*}}sizes = ["T//2", "H - 1"], starts = array<i64: 0, 1>
// CHECK-SAME: -> tensor<?x?xf32, ["T//2", "H - 1"]>
func.func @slice(%x: tensor<?x?xf32, ["T", "H"]>) {
  %y = "tri.slice"(%x) {starts = array<i64: 0, 1>, sizes = ["T//2", "H - 1"],
      steps = array<i64: 1, 1>} : (tensor<?x?xf32, ["T", "H"]>)
      -> tensor<?x?xf32, ["T//2", "H - 1"]>
  return
}

// CHECK-LABEL: func.func @reshape
// CHECK: "tri.reshape"{{.*}}shape = ["N*T", "2", "2"]{{.*}} -> tensor<?x2x2xf32, ["N*T", "", ""]>
func.func @reshape(%x: tensor<?x?x4xf32, ["N", "T", ""]>) {
  %y = "tri.reshape"(%x) {shape = ["N*T", "2", "2"]} : (tensor<?x?x4xf32, ["N", "T", ""]>)
      -> tensor<?x2x2xf32, ["N*T", "", ""]>
  return
}

// CHECK-LABEL: func.func @resize
// CHECK: "tri.resize"{{.*}} -> tensor<1x3x?xf32, ["", "", "2*H"]>
func.func @resize(%x: tensor<1x3x?xf32, ["", "", "H"]>) {
  %y = "tri.resize"(%x) {sizes = ["1", "3", "2*H"], scales = array<f64: 1.0, 1.0, 2.0>}
      : (tensor<1x3x?xf32, ["", "", "H"]>) -> tensor<1x3x?xf32, ["", "", "2*H"]>
  return
}

// CHECK-LABEL: func.func @gather
// CHECK: "tri.gather"{{.*}} -> tensor<?x?x16xf32, ["N", "T", ""]>
func.func @gather(%x: tensor<100x16xf32>, %indices: tensor<?x?xi64, ["N", "T"]>) {
  %y = "tri.gather"(%x, %indices) : (tensor<100x16xf32>, tensor<?x?xi64, ["N", "T"]>)
      -> tensor<?x?x16xf32, ["N", "T", ""]>
  return
}

// CHECK-LABEL: func.func @reduce
// CHECK: "tri.reduce_mean"{{.*}} -> tensor<?x1xf32, ["N", ""]>
func.func @reduce(%x: tensor<?x?xf32, ["N", "T"]>) {
  %y = "tri.reduce_mean"(%x) {axes = array<i64: 1>}
      : (tensor<?x?xf32, ["N", "T"]>) -> tensor<?x1xf32, ["N", ""]>
  return
}

// CHECK-LABEL: func.func @top_k
// CHECK: "tri.top_k"{{.*}}k = "min(5, T)"
func.func @top_k(%x: tensor<?xf32, ["T"]>) {
  %y:2 = "tri.top_k"(%x) {k = "min(5, T)"} : (tensor<?xf32, ["T"]>)
      -> (tensor<?xf32, ["min(5, T)"]>, tensor<?xi64, ["min(5, T)"]>)
  return
}
