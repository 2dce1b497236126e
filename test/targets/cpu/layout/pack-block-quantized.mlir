// RUN: trivium-opt %s --pack-block-quantized=machine=x86-64-v4 --cse | FileCheck %s
// RUN: trivium-opt %s --pack-block-quantized=machine=x86-64-v3 --cse | FileCheck %s --check-prefix=NARROW

// Constant bytes, scales and zero points become one stream: 16 * (8 + 2 + 1) bytes for a block of
// a panel, which is one vector of the machine. The scales are exact in f16.
// CHECK-LABEL:  func.func @packs_constants
// CHECK-SAME:     (%[[A:.*]]: {{.*}})
// CHECK:          %[[W:.*]] = "tri.{{.*}} -> tensor<1x3x176xui8>
// CHECK:          "cpu.packed_block_mat_mul"(%[[A]], %[[W]])
// CHECK-SAME:       {bits = 4 : i64, block = 16 : i64, columns = 5 : i64, scales = "f16", zero_points = "ui8"}
// CHECK-NOT:      tri.block_quantized_mat_mul
// NARROW-LABEL: func.func @packs_constants
// NARROW:         -> tensor<1x3x88xui8>
func.func @packs_constants(%a: tensor<2x40xf32>) -> tensor<2x5xf32> {
  %w = "tri.constant"() {value = dense<7> : tensor<5x3x8xui8>} : () -> tensor<5x3x8xui8>
  %s = "tri.constant"() {value = dense<0.5> : tensor<5x3xf32>} : () -> tensor<5x3xf32>
  %z = "tri.constant"() {value = dense<8> : tensor<5x3xui8>} : () -> tensor<5x3xui8>
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s, %z) {bits = 4, block = 16}
      : (tensor<2x40xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>, tensor<5x3xui8>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// Scales that a run gives cannot be packed.
// CHECK-LABEL:  func.func @keeps_scales_of_an_input
// CHECK-NOT:      cpu.packed_block_mat_mul
// CHECK:          tri.block_quantized_mat_mul
func.func @keeps_scales_of_an_input(%a: tensor<2x40xf32>, %s: tensor<5x3xf32>) -> tensor<2x5xf32> {
  %w = "tri.constant"() {value = dense<7> : tensor<5x3x8xui8>} : () -> tensor<5x3x8xui8>
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 16}
      : (tensor<2x40xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// Products of nothing are left.
// CHECK-LABEL:  func.func @keeps_products_of_nothing
// CHECK:          tri.block_quantized_mat_mul
func.func @keeps_products_of_nothing(%a: tensor<2x0xf32>) -> tensor<2x5xf32> {
  %w = "tri.constant"() {value = dense<7> : tensor<5x0x8xui8>} : () -> tensor<5x0x8xui8>
  %s = "tri.constant"() {value = dense<0.5> : tensor<5x0xf32>} : () -> tensor<5x0xf32>
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 16}
      : (tensor<2x0xf32>, tensor<5x0x8xui8>, tensor<5x0xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// Scales that f16 would round stay what they are.
// CHECK-LABEL:  func.func @keeps_long_scales
// CHECK:          "cpu.packed_block_mat_mul"{{.*}} scales = "f32"
func.func @keeps_long_scales(%a: tensor<2x40xf32>) -> tensor<2x5xf32> {
  %w = "tri.constant"() {value = dense<7> : tensor<5x3x8xui8>} : () -> tensor<5x3x8xui8>
  %s = "tri.constant"() {value = dense<0.1> : tensor<5x3xf32>} : () -> tensor<5x3xf32>
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 16}
      : (tensor<2x40xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// Rounded activations are rounded once for all products of them; panels have two vectors for any
// number of rows.
// CHECK-LABEL:  func.func @rounds_once
// CHECK-SAME:     (%[[A:.*]]: tensor<1x64xf16>)
// CHECK:          %[[R:.*]]:3 = "cpu.quantize_blocks"(%[[A]]) {block = 32 : i64}
// CHECK:          "cpu.dot_block_mat_mul"(%[[R]]#0, %[[R]]#1, %[[R]]#2, {{.*}} to = "f16"{{.*}} tensor<3x2x576xui8>
// CHECK-NOT:      cpu.quantize_blocks
// CHECK:          "cpu.dot_block_mat_mul"(%[[R]]#0, %[[R]]#1, %[[R]]#2,
// CHECK-NOT:      tri.block_quantized_mat_mul
func.func @rounds_once(%a: tensor<1x64xf16>) -> (tensor<1x96xf16>, tensor<1x64xf16>) {
  %w = "tri.constant"() {value = dense<7> : tensor<96x2x16xui8>} : () -> tensor<96x2x16xui8>
  %v = "tri.constant"() {value = dense<7> : tensor<64x2x16xui8>} : () -> tensor<64x2x16xui8>
  %s = "tri.constant"() {value = dense<0.1> : tensor<96x2xf16>} : () -> tensor<96x2xf16>
  %t = "tri.constant"() {value = dense<0.1> : tensor<64x2xf16>} : () -> tensor<64x2xf16>
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 32, activations = "i8"}
      : (tensor<1x64xf16>, tensor<96x2x16xui8>, tensor<96x2xf16>) -> tensor<1x96xf16>
  %z = "tri.block_quantized_mat_mul"(%a, %v, %t) {bits = 4, block = 32, activations = "i8"}
      : (tensor<1x64xf16>, tensor<64x2x16xui8>, tensor<64x2xf16>) -> tensor<1x64xf16>
  return %y, %z : tensor<1x96xf16>, tensor<1x64xf16>
}

// Matrices that indices choose are packed one after another.
// CHECK-LABEL:  func.func @packs_experts
// CHECK-SAME:     (%[[A:.*]]: tensor<6x40xf32>, %[[I:.*]]: tensor<6xi32>)
// CHECK:          %[[W:.*]] = "tri.{{.*}} -> tensor<2x1x3x160xui8>
// CHECK:          %[[R:.*]]:3 = "cpu.quantize_blocks"(%[[A]]) {block = 16 : i64}
// CHECK:          "cpu.dot_indexed_block_mat_mul"(%[[R]]#0, %[[R]]#1, %[[R]]#2, %[[W]], %[[I]])
// CHECK-SAME:       {bits = 4 : i64, block = 16 : i64, columns = 5 : i64, scales = "f16"
func.func @packs_experts(%a: tensor<6x40xf32>, %index: tensor<6xi32>) -> tensor<6x5xf32> {
  %w = "tri.constant"() {value = dense<7> : tensor<2x5x3x8xui8>} : () -> tensor<2x5x3x8xui8>
  %s = "tri.constant"() {value = dense<0.5> : tensor<2x5x3xf32>} : () -> tensor<2x5x3xf32>
  %y = "tri.indexed_block_mat_mul"(%a, %w, %s, %index) {bits = 4, block = 16, activations = "i8"}
      : (tensor<6x40xf32>, tensor<2x5x3x8xui8>, tensor<2x5x3xf32>, tensor<6xi32>) -> tensor<6x5xf32>
  return %y : tensor<6x5xf32>
}

// Exact activations are arithmetic before they come here.
// CHECK-LABEL:  func.func @keeps_exact_experts
// CHECK-NOT:      cpu.dot_indexed_block_mat_mul
// CHECK:          tri.indexed_block_mat_mul
func.func @keeps_exact_experts(%a: tensor<6x40xf32>, %index: tensor<6xi32>) -> tensor<6x5xf32> {
  %w = "tri.constant"() {value = dense<7> : tensor<2x5x3x8xui8>} : () -> tensor<2x5x3x8xui8>
  %s = "tri.constant"() {value = dense<0.5> : tensor<2x5x3xf32>} : () -> tensor<2x5x3xf32>
  %y = "tri.indexed_block_mat_mul"(%a, %w, %s, %index) {bits = 4, block = 16}
      : (tensor<6x40xf32>, tensor<2x5x3x8xui8>, tensor<2x5x3xf32>, tensor<6xi32>) -> tensor<6x5xf32>
  return %y : tensor<6x5xf32>
}
