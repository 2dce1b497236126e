// RUN: trivium-opt %s --verify-values | FileCheck %s

// Both branches take all inputs, and one of them returns the results.
// CHECK-LABEL: func.func @if
// CHECK-SAME:    (%[[C:.*]]: tensor<i1>, %[[X:.*]]: tensor<2xf32>)
// CHECK:         %[[R:.*]] = "tri.if"(%[[C]], %[[X]]) ({
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<2xf32>):
// CHECK-NEXT:      %[[B:.*]] = "tri.relu"(%[[A]])
// CHECK-NEXT:      "tri.yield"(%[[B]]) : (tensor<2xf32>) -> ()
// CHECK-NEXT:    }, {
// CHECK-NEXT:    ^bb0(%[[D:.*]]: tensor<2xf32>):
// CHECK-NEXT:      "tri.yield"(%[[D]]) : (tensor<2xf32>) -> ()
// CHECK-NEXT:    }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
// CHECK:         return %[[R]]
func.func @if(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    %b = "tri.relu"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%b) : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// A loop that decides at run time when it ends carries values.
// CHECK-LABEL: func.func @while
// CHECK:         "tri.loop"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK:         operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>
func.func @while(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<2xf32>, %w: tensor<2xf32>) -> tensor<2xf32> {
  %r = "tri.loop"(%n, %c, %x, %w) ({
  ^bb0(%i: tensor<i64>, %v: tensor<2xf32>, %k: tensor<2xf32>):
    %a = "tri.add"(%v, %k) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %m = "tri.constant"() {value = dense<3> : tensor<i64>} : () -> tensor<i64>
    %g = "tri.less"(%i, %m) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "tri.yield"(%g, %a) : (tensor<i1>, tensor<2xf32>) -> ()
  }) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>} : (tensor<i64>, tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// One that knows its iterations takes tensors apart along their first axis, and makes some.
// CHECK-LABEL: func.func @scan
// CHECK:         %[[R:.*]]:2 = "tri.loop"(%{{.*}}, %{{.*}})
// CHECK:         iterations = 4 : i64
// CHECK:         return %[[R]]#0, %[[R]]#1
func.func @scan(%s: tensor<2xf32>, %x: tensor<4x2xf32>) -> (tensor<2xf32>, tensor<4x2xf16>) {
  %r:2 = "tri.loop"(%s, %x) ({
  ^bb0(%i: tensor<i64>, %v: tensor<2xf32>, %e: tensor<2xf32>):
    %a = "tri.add"(%v, %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %h = "tri.cast"(%a) {to = "f16"} : (tensor<2xf32>) -> tensor<2xf16>
    "tri.yield"(%a, %h) : (tensor<2xf32>, tensor<2xf16>) -> ()
  }) {iterations = 4 : i64, operandSegmentSizes = array<i32: 0, 0, 1, 1, 0>} : (tensor<2xf32>, tensor<4x2xf32>) -> (tensor<2xf32>, tensor<4x2xf16>)
  return %r#0, %r#1 : tensor<2xf32>, tensor<4x2xf16>
}

// A body that cannot run says why; a run that takes it fails.
// CHECK-LABEL: func.func @fail
// CHECK:           "tri.fail"() {message = "is too small"} : () -> ()
func.func @fail(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    "tri.fail"() {message = "is too small"} : () -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.yield"(%a) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
