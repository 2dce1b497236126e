// RUN: trivium-opt %s | FileCheck %s

// A loop carries values from turn to turn.
// CHECK-LABEL: func.func @for
// CHECK-SAME:    (%[[LOWER:.*]]: {{.*}}, %[[UPPER:.*]]: {{.*}}, %[[STEP:.*]]: {{.*}}, %[[ZERO:.*]]: {{.*}})
// CHECK:         %[[SUM:.*]] = "tile.for"(%[[LOWER]], %[[UPPER]], %[[STEP]], %[[ZERO]]) ({
// CHECK-NEXT:    ^bb0(%[[I:.*]]: tensor<i32>, %[[BEFORE:.*]]: tensor<?xi32, ["BM"]>):
// CHECK-NEXT:      %[[AFTER:.*]] = "tile.binary"(%[[BEFORE]], %[[I]])
// CHECK-NEXT:      "tile.yield"(%[[AFTER]]) : (tensor<?xi32, ["BM"]>) -> ()
// CHECK-NEXT:    }) {stages = 3 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?xi32, ["BM"]>) -> tensor<?xi32, ["BM"]>
// CHECK:         "tile.unary"(%[[SUM]])
func.func @for(%lower: tensor<i32>, %upper: tensor<i32>, %step: tensor<i32>, %zero: tensor<?xi32, ["BM"]>) {
  %sum = "tile.for"(%lower, %upper, %step, %zero) ({
  ^bb0(%i: tensor<i32>, %before: tensor<?xi32, ["BM"]>):
    %after = "tile.binary"(%before, %i) {function = "add"} : (tensor<?xi32, ["BM"]>, tensor<i32>) -> tensor<?xi32, ["BM"]>
    "tile.yield"(%after) : (tensor<?xi32, ["BM"]>) -> ()
  }) {stages = 3} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?xi32, ["BM"]>) -> tensor<?xi32, ["BM"]>
  %a = "tile.unary"(%sum) {function = "neg"} : (tensor<?xi32, ["BM"]>) -> tensor<?xi32, ["BM"]>
  return
}

// Or nothing: it is run for what it stores.
// CHECK-LABEL: func.func @carries_nothing
// CHECK:         "tile.for"(%{{.*}}, %{{.*}}, %{{.*}}) ({
// CHECK-NEXT:    ^bb0(%[[I:.*]]: tensor<i32>):
// CHECK-NEXT:      "tile.store"
// CHECK-NEXT:      "tile.yield"() : () -> ()
// CHECK-NEXT:    }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
func.func @carries_nothing(%n: tensor<i32>, %y: memref<8xi32>) {
  "tile.for"(%n, %n, %n) ({
  ^bb0(%i: tensor<i32>):
    "tile.store"(%i, %y, %i) : (tensor<i32>, memref<8xi32>, tensor<i32>) -> ()
    "tile.yield"() : () -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  return
}
