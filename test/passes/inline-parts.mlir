// RUN: trivium-opt %s --split-input-file --inline-parts | FileCheck %s

// The ops of all parts are back in the function, in the order of the parts.
// CHECK-LABEL: func.func @inlines_parts
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>, %[[Z:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[R:.*]] = "tri.relu"(%[[X]])
// CHECK-NEXT:    %[[S:.*]] = "tri.add"(%[[R]], %[[Z]])
// CHECK-NEXT:    return %[[S]]
func.func @inlines_parts(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tri.part"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %r = "tri.relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    "tri.yield"(%r) : (tensor<4xf32>) -> ()
  }) {target = "gpu"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tri.part"(%0, %z) ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %r = "tri.add"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "tri.yield"(%r) : (tensor<4xf32>) -> ()
  }) {target = "cpu"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A function that is a single part loses the attribute alone.
// CHECK-LABEL: func.func @forgets_the_target
// CHECK-NOT:     trivium.target
// CHECK:         "tri.relu"
func.func @forgets_the_target(%x: tensor<4xf32>) -> tensor<4xf32> attributes {trivium.target = "cpu"} {
  %0 = "tri.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A kernel is not a part.
// CHECK-LABEL: func.func @keeps_groups
// CHECK:         "tri.group"
func.func @keeps_groups(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tri.group"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %r = "tri.relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    "tri.yield"(%r) : (tensor<4xf32>) -> ()
  }) {target = "cpu"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
