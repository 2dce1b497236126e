// RUN: trivium-opt %s --decompose=ops=quantize,dequantize,requantize,requantize_mean | FileCheck %s

// CHECK-LABEL: func.func @quantizes_by_arithmetic
// CHECK:         "tri.div"
// CHECK:         "tri.round"
// CHECK:         "tri.add"
// CHECK:         "tri.clip"({{.*}}) {max = 1.270000e+02 : f64, min = -1.280000e+02 : f64}
// CHECK:         "tri.cast"({{.*}}) {{.*}}to = "i8"
// CHECK:         "tri.storage_cast"
// CHECK-NOT:     tri.quantize
func.func @quantizes_by_arithmetic(%x: tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>> {
  %0 = "tri.quantize"(%x) {to = "!quant.uniform<i8:f32, 0.5:3>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}

// Each channel has its scale; a zero point of zero is not subtracted.
// CHECK-LABEL: func.func @dequantizes_by_arithmetic
// CHECK-NOT:     tri.sub
// CHECK:         %[[SCALES:.*]] = "tri.constant"() {value = dense<{{.*}}> : tensor<2x1xf32>}
// CHECK:         "tri.mul"({{.*}}, %[[SCALES]])
func.func @dequantizes_by_arithmetic(%x: tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x3xf32> {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32:0, {0.5, 0.25}>"} : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// The product has 64 bits, and half of what the shift drops is added before it.
// CHECK-LABEL: func.func @requantizes_by_arithmetic
// CHECK:         %[[PRODUCT:.*]] = "tri.mul"({{.*}} -> tensor<2xi64>
// CHECK:         %[[SUM:.*]] = "tri.add"(%[[PRODUCT]]
// CHECK:         "tri.shift_right"(%[[SUM]]
// CHECK:         "tri.cast"({{.*}}) {{.*}}to = "ui8"
func.func @requantizes_by_arithmetic(%x: tensor<2xi32>) -> tensor<2xui8> {
  %0 = "tri.requantize"(%x) {multiplier = array<i64: 5>, shift = array<i64: 3>, zero_point = 128, low = 0, high = 255, rounding = "half_up", to = "ui8"} : (tensor<2xi32>) -> tensor<2xui8>
  return %0 : tensor<2xui8>
}

// Sizes are divided, which rounds down; the sign comes last.
// CHECK-LABEL: func.func @divides_by_arithmetic
// CHECK:         %[[SIZE:.*]] = "tri.abs"({{.*}}) : (tensor<2xi64>
// CHECK:         %[[QUOTIENT:.*]] = "tri.div"
// CHECK:         %[[SIGN:.*]] = "tri.sign"
// CHECK:         "tri.mul"(%[[SIGN]], %[[QUOTIENT]])
// CHECK:         "tri.cast"({{.*}}) {{.*}}to = "i8"
func.func @divides_by_arithmetic(%x: tensor<2xi32>, %n: tensor<2xi32>) -> tensor<2xi8> {
  %0 = "tri.requantize_mean"(%x, %n) {multiplier = 5, shift = 3, zero_point = 7, low = -128, high = 127, to = "i8"} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}
