// RUN: trivium-opt %s --convert-uint8-to-int8 --eliminate | FileCheck %s

// What is quantised only to be dequantised needs nothing else.
// CHECK-LABEL: func.func @quantises_with_a_sign
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[Q:.*]] = "tri.quantize"(%[[X]]) {to = "!quant.uniform<i8:f32, {{.*}}:2>"}
// CHECK-NEXT:    "tri.dequantize"(%[[Q]])
func.func @quantises_with_a_sign(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tri.quantize"(%x) {to = "!quant.uniform<u8:f32, 0.5:130>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<u8:f32, 0.5:130>>
  %1 = "tri.dequantize"(%0) {of = "!quant.uniform<u8:f32, 0.5:130>"} : (tensor<2x!quant.uniform<u8:f32, 0.5:130>>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// An input gets its sign, constants have it, and an output loses it; bounds move, too.
// CHECK-LABEL: func.func @moves_inputs_and_outputs
// CHECK-DAG:     %[[C:.*]] = "tri.constant"() {value = dense<[-127, 126]> : tensor<2xi8>}
// CHECK-DAG:     %[[LESS:.*]] = "tri.sub"
// CHECK-DAG:     "tri.cast"(%[[LESS]]) {{.*}} -> tensor<2xi8>
// CHECK:         "tri.quantize"({{.*}}) {to = "!quant.uniform<i8<-127:127>:f32, 1.000000e+00>"}
// CHECK:         %[[MORE:.*]] = "tri.add"
// CHECK:         "tri.cast"(%[[MORE]]) {{.*}} -> tensor<2xui8>
func.func @moves_inputs_and_outputs(%x: tensor<2xui8>) -> tensor<2xui8> {
  %c = "tri.constant"() {value = dense<[1, 254]> : tensor<2xui8>} : () -> tensor<2xui8>
  %0 = "tri.storage_cast"(%x) {to = "!quant.uniform<u8:f32, 0.5:130>"} : (tensor<2xui8>) -> tensor<2x!quant.uniform<u8:f32, 0.5:130>>
  %1 = "tri.dequantize"(%0) {of = "!quant.uniform<u8:f32, 0.5:130>"} : (tensor<2x!quant.uniform<u8:f32, 0.5:130>>) -> tensor<2xf32>
  %2 = "tri.storage_cast"(%c) {to = "!quant.uniform<u8:f32, 0.5>"} : (tensor<2xui8>) -> tensor<2x!quant.uniform<u8:f32, 0.5>>
  %3 = "tri.dequantize"(%2) {of = "!quant.uniform<u8:f32, 0.5>"} : (tensor<2x!quant.uniform<u8:f32, 0.5>>) -> tensor<2xf32>
  %4 = "tri.add"(%1, %3) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %5 = "tri.quantize"(%4) {to = "!quant.uniform<u8<1:255>:f32, 1.0:128>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<u8<1:255>:f32, 1.0:128>>
  %6 = "tri.storage_cast"(%5) {to = "ui8"} : (tensor<2x!quant.uniform<u8<1:255>:f32, 1.0:128>>) -> tensor<2xui8>
  return %6 : tensor<2xui8>
}

// Words stay as they are.
// CHECK-LABEL: func.func @keeps_words
// CHECK:         "tri.quantize"({{.*}}) {to = "!quant.uniform<u16
func.func @keeps_words(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tri.quantize"(%x) {to = "!quant.uniform<u16:f32, 0.5:130>"} : (tensor<2xf32>) -> tensor<2x!quant.uniform<u16:f32, 0.5:130>>
  %1 = "tri.dequantize"(%0) {of = "!quant.uniform<u16:f32, 0.5:130>"} : (tensor<2x!quant.uniform<u16:f32, 0.5:130>>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
