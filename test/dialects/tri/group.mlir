// RUN: trivium-opt %s | FileCheck %s

// A group may take and give several values, and be for a target.
// CHECK-LABEL: func.func @group
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[Y:.*]]: {{.*}})
// CHECK:         %[[R:.*]]:2 = "tri.group"(%[[X]], %[[Y]]) ({
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<3xf32>):
// CHECK-NEXT:      %[[C:.*]] = "tri.relu"(%[[A]])
// CHECK-NEXT:      "tri.yield"(%[[C]], %[[B]]) : (tensor<2xf32>, tensor<3xf32>) -> ()
// CHECK-NEXT:    }) {target = "cpu"} : (tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>)
// CHECK:         return %[[R]]#0, %[[R]]#1
func.func @group(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %r:2 = "tri.group"(%x, %y) ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<3xf32>):
    %c = "tri.relu"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%c, %b) : (tensor<2xf32>, tensor<3xf32>) -> ()
  }) {target = "cpu"} : (tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>)
  return %r#0, %r#1 : tensor<2xf32>, tensor<3xf32>
}

// Or nothing, as long as it is not placed.
// CHECK-LABEL: func.func @constant_group
// CHECK:         %[[R:.*]] = "tri.group"() ({
// CHECK:         }) : () -> tensor<f32>
func.func @constant_group() -> tensor<f32> {
  %r = "tri.group"() ({
    %c = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    "tri.yield"(%c) : (tensor<f32>) -> ()
  }) : () -> tensor<f32>
  return %r : tensor<f32>
}

// A part is the ops of a model that are for one target.
// CHECK-LABEL: func.func @part
// CHECK:         %[[R:.*]] = "tri.part"(%{{.*}}) ({
// CHECK:         }) {target = "cpu"} : (tensor<2xf32>) -> tensor<2xf32>
func.func @part(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = "tri.part"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %0 = "tri.relu"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%0) : (tensor<2xf32>) -> ()
  }) {target = "cpu"} : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
