// RUN: trivium-opt %s --pack-weights=machine=x86-64-v4 | FileCheck %s
// RUN: trivium-opt %s --pack-weights=machine=x86-64-v3 | FileCheck %s --check-prefix=NARROW
// RUN: trivium-opt %s '--pack-weights=machine=x86-64-v4 sink-dequantize=false' | FileCheck %s --check-prefix=STRICT

// The constant right-hand side of a product comes in panels, which zeros fill up: here to one
// vector of the machine.
// CHECK-LABEL: func.func @packs_matrices
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[W:.*]] = "tri.constant"() {value = {{.*}} : tensor<1x2x16xf32>}
// CHECK:         "cpu.packed_mat_mul"(%[[X]], %[[W]]) {columns = 3 : i64, rows = {{[0-9]+}} : i64}
// CHECK-NOT:     "tri.mat_mul"
// NARROW-LABEL: func.func @packs_matrices
// NARROW:        "tri.constant"() {value = {{.*}} : tensor<1x2x8xf32>}
func.func @packs_matrices(%x: tensor<5x4x2xf32>) -> tensor<5x4x3xf32> {
  %w = "tri.constant"() {value = dense<[[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %y = "tri.mat_mul"(%x, %w) : (tensor<5x4x2xf32>, tensor<2x3xf32>) -> tensor<5x4x3xf32>
  return %y : tensor<5x4x3xf32>
}

// A row is multiplied by integers as they are, and the product is scaled.
// CHECK-LABEL: func.func @multiplies_a_row_by_integers
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK-DAG:     %[[W:.*]] = "tri.weight"() {{.*}} -> tensor<1x64x128xi8>
// CHECK:         %[[P:.*]] = "cpu.packed_mat_mul"(%[[X]], %[[W]]) {columns = 128 : i64
// CHECK:         %[[S:.*]] = "tri.constant"() {{.*}} -> tensor<128xf32>
// CHECK:         "tri.mul"(%[[P]], %[[S]])
// CHECK-NOT:     cpu.packed_mat_mul
// STRICT-LABEL:  func.func @multiplies_a_row_by_integers
// STRICT:        %[[P:.*]] = "cpu.packed_mat_mul"
// STRICT-NEXT:   return %[[P]]
func.func @multiplies_a_row_by_integers(%x: tensor<1x64xf32>) -> tensor<1x128xf32> {
  %q = "tri.constant"() {value = dense<7> : tensor<64x128xi8>} : () -> tensor<64x128xi8>
  %s = "tri.constant"() {value = dense<0.5> : tensor<1x128xf32>} : () -> tensor<1x128xf32>
  %f = "tri.cast"(%q) {to = "f32"} : (tensor<64x128xi8>) -> tensor<64x128xf32>
  %w = "tri.mul"(%f, %s) : (tensor<64x128xf32>, tensor<1x128xf32>) -> tensor<64x128xf32>
  %y = "tri.mat_mul"(%x, %w) : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  return %y : tensor<1x128xf32>
}

// Many rows read each weight many times: it is widened once, from packed integers and a scale for
// each panel of columns that have the same. Panels of equal integers are stored once.
// CHECK-LABEL: func.func @keeps_widened_weights_of_many_rows
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK-DAG:     %[[Q:.*]] = "tri.weight"() {{.*}} -> tensor<1x64x64xi8>
// CHECK-DAG:     %[[S:.*]] = "tri.constant"() {{.*}} -> tensor<2x1x1xf32>
// CHECK-DAG:     %[[F:.*]] = "tri.cast"(%[[Q]])
// CHECK:         %[[W:.*]] = "tri.mul"(%[[F]], %[[S]])
// CHECK:         "cpu.packed_mat_mul"(%[[X]], %[[W]])
func.func @keeps_widened_weights_of_many_rows(%x: tensor<100x64xf32>) -> tensor<100x128xf32> {
  %q = "tri.constant"() {value = dense<7> : tensor<64x128xi8>} : () -> tensor<64x128xi8>
  %a = "tri.constant"() {value = dense<0.5> : tensor<1x64xf32>} : () -> tensor<1x64xf32>
  %b = "tri.constant"() {value = dense<1.0> : tensor<1x64xf32>} : () -> tensor<1x64xf32>
  %v = "tri.concat"(%a, %b) {axis = 1 : i64} : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x128xf32>
  %f = "tri.cast"(%q) {to = "f32"} : (tensor<64x128xi8>) -> tensor<64x128xf32>
  %w = "tri.mul"(%f, %v) : (tensor<64x128xf32>, tensor<1x128xf32>) -> tensor<64x128xf32>
  %y = "tri.mat_mul"(%x, %w) : (tensor<100x64xf32>, tensor<64x128xf32>) -> tensor<100x128xf32>
  return %y : tensor<100x128xf32>
}

// A linear layer is a product and a sum; its weight is turned and packed.
// CHECK-LABEL: func.func @packs_linear_weights
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[B:.*]]: {{.*}})
// CHECK:         %[[W:.*]] = "tri.constant"() {value = dense<{{.*}}1.0{{.*}}3.0{{.*}}5.0{{.*}}2.0{{.*}}4.0{{.*}}6.0{{.*}}> : tensor<1x2x16xf32>}
// CHECK:         %[[P:.*]] = "cpu.packed_mat_mul"(%[[X]], %[[W]]) {columns = 3 : i64, rows = {{[0-9]+}} : i64}
// CHECK:         "tri.add"(%[[P]], %[[B]])
func.func @packs_linear_weights(%x: tensor<4x2xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  %w = "tri.constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>} : () -> tensor<3x2xf32>
  %y = "tri.gemm"(%x, %w, %b) {trans_b = true} : (tensor<4x2xf32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// With a scale, the weight is only turned.
// CHECK-LABEL: func.func @turns_linear_weights
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[W:.*]] = "tri.constant"() {value = dense<{{.*}}1.0{{.*}}3.0{{.*}}5.0{{.*}}2.0{{.*}}4.0{{.*}}6.0{{.*}}> : tensor<2x3xf32>}
// CHECK:         "tri.gemm"(%[[X]], %[[W]]) {{.*}}trans_b = false
func.func @turns_linear_weights(%x: tensor<4x2xf32>) -> tensor<4x3xf32> {
  %w = "tri.constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>} : () -> tensor<3x2xf32>
  %y = "tri.gemm"(%x, %w) {alpha = 2.0, trans_b = true} : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// What is not a constant cannot be turned now.
// CHECK-LABEL: func.func @keeps_variable_weights
// CHECK:         "tri.gemm"({{.*}}) {trans_b = true}
func.func @keeps_variable_weights(%x: tensor<4x2xf32>, %w: tensor<3x2xf32>) -> tensor<4x3xf32> {
  %y = "tri.gemm"(%x, %w) {trans_b = true} : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// Two outputs that see two channels: their kernels come to lie side by side.
// CHECK-LABEL: func.func @packs_kernels
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[W:.*]] = "tri.constant"() {value = dense<{{.*}}1.0{{.*}}3.0{{.*}}2.0{{.*}}4.0{{.*}}> : tensor<1x4xf32>}
// CHECK:         "cpu.packed_conv"(%[[X]], %[[W]]) {{.*}}kernel = array<i64: 1>, outputs = 2
// CHECK-NOT:     "tri.conv"
func.func @packs_kernels(%x: tensor<1x2x5xf32>) -> tensor<1x2x5xf32> {
  %w = "tri.constant"() {value = dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf32>} : () -> tensor<2x2x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x5xf32>, tensor<2x2x1xf32>) -> tensor<1x2x5xf32>
  return %y : tensor<1x2x5xf32>
}

// A depthwise convolution reads one kernel at a time.
// CHECK-LABEL: func.func @keeps_depthwise
// CHECK:         "tri.conv"
func.func @keeps_depthwise(%x: tensor<1x2x5xf32>) -> tensor<1x2x5xf32> {
  %w = "tri.constant"() {value = dense<[[[1.0]], [[3.0]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1>, group = 2, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x5xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5xf32>
  return %y : tensor<1x2x5xf32>
}

// Nine pixels leave lanes of vectors empty, thirty-two outputs do not.
// CHECK-LABEL: func.func @packs_panels_for_small_maps
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[W:.*]] = "tri.weight"() {{.*}}type = tensor<{{[0-9]+}}x64x{{[0-9]+}}xf32>}
// CHECK:         "cpu.panel_conv"(%[[X]], %[[W]]) {{.*}}kernel = array<i64: 1, 1>, outputs = 32
func.func @packs_panels_for_small_maps(%x: tensor<1x64x3x3xf32>) -> tensor<1x32x3x3xf32> {
  %w = "tri.constant"() {value = dense<2.0> : tensor<32x64x1x1xf32>} : () -> tensor<32x64x1x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x64x3x3xf32>, tensor<32x64x1x1xf32>) -> tensor<1x32x3x3xf32>
  return %y : tensor<1x32x3x3xf32>
}

// The same convolution with a schedule that somebody fixed: vectors lie across pixels.
// CHECK-LABEL: func.func @takes_the_fixed_schedule
// CHECK:         "cpu.packed_conv"{{.*}} {block = 5 : i64, {{.*}}, vectors = 1 : i64}
func.func @takes_the_fixed_schedule(%x: tensor<1x64x3x3xf32>) -> tensor<1x32x3x3xf32> {
  %w = "tri.constant"() {value = dense<2.0> : tensor<32x64x1x1xf32>} : () -> tensor<32x64x1x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>, trivium.schedule = "packed 5x1"}
      : (tensor<1x64x3x3xf32>, tensor<32x64x1x1xf32>) -> tensor<1x32x3x3xf32>
  return %y : tensor<1x32x3x3xf32>
}

// CHECK-LABEL: func.func @takes_the_fixed_panel
// CHECK:         "cpu.panel_conv"{{.*}}outputs = 32 : i64, {{.*}}rows = 2 : i64
func.func @takes_the_fixed_panel(%x: tensor<1x64x3x3xf32>) -> tensor<1x32x3x3xf32> {
  %w = "tri.constant"() {value = dense<2.0> : tensor<32x64x1x1xf32>} : () -> tensor<32x64x1x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>, trivium.schedule = "panel 2x1"}
      : (tensor<1x64x3x3xf32>, tensor<32x64x1x1xf32>) -> tensor<1x32x3x3xf32>
  return %y : tensor<1x32x3x3xf32>
}

