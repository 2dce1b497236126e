// RUN: trivium-opt %s | trivium-opt | FileCheck %s

// Elements of fewer than 8 bits, and floats of 8, are stored, moved and cast.
// CHECK-LABEL: func.func @casts(
func.func @casts(%x: tensor<4xf32>) -> (tensor<4xf8E4M3FN>, tensor<4xf8E8M0FNU>, tensor<2x2xi4>) {
  // CHECK: "tri.cast"(%{{.*}}) {saturate = false, to = "f8E4M3FN"}
  // CHECK-SAME: -> tensor<4xf8E4M3FN>
  %a = "tri.cast"(%x) {to = "f8E4M3FN", saturate = false}
      : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  // CHECK: "tri.power_of_two"(%{{.*}}) {round_mode = "down", saturate = true}
  %b = "tri.power_of_two"(%x) {saturate = true, round_mode = "down"}
      : (tensor<4xf32>) -> tensor<4xf8E8M0FNU>
  %c = "tri.cast"(%x) {to = "i4", saturate = true}
      : (tensor<4xf32>) -> tensor<4xi4>
  // CHECK: "tri.reshape"{{.*}} -> tensor<2x2xi4>
  %d = "tri.reshape"(%c) {shape = array<i64: 2, 2>} : (tensor<4xi4>) -> tensor<2x2xi4>
  return %a, %b, %d : tensor<4xf8E4M3FN>, tensor<4xf8E8M0FNU>, tensor<2x2xi4>
}

// CHECK-LABEL: func.func @constants(
func.func @constants() -> (tensor<3xi4>, tensor<2xui2>, tensor<2xf4E2M1FN>, tensor<2xf8E5M2>) {
  // CHECK: dense<[-8, 7, 1]> : tensor<3xi4>
  // CHECK: dense<[3, 0]> : tensor<2xui2>
  // CHECK: dense<[5.000000e-01, -6.000000e+00]> : tensor<2xf4E2M1FN>
  // CHECK: dense<[0x7C, 1.500000e+00]> : tensor<2xf8E5M2>
  %a = "tri.constant"() {value = dense<[-8, 7, 1]> : tensor<3xi4>} : () -> tensor<3xi4>
  %b = "tri.constant"() {value = dense<[3, 0]> : tensor<2xui2>} : () -> tensor<2xui2>
  %c = "tri.constant"() {value = dense<[0.5, -6.0]> : tensor<2xf4E2M1FN>} : () -> tensor<2xf4E2M1FN>
  %d = "tri.constant"() {value = dense<[0x7C, 1.5]> : tensor<2xf8E5M2>} : () -> tensor<2xf8E5M2>
  return %a, %b, %c, %d : tensor<3xi4>, tensor<2xui2>, tensor<2xf4E2M1FN>, tensor<2xf8E5M2>
}
