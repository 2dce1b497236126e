// RUN: trivium-opt %s --emit=triton | FileCheck %s

// Variables that change together are assigned together; what two loops carry, one in the other, is
// one variable; and one that is read after its next value was computed keeps its own.
// CHECK:      def fibonacci(y_ptr):
// CHECK-NEXT:     a = tl.full((), 0, tl.int32)
// CHECK-NEXT:     b = tl.full((), 1, tl.int32)
// CHECK-NEXT:     for turn in range(0, 6, 1):
// CHECK-NEXT:         total = a + b
// CHECK-NEXT:         a, b = b, total
// CHECK-NEXT:     tl.store(y_ptr, a)
// CHECK-NEXT:     tl.store(y_ptr + 1, b)
// CHECK-NEXT:     sum_1 = tl.full((), 1, tl.int32)
// CHECK-NEXT:     for i in range(0, 6, 2):
// CHECK-NEXT:         for j in range(0, i, 1):
// CHECK-NEXT:             product = j * i
// CHECK-NEXT:             sum_1 = sum_1 + product
// CHECK-NEXT:     tl.store(y_ptr + 2, sum_1)
// CHECK-NEXT:     old = tl.full((), 2, tl.int32)
// CHECK-NEXT:     for n in range(0, 3, 1):
// CHECK-NEXT:         new = old + 1
// CHECK-NEXT:         both = old * new
// CHECK-NEXT:         tl.store(y_ptr + 3, both)
// CHECK-NEXT:         old = new
"tile.kernel"() ({
^bb0(%y: memref<4xi32> loc("y")):
  %zero = "tile.full"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tile.full"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %two = "tile.full"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %six = "tile.full"() {value = dense<6> : tensor<i32>} : () -> tensor<i32>
  %three = "tile.full"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %pair:2 = "tile.for"(%zero, %six, %one, %zero, %one) ({
  ^bb0(%turn: tensor<i32> loc("turn"), %a: tensor<i32> loc("a"), %b: tensor<i32> loc("b")):
    %total = "tile.binary"(%a, %b) {function = "add"} : (tensor<i32>, tensor<i32>) -> tensor<i32> loc("total")
    "tile.yield"(%b, %total) : (tensor<i32>, tensor<i32>) -> ()
  }) {stages = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  "tile.store"(%pair#0, %y, %zero) : (tensor<i32>, memref<4xi32>, tensor<i32>) -> ()
  "tile.store"(%pair#1, %y, %one) : (tensor<i32>, memref<4xi32>, tensor<i32>) -> ()
  %nested = "tile.for"(%zero, %six, %two, %one) ({
  ^bb0(%i: tensor<i32> loc("i"), %sum: tensor<i32> loc("sum")):
    %inner_result = "tile.for"(%zero, %i, %one, %sum) ({
    ^bb0(%j: tensor<i32> loc("j"), %inner_sum: tensor<i32> loc("inner_sum")):
      %product = "tile.binary"(%j, %i) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32> loc("product")
      %more = "tile.binary"(%inner_sum, %product) {function = "add"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "tile.yield"(%more) : (tensor<i32>) -> ()
    }) {stages = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "tile.yield"(%inner_result) : (tensor<i32>) -> ()
  }) {stages = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
  "tile.store"(%nested, %y, %two) : (tensor<i32>, memref<4xi32>, tensor<i32>) -> ()
  %last = "tile.for"(%zero, %three, %one, %two) ({
  ^bb0(%n: tensor<i32> loc("n"), %old: tensor<i32> loc("old")):
    %new = "tile.binary"(%old, %one) {function = "add"} : (tensor<i32>, tensor<i32>) -> tensor<i32> loc("new")
    %both = "tile.binary"(%old, %new) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32> loc("both")
    "tile.store"(%both, %y, %three) : (tensor<i32>, memref<4xi32>, tensor<i32>) -> ()
    "tile.yield"(%new) : (tensor<i32>) -> ()
  }) {stages = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
  "tile.return"() : () -> ()
}) {sym_name = "fibonacci", grid = ["1"]} : () -> ()