// A line of three pixels is more than a tile: it takes a part of one.
// CHECK-LABEL: func.func @takes_parts_of_lines
// CHECK:         "cpu.panel_conv"{{.*}}rows = 2 : i64
func.func @takes_parts_of_lines(%x: tensor<1x64x3x3xf32>) -> tensor<1x32x3x3xf32> {
  %w = "tri.constant"() {value = dense<2.0> : tensor<32x64x3x3xf32>} : () -> tensor<32x64x3x3xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, trivium.schedule = "panel 2x1"}
      : (tensor<1x64x3x3xf32>, tensor<32x64x3x3xf32>) -> tensor<1x32x3x3xf32>
  return %y : tensor<1x32x3x3xf32>
}

// More accumulators than there are registers.
// CHECK-LABEL: func.func @keeps_an_impossible_tile_off
// CHECK-NOT:     rows = 40
// CHECK:         return
func.func @keeps_an_impossible_tile_off(%x: tensor<64x2xf32>) -> tensor<64x3xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %y = "tri.mat_mul"(%x, %w) {trivium.schedule = "packed 40x1"} : (tensor<64x2xf32>, tensor<2x3xf32>) -> tensor<64x3xf32>
  return %y : tensor<64x3xf32>
}

// CHECK-LABEL: func.func @takes_the_fixed_rows
// CHECK:         "cpu.packed_mat_mul"{{.*}} {columns = 3 : i64, rows = 7 : i64}
func.func @takes_the_fixed_rows(%x: tensor<64x2xf32>) -> tensor<64x3xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %y = "tri.mat_mul"(%x, %w) {trivium.schedule = "packed 7x1"} : (tensor<64x2xf32>, tensor<2x3xf32>) -> tensor<64x3xf32>
  return %y : tensor<64x3xf32>
}

