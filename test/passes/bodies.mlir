// RUN: trivium-opt %s --cse --fold-constants --eliminate --lower-precision="to=f16" --verify-values | FileCheck %s

// Ops are merged, folded and removed in bodies, but not with those around them, and a branch is
// computed in the precision that it has.
// CHECK-LABEL: func.func @branch
// CHECK:         %[[B:.*]] = "tri.exp"(%{{.*}}) : (tensor<2xf16>) -> tensor<2xf16>
// CHECK:         %[[Y:.*]] = "tri.if"(%{{.*}}, %{{.*}}) ({
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<2xf32>):
// CHECK-NEXT:      %[[TWO:.*]] = "tri.constant"() {value = dense<2.000000e+00> : tensor<f32>}
// CHECK-NEXT:      %[[E:.*]] = "tri.exp"(%[[A]]) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      %[[M:.*]] = "tri.mul"(%[[E]], %[[TWO]])
// CHECK-NEXT:      %[[S:.*]] = "tri.add"(%[[M]], %[[E]])
// CHECK-NEXT:      "tri.yield"(%[[S]])
// CHECK-NEXT:    }, {
// CHECK-NEXT:    ^bb0(%[[D:.*]]: tensor<2xf32>):
// CHECK-NEXT:      "tri.yield"(%[[D]])
// CHECK-NEXT:    })
func.func @branch(%c: tensor<i1>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %b = "tri.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %y = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    %four = "tri.constant"() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
    %two = "tri.sqrt"(%four) : (tensor<f32>) -> tensor<f32>
    %e = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %f = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %m = "tri.mul"(%e, %two) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %s = "tri.add"(%m, %f) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %unused = "tri.neg"(%m) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%s) : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    %r = "tri.reshape"(%a) {shape = array<i64: 2>} : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%r) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return %b, %y : tensor<2xf32>, tensor<2xf32>
}

// A loop whose results nobody uses is removed with its body.
// CHECK-LABEL: func.func @unused_loop
// CHECK-NOT:     tri.loop
// CHECK:         return
func.func @unused_loop(%n: tensor<i64>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>):
    %e = "tri.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%e) : (tensor<2xf32>) -> ()
  }) {operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>} : (tensor<i64>, tensor<2xf32>) -> tensor<2xf32>
  return %x : tensor<2xf32>
}
