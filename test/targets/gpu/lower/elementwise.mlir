// RUN: trivium-opt %s --split-input-file --lower-to-tile | FileCheck %s

// A divisor of 0 or -1 is replaced: hardware leaves open what a division by it gives.
// CHECK-LABEL: func.func @divides_by_any_integer
// CHECK:         %[[A:.*]] = "tile.load"
// CHECK:         %[[B:.*]] = "tile.load"
// CHECK:         %[[SAFE:.*]] = "tile.where"({{.*}}, {{.*}}, %[[B]])
// CHECK-NEXT:    %[[Q:.*]] = "tile.binary"(%[[A]], %[[SAFE]]) {function = "quotient"}
// CHECK:         "tile.store"
func.func @divides_by_any_integer(%a: tensor<1000xi32>, %b: tensor<1000xi32>) -> tensor<1000xi32> {
  %y = "tri.group"(%a, %b) ({
  ^bb0(%ai: tensor<1000xi32>, %bi: tensor<1000xi32>):
    %r = "tri.div"(%ai, %bi) : (tensor<1000xi32>, tensor<1000xi32>) -> tensor<1000xi32>
    "tri.yield"(%r) : (tensor<1000xi32>) -> ()
  }) {target = "gpu"} : (tensor<1000xi32>, tensor<1000xi32>) -> tensor<1000xi32>
  return %y : tensor<1000xi32>
}

// -----

// Floats have a quotient by any number; it is rounded to nearest, for what rounds it next.
// CHECK-LABEL: func.func @divides_floats
// CHECK:         %[[A:.*]] = "tile.load"
// CHECK:         %[[B:.*]] = "tile.load"
// CHECK-NEXT:    %[[Q:.*]] = "tile.binary"(%[[A]], %[[B]]) {function = "div_nearest"}
// CHECK-NOT:     tile.where
func.func @divides_floats(%a: tensor<1000xf32>, %b: tensor<1000xf32>) -> tensor<1000xf32> {
  %y = "tri.group"(%a, %b) ({
  ^bb0(%ai: tensor<1000xf32>, %bi: tensor<1000xf32>):
    %r = "tri.div"(%ai, %bi) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
    "tri.yield"(%r) : (tensor<1000xf32>) -> ()
  }) {target = "gpu"} : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  return %y : tensor<1000xf32>
}

// -----

// Floats are brought into the range of the integer before they are converted.
// CHECK-LABEL: func.func @stops_at_the_ends_of_integers
// CHECK:         %[[INSIDE:.*]] = "tile.binary"({{.*}}) {function = "min"}
// CHECK-NEXT:    %[[WIDE:.*]] = "tile.cast"(%[[INSIDE]]) {to = "i32"}
// CHECK-NEXT:    "tile.cast"(%[[WIDE]]) {to = "i8"}
func.func @stops_at_the_ends_of_integers(%x: tensor<1000xf32>) -> tensor<1000xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<1000xf32>):
    %r = "tri.cast"(%xi) {to = "i8", saturate = true} : (tensor<1000xf32>) -> tensor<1000xi8>
    "tri.yield"(%r) : (tensor<1000xi8>) -> ()
  }) {target = "gpu"} : (tensor<1000xf32>) -> tensor<1000xi8>
  return %y : tensor<1000xi8>
}

// -----

// An integer that does not fit wraps around, which needs no comparison.
// CHECK-LABEL: func.func @wraps_integers
// CHECK:         %[[X:.*]] = "tile.load"
// CHECK-NEXT:    "tile.cast"(%[[X]]) {to = "i8"}
func.func @wraps_integers(%x: tensor<1000xi32>) -> tensor<1000xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%xi: tensor<1000xi32>):
    %r = "tri.cast"(%xi) {to = "i8", saturate = true} : (tensor<1000xi32>) -> tensor<1000xi8>
    "tri.yield"(%r) : (tensor<1000xi8>) -> ()
  }) {target = "gpu"} : (tensor<1000xi32>) -> tensor<1000xi8>
  return %y : tensor<1000xi8>
}

// -----

// The operands lie in different orders: a program takes a rectangle, so that each is read along
// its rows.
// CHECK-LABEL: func.func @adds_by_rectangles
// CHECK:         "tile.load"({{.*}}) {{.*}} -> tensor<?x?xf32, ["BM", "BN"]>
// CHECK:         "tile.load"({{.*}}) {{.*}} -> tensor<?x?xf32, ["BM", "BN"]>
// CHECK:         blocks = ["BM=32", "BN=32"]
// CHECK-SAME:    grid = ["2", "784/BM", "64/BN"]
func.func @adds_by_rectangles(%a: tensor<2x64x28x28xf32>, %b: tensor<2x64x28x28xf32, [0, 2, 3, 1]>) -> tensor<2x64x28x28xf32, [0, 2, 3, 1]> {
  %y = "tri.group"(%a, %b) ({
  ^bb0(%ai: tensor<2x64x28x28xf32>, %bi: tensor<2x64x28x28xf32, [0, 2, 3, 1]>):
    %r = "tri.add"(%ai, %bi) : (tensor<2x64x28x28xf32>, tensor<2x64x28x28xf32, [0, 2, 3, 1]>) -> tensor<2x64x28x28xf32, [0, 2, 3, 1]>
    "tri.yield"(%r) : (tensor<2x64x28x28xf32, [0, 2, 3, 1]>) -> ()
  }) {target = "gpu"} : (tensor<2x64x28x28xf32>, tensor<2x64x28x28xf32, [0, 2, 3, 1]>) -> tensor<2x64x28x28xf32, [0, 2, 3, 1]>
  return %y : tensor<2x64x28x28xf32, [0, 2, 3, 1]>
}

// -----

// All lie in the same order, whatever it is: neighbours are taken in a row, without any division.
// CHECK-LABEL: func.func @adds_in_a_row
// CHECK-NOT:     quotient
// CHECK:         blocks = ["BLOCK=256"]
// CHECK-SAME:    grid = ["100352/BLOCK"]
func.func @adds_in_a_row(%a: tensor<2x64x28x28xf32, [0, 2, 3, 1]>, %b: tensor<2x64x28x28xf32, [0, 2, 3, 1]>) -> tensor<2x64x28x28xf32, [0, 2, 3, 1]> {
  %y = "tri.group"(%a, %b) ({
  ^bb0(%ai: tensor<2x64x28x28xf32, [0, 2, 3, 1]>, %bi: tensor<2x64x28x28xf32, [0, 2, 3, 1]>):
    %r = "tri.add"(%ai, %bi) : (tensor<2x64x28x28xf32, [0, 2, 3, 1]>, tensor<2x64x28x28xf32, [0, 2, 3, 1]>) -> tensor<2x64x28x28xf32, [0, 2, 3, 1]>
    "tri.yield"(%r) : (tensor<2x64x28x28xf32, [0, 2, 3, 1]>) -> ()
  }) {target = "gpu"} : (tensor<2x64x28x28xf32, [0, 2, 3, 1]>, tensor<2x64x28x28xf32, [0, 2, 3, 1]>) -> tensor<2x64x28x28xf32, [0, 2, 3, 1]>
  return %y : tensor<2x64x28x28xf32, [0, 2, 3, 1]>
}