// Windows of several taps are read in place, where many outputs make up for it.
// CHECK-LABEL: func.func @packs_panels_for_windows
// CHECK:         "cpu.panel_conv"({{.*}}kernel = array<i64: 3>, outputs = 64
func.func @packs_panels_for_windows(%x: tensor<1x64x65xf32>) -> tensor<1x64x32xf32> {
  %w = "tri.constant"() {value = dense<2.0> : tensor<64x64x3xf32>} : () -> tensor<64x64x3xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
      : (tensor<1x64x65xf32>, tensor<64x64x3xf32>) -> tensor<1x64x32xf32>
  return %y : tensor<1x64x32xf32>
}

// With a single tap, as full is not enough: results would be transposed for nothing.
// CHECK-LABEL: func.func @keeps_vectors_across_pixels
// CHECK:         "cpu.packed_conv"({{.*}}kernel = array<i64: 1>, outputs = 16
func.func @keeps_vectors_across_pixels(%x: tensor<1x2x32xf32>) -> tensor<1x16x32xf32> {
  %w = "tri.constant"() {value = dense<2.0> : tensor<16x2x1xf32>} : () -> tensor<16x2x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
      : (tensor<1x2x32xf32>, tensor<16x2x1xf32>) -> tensor<1x16x32xf32>
  return %y : tensor<1x16x32xf32>
}

