// RUN: trivium-opt %s --partition="targets=cpu,host" | FileCheck %s
// RUN: trivium-opt %s --partition="targets=cpu,host" --inline-parts | FileCheck %s --check-prefix=INLINED

// Bodies are divided by themselves, and the op stays between the parts that it depends on, and that
// depend on it. Constants are copied to where they are read.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[C:.*]]: tensor<i1>, %[[X:.*]]: tensor<5x3x3xf32>)
// CHECK-NOT:   trivium.target
// CHECK:         %[[R:.*]] = "tri.part"(%[[X]]) ({
// CHECK:           "tri.relu"
// CHECK:         }) {target = "cpu"}
// CHECK:         %[[Y:.*]] = "tri.if"(%[[C]], %[[R]]) ({
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<5x3x3xf32>):
// CHECK:           %[[D:.*]] = "tri.part"(%[[A]]) ({
// CHECK:             "tri.couple_pairs"
// CHECK:           }) {target = "host"}
// CHECK:           %[[E:.*]] = "tri.part"(%[[D]]) ({
// CHECK:             %[[ONE:.*]] = "tri.constant"
// CHECK:             "tri.add"(%{{.*}}, %[[ONE]])
// CHECK:           }) {target = "cpu"}
// CHECK-NEXT:      "tri.yield"(%[[E]])
// CHECK-NEXT:    }, {
// CHECK:           "tri.fail"() {message = "is too small"}
// CHECK:         })
// CHECK:         %[[Z:.*]] = "tri.part"(%[[Y]]) ({
// CHECK:           "tri.exp"
// CHECK:         }) {target = "cpu"}
// CHECK:         return %[[Z]]
// INLINED-LABEL: func.func @main
// INLINED-NOT:   tri.part
// INLINED:         "tri.if"
// INLINED-NEXT:    ^bb0(%[[A:.*]]: tensor<5x3x3xf32>):
// INLINED:           "tri.couple_pairs"(%[[A]])
// INLINED:         return
func.func @main(%c: tensor<i1>, %x: tensor<5x3x3xf32>) -> tensor<5x3xf32> {
  %0 = "tri.relu"(%x) : (tensor<5x3x3xf32>) -> tensor<5x3x3xf32>
  %1 = "tri.if"(%c, %0) ({
  ^bb0(%a: tensor<5x3x3xf32>):
    %one = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    %2 = "tri.couple_pairs"(%a) : (tensor<5x3x3xf32>) -> tensor<5x3xf32>
    %3 = "tri.add"(%2, %one) : (tensor<5x3xf32>, tensor<f32>) -> tensor<5x3xf32>
    "tri.yield"(%3) : (tensor<5x3xf32>) -> ()
  }, {
  ^bb0(%a: tensor<5x3x3xf32>):
    "tri.fail"() {message = "is too small"} : () -> ()
  }) : (tensor<i1>, tensor<5x3x3xf32>) -> tensor<5x3xf32>
  %4 = "tri.exp"(%1) : (tensor<5x3xf32>) -> tensor<5x3xf32>
  return %4 : tensor<5x3xf32>
}
