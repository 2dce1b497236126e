// RUN: trivium-opt %s | trivium-opt | FileCheck %s

// A function declares its symbols; types and attributes have expressions of them.
// CHECK-LABEL: func.func @symbols(
// CHECK-SAME: %{{.*}}: tensor<?x3x?x32xf32, ["N", "", "H", ""]>
// CHECK-SAME: attributes {trivium.symbols = {H = "3..640:224", N = "1.."}}
func.func @symbols(%x: tensor<?x3x?x32xf32, ["N", "", "H", ""]>)
    attributes {trivium.symbols = {N = "1..", H = "3..640:224"}} {
  // CHECK: -> tensor<?x3x?x16xf32, ["N", "", "(H + 1)//2 - 1", ""]>
  %y = "tri.max_pool"(%x) {kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>,
      pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<?x3x?x32xf32, ["N", "", "H", ""]>)
      -> tensor<?x3x?x16xf32, ["N", "", "(H + 1)//2 - 1", ""]>
  return
}

// What a run must check is written with the symbols.
// CHECK-LABEL: func.func @checks(
// CHECK-SAME: trivium.checks = [{expression = "N - T", message = "has sizes T and N along axis -1", node = "add", relation = "=="}]
func.func @checks(%a: tensor<?xf32, ["N"]>, %b: tensor<?xf32, ["T"]>) attributes {
    trivium.symbols = {N = "1..", T = "1..512:128"},
    trivium.checks = [{expression = "N - T", relation = "==", node = "add",
                       message = "has sizes T and N along axis -1"}]} {
  // CHECK: "tri.add"{{.*}} -> tensor<?xf32, ["N"]>
  %y = "tri.add"(%a, %b)
      : (tensor<?xf32, ["N"]>, tensor<?xf32, ["T"]>) -> tensor<?xf32, ["N"]>
  return
}

// Beside an order of axes, sizes have a key.
// CHECK-LABEL: func.func @ordered(
// CHECK-SAME: tensor<?x4xf32, {order = [1, 0], sizes = ["N", ""]}>
func.func @ordered(%x: tensor<?x4xf32, {order = [1, 0], sizes = ["N", ""]}>)
    attributes {trivium.symbols = {N = "1.."}} {
  %y = "tri.relu"(%x) : (tensor<?x4xf32, {order = [1, 0], sizes = ["N", ""]}>) -> tensor<?x4xf32, ["N", ""]>
  return
}