// Few pixels of f16: the weights keep their type, and vectors are loaded across outputs.
// CHECK-LABEL: func.func @packs_panels_of_halves
// CHECK:         "cpu.panel_conv"({{.*}}kernel = array<i64: 3>, outputs = 64 {{.*}}-> tensor<1x64x13xf16>
// CHECK-NOT:     "cpu.packed_conv"
func.func @packs_panels_of_halves(%x: tensor<1x128x13xf16>) -> tensor<1x64x13xf16> {
  %w = "tri.constant"() {value = dense<2.0> : tensor<64x128x3xf16>} : () -> tensor<64x128x3xf16>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 1>}
      : (tensor<1x128x13xf16>, tensor<64x128x3xf16>) -> tensor<1x64x13xf16>
  return %y : tensor<1x64x13xf16>
}

// Many pixels of f16 have tiles of more rows than those of f32: each converts the weights.
// CHECK-LABEL: func.func @packs_tall_panels_of_halves
// CHECK:         "cpu.panel_conv"({{.*}}outputs = 64 {{.*}} rows = 14 {{.*}}-> tensor<1x64x500xf16>
func.func @packs_tall_panels_of_halves(%x: tensor<1x128x500xf16>) -> tensor<1x64x500xf16> {
  %w = "tri.constant"() {value = dense<2.0> : tensor<64x128x3xf16>} : () -> tensor<64x128x3xf16>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 1>}
      : (tensor<1x128x500xf16>, tensor<64x128x3xf16>) -> tensor<1x64x500xf16>
  return %y : tensor<1x64x500xf16>
}

