// RUN: trivium-opt %s | FileCheck %s

// CHECK-LABEL: func.func @quantize
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.quantize"(%[[X]]) {to = "!quant.uniform<i8:f32, 0.5:3>"}
// CHECK-SAME:      : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @quantize(%x: tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>> {
  %0 = "tri.quantize"(%x) {to = "!quant.uniform<i8:f32, 0.5:3>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
}

// CHECK-LABEL: func.func @dequantize
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.dequantize"(%[[X]])
// CHECK-SAME:      : (tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01:1}>>) -> tensor<2xf32>
func.func @dequantize(%x: tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) -> tensor<2xf32> {
  %0 = "tri.dequantize"(%x) {of = "!quant.uniform<i8:f32:0, {0.5, 0.25:1}>"} : (tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @storage_cast
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.storage_cast"(%[[X]])
// CHECK-SAME:      : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
func.func @storage_cast(%x: tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.5>> {
  %0 = "tri.storage_cast"(%x) {to = "!quant.uniform<i8:f32, 0.5>"} : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5>>
}

// CHECK-LABEL: func.func @requantize
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         "tri.requantize"(%[[X]]) {{.*}}multiplier = array<i64: 5, 7>{{.*}}rounding = "half_even", shift = array<i64: 3, 4>
// CHECK-SAME:      : (tensor<2x3xi32>) -> tensor<2x3xi8>
func.func @requantize(%x: tensor<2x3xi32>) -> tensor<2x3xi8> {
  %0 = "tri.requantize"(%x) {multiplier = array<i64: 5, 7>, shift = array<i64: 3, 4>, zero_point = 1, low = -128, high = 127, rounding = "half_even", axis = 0, to = "i8"} : (tensor<2x3xi32>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// CHECK-LABEL: func.func @requantize_mean
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[N:.*]]: {{.*}})
// CHECK:         "tri.requantize_mean"(%[[X]], %[[N]]) {{.*}}multiplier = 5{{.*}}shift = 3
// CHECK-SAME:      : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi8>
func.func @requantize_mean(%x: tensor<2x3xi32>, %n: tensor<3xi32>) -> tensor<2x3xi8> {
  %0 = "tri.requantize_mean"(%x, %n) {multiplier = 5, shift = 3, zero_point = 1, low = -128, high = 127, to = "i8"} : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}

// CHECK-LABEL: func.func @rows
// CHECK:         %{{.*}}:2 = "tri.quantize_rows"(%{{.*}}) : (tensor<2x3x8xf16>) -> (tensor<2x3x8xi8>, tensor<2x3xf32>)
func.func @rows(%x: tensor<2x3x8xf16>) -> (tensor<2x3x8xi8>, tensor<2x3xf32>) {
  %0:2 = "tri.quantize_rows"(%x) : (tensor<2x3x8xf16>) -> (tensor<2x3x8xi8>, tensor<2x3xf32>)
  return %0#0, %0#1 : tensor<2x3x8xi8>, tensor<2x3xf32>
}