// The matrix keeps its type: a panel is as wide as a vector of f32, in which it is multiplied.
// CHECK-LABEL: func.func @packs_matrices_of_halves
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[W:.*]] = "tri.constant"() {value = {{.*}} : tensor<1x2x16xf16>}
// CHECK:         "cpu.packed_mat_mul"(%[[X]], %[[W]]) {columns = 3 : i64
// NARROW-LABEL: func.func @packs_matrices_of_halves
// NARROW:        "tri.constant"() {value = {{.*}} : tensor<1x2x8xf16>}
func.func @packs_matrices_of_halves(%x: tensor<4x2xf16>) -> tensor<4x3xf16> {
  %w = "tri.constant"() {value = dense<[[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]> : tensor<2x3xf16>} : () -> tensor<2x3xf16>
  %y = "tri.mat_mul"(%x, %w) : (tensor<4x2xf16>, tensor<2x3xf16>) -> tensor<4x3xf16>
  return %y : tensor<4x3xf16>
}

// The sum with a bias is rounded once.
// CHECK-LABEL: func.func @packs_linear_layers_of_halves
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[C:.*]]: {{.*}})
// CHECK:         %[[A:.*]] = "tri.cast"(%[[X]]) {{.*}}to = "f32"
// CHECK:         %[[P:.*]] = "cpu.packed_mat_mul"(%[[A]], {{.*}} tensor<1x2x16xf16>) -> tensor<4x3xf32>
// CHECK:         %[[B:.*]] = "tri.cast"(%[[C]]) {{.*}}to = "f32"
// CHECK:         %[[S:.*]] = "tri.add"(%[[P]], %[[B]])
// CHECK:         "tri.cast"(%[[S]]) {{.*}}to = "f16"
func.func @packs_linear_layers_of_halves(%x: tensor<4x2xf16>, %c: tensor<3xf16>) -> tensor<4x3xf16> {
  %w = "tri.constant"() {value = dense<[[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]> : tensor<2x3xf16>} : () -> tensor<2x3xf16>
  %y = "tri.gemm"(%x, %w, %c) {alpha = 1.0, beta = 1.0, trans_a = false, trans_b = false, operandSegmentSizes = array<i32: 1, 1, 1>}
      : (tensor<4x2xf16>, tensor<2x3xf16>, tensor<3xf16>) -> tensor<4x3xf16>
  return %y : tensor<4x3xf16>
}

// A matrix that comes with a run is not packed.
// CHECK-LABEL: func.func @keeps_variable_halves
// CHECK:         "tri.mat_mul"
// CHECK-NOT:     cpu.packed_mat_mul
func.func @keeps_variable_halves(%x: tensor<4x2xf16>, %w: tensor<2x3xf16>) -> tensor<4x3xf16> {
  %y = "tri.mat_mul"(%x, %w) : (tensor<4x2xf16>, tensor<2x3xf16>) -> tensor<4x3xf16>
  return %y : tensor<4x3xf16>
}

// A blocked convolution is packed already; for another schedule, it is packed again.
// CHECK-LABEL: func.func @packs_blocked_conv_again
// CHECK:         "cpu.blocked_conv"{{.*}}rows = 29{{.*}} : (tensor<1x2x4x5x16xf32>, tensor<4x32x16xf32>)
// CHECK:         "cpu.blocked_conv"{{.*}} : (tensor<1x2x4x5x16xf32>, tensor<2x32x32xf32>)
func.func @packs_blocked_conv_again(%x: tensor<1x2x4x5x16xf32>) -> (tensor<1x4x4x5x16xf32>, tensor<1x4x4x5x16xf32>) {
  %w = "tri.constant"() {value = dense<1.0> : tensor<2x32x32xf32>} : () -> tensor<2x32x32xf32>
  %0 = "cpu.blocked_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, lanes = 16, outputs = 64, strides = array<i64: 1, 1>, trivium.schedule = "panel 29x1"}
      : (tensor<1x2x4x5x16xf32>, tensor<2x32x32xf32>) -> tensor<1x4x4x5x16xf32>
  %1 = "cpu.blocked_conv"(%x, %w) {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, lanes = 16, outputs = 64, strides = array<i64: 1, 1>}
      : (tensor<1x2x4x5x16xf32>, tensor<2x32x32xf32>) -> tensor<1x4x4x5x16xf32>
  return %0, %1 : tensor<1x4x4x5x16xf32>, tensor<1x4x4x5x16xf32>
}
