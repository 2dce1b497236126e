// RUN: trivium-opt %s --choose-layouts=machine=x86-64-v4 | FileCheck %s
// RUN: trivium-opt %s --choose-layouts='always=true machine=x86-64-v3' | FileCheck %s --check-prefix=ALWAYS

// Groups of sixteen channels fill a vector: that is worth bringing the image into blocks and back.
// The zeros around it are a border of the blocked image.
// CHECK-LABEL: func.func @blocks_groups
// CHECK-SAME:    (%[[X:.*]]: {{.*}})
// CHECK:         %[[B:.*]] = "cpu.block"(%[[X]]) {lanes = 16 : i64}
// CHECK:         %[[P:.*]] = "tri.pad"(%[[B]]) {{.*}} : (tensor<1x4x14x14x16xf32>) -> tensor<1x4x16x16x16xf32>
// CHECK:         %[[Y:.*]] = "cpu.blocked_conv"(%[[P]]{{.*}}group = 4
// CHECK:         %[[Z:.*]] = "tri.relu"(%[[Y]])
// CHECK:         %[[U:.*]] = "cpu.unblock"(%[[Z]])
// CHECK:         return %[[U]]
// ALWAYS-LABEL: func.func @blocks_groups
// ALWAYS:         "cpu.block"{{.*}}lanes = 8
func.func @blocks_groups(%x: tensor<1x64x14x14xf32>) -> tensor<1x64x14x14xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<64x16x3x3xf32>} : () -> tensor<64x16x3x3xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, group = 4, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x64x14x14xf32>, tensor<64x16x3x3xf32>) -> tensor<1x64x14x14xf32>
  %z = "tri.relu"(%y) : (tensor<1x64x14x14xf32>) -> tensor<1x64x14x14xf32>
  return %z : tensor<1x64x14x14xf32>
}

// Taps that are far apart see the border alone for many windows: code passes over it.
// CHECK-LABEL: func.func @keeps_the_border_of_far_taps
// CHECK:         "cpu.blocked_conv"{{.*}}border = array<i64: 6, 6, 6, 6>
func.func @keeps_the_border_of_far_taps(%x: tensor<1x64x14x14xf32>) -> tensor<1x64x14x14xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<64x64x3x3xf32>} : () -> tensor<64x64x3x3xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 6, 6>, pads = array<i64: 6, 6, 6, 6>, strides = array<i64: 1, 1>}
      : (tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  return %y : tensor<1x64x14x14xf32>
}

// What is made in blocks is read in blocks: nothing is brought back and forth in between.
// CHECK-LABEL: func.func @chains_stay_blocked
// CHECK:         "cpu.block"
// CHECK:         "cpu.blocked_conv"
// CHECK-NOT:     cpu.block"
// CHECK-NOT:     cpu.unblock
// CHECK:         "cpu.lane_conv"
// CHECK-NOT:     cpu.block"
// CHECK-NOT:     cpu.unblock
// CHECK:         "cpu.blocked_winograd_conv"
// CHECK:         "cpu.unblock"
func.func @chains_stay_blocked(%x: tensor<1x32x28x28xf32>) -> tensor<1x64x28x28xf32> {
  %v = "tri.constant"() {value = dense<1.0> : tensor<192x32x1x1xf32>} : () -> tensor<192x32x1x1xf32>
  %a = "tri.conv"(%x, %v) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x32x28x28xf32>, tensor<192x32x1x1xf32>) -> tensor<1x192x28x28xf32>
  %d = "tri.constant"() {value = dense<1.0> : tensor<192x1x3x3xf32>} : () -> tensor<192x1x3x3xf32>
  %b = "tri.conv"(%a, %d) {dilations = array<i64: 1, 1>, group = 192, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x192x28x28xf32>, tensor<192x1x3x3xf32>) -> tensor<1x192x28x28xf32>
  %w = "tri.constant"() {value = dense<1.0> : tensor<64x192x3x3xf32>} : () -> tensor<64x192x3x3xf32>
  %c = "tri.conv"(%b, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x192x28x28xf32>, tensor<64x192x3x3xf32>) -> tensor<1x64x28x28xf32>
  return %c : tensor<1x64x28x28xf32>
}

// Constants for each channel, and other images, are blocked along with what they are added to.
// ALWAYS-LABEL: func.func @blocks_operands
// ALWAYS-SAME:    (%[[X:.*]]: {{.*}}, %[[Y:.*]]: {{.*}})
// ALWAYS-DAG:     %[[BX:.*]] = "cpu.block"(%[[X]])
// ALWAYS-DAG:     %[[BY:.*]] = "cpu.block"(%[[Y]])
// ALWAYS:         %[[S:.*]] = "tri.add"(%[[BX]], %[[BY]])
// ALWAYS:         "tri.mul"(%[[S]], {{.*}}) : (tensor<1x1x4x5x8xf32>, tensor<1x1x1x1x8xf32>)
func.func @blocks_operands(%x: tensor<1x8x4x5xf32>, %y: tensor<1x8x4x5xf32>) -> tensor<1x8x4x5xf32> {
  %c = "tri.constant"() {value = dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]], [[6.0]], [[7.0]], [[8.0]]]> : tensor<8x1x1xf32>} : () -> tensor<8x1x1xf32>
  %0 = "tri.add"(%x, %y) : (tensor<1x8x4x5xf32>, tensor<1x8x4x5xf32>) -> tensor<1x8x4x5xf32>
  %1 = "tri.mul"(%0, %c) : (tensor<1x8x4x5xf32>, tensor<8x1x1xf32>) -> tensor<1x8x4x5xf32>
  return %1 : tensor<1x8x4x5xf32>
}

// Pooling works on the pixels of a blocked image: the last axis has windows of one.
// ALWAYS-LABEL: func.func @blocks_pools
// ALWAYS:         "tri.max_pool"{{.*}}kernel = array<i64: 3, 3, 1>{{.*}} : (tensor<1x1x7x7x8xf32>)
// ALWAYS:         "tri.reduce_mean"{{.*}} : (tensor<1x1x3x3x8xf32>) -> tensor<1x1x1x1x8xf32>
func.func @blocks_pools(%x: tensor<1x8x7x7xf32>) -> tensor<1x8x1x1xf32> {
  %0 = "tri.max_pool"(%x) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>}
      : (tensor<1x8x7x7xf32>) -> tensor<1x8x3x3xf32>
  %1 = "tri.reduce_mean"(%0) {axes = array<i64: 2, 3>} : (tensor<1x8x3x3xf32>) -> tensor<1x8x1x1xf32>
  return %1 : tensor<1x8x1x1xf32>
}

// An elementwise op gains nothing by itself.
// CHECK-LABEL: func.func @keeps_lonely_relu
// CHECK-NOT:     cpu.block
// CHECK:         "tri.relu"
func.func @keeps_lonely_relu(%x: tensor<1x64x14x14xf32>) -> tensor<1x64x14x14xf32> {
  %z = "tri.relu"(%x) : (tensor<1x64x14x14xf32>) -> tensor<1x64x14x14xf32>
  return %z : tensor<1x64x14x14xf32>
}

// Three channels do not fill a block, but the convolution that reads them can make blocks.
// ALWAYS-LABEL: func.func @keeps_few_channels
// ALWAYS-SAME:    (%[[X:.*]]: {{.*}})
// ALWAYS-NOT:     cpu.block"
// ALWAYS:         "cpu.blocked_conv"(%[[X]], {{.*}} : (tensor<1x3x14x14xf32>
func.func @keeps_few_channels(%x: tensor<1x3x14x14xf32>) -> tensor<1x16x12x12xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<16x3x3x3xf32>} : () -> tensor<16x3x3x3xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x3x14x14xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x12x12xf32>
  return %y : tensor<1x16x12x12xf32>
}

// Twelve outputs are not whole blocks.
// ALWAYS-LABEL: func.func @keeps_parts_of_blocks
// ALWAYS:         "tri.conv"
func.func @keeps_parts_of_blocks(%x: tensor<1x8x14x14xf32>) -> tensor<1x12x14x14xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<12x8x1x1xf32>} : () -> tensor<12x8x1x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x8x14x14xf32>, tensor<12x8x1x1xf32>) -> tensor<1x12x14x14xf32>
  return %y : tensor<1x12x14x14xf32>
}

// A schedule that was fixed is for a plain image.
// ALWAYS-LABEL: func.func @keeps_fixed_schedule
// ALWAYS:         "tri.conv"
func.func @keeps_fixed_schedule(%x: tensor<1x8x14x14xf32>) -> tensor<1x8x14x14xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<8x8x1x1xf32>} : () -> tensor<8x8x1x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>, trivium.schedule = "packed 6x2"}
      : (tensor<1x8x14x14xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x14x14xf32>
  return %y : tensor<1x8x14x14xf32>
}

// Kernels that are not constants cannot be packed.
// ALWAYS-LABEL: func.func @keeps_variable_kernels
// ALWAYS:         "tri.conv"
func.func @keeps_variable_kernels(%x: tensor<1x8x14x14xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x14x14xf32> {
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x8x14x14xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x14x14xf32>
  return %y : tensor<1x8x14x14xf32>
}

// Blocks that come from blocks of the same width, and images that were only blocked for a moment.
// CHECK-LABEL: func.func @cancels_pairs
// CHECK-SAME:    (%[[B:.*]]: {{.*}}, %[[X:.*]]: {{.*}})
// CHECK-NEXT:    return %[[B]], %[[X]]
func.func @cancels_pairs(%b: tensor<1x2x4x5x8xf32>, %x: tensor<1x8x4x5xf32>) -> (tensor<1x2x4x5x8xf32>, tensor<1x8x4x5xf32>) {
  %0 = "cpu.unblock"(%b) : (tensor<1x2x4x5x8xf32>) -> tensor<1x16x4x5xf32>
  %1 = "cpu.block"(%0) {lanes = 8} : (tensor<1x16x4x5xf32>) -> tensor<1x2x4x5x8xf32>
  %2 = "cpu.block"(%x) {lanes = 4} : (tensor<1x8x4x5xf32>) -> tensor<1x2x4x5x4xf32>
  %3 = "cpu.unblock"(%2) : (tensor<1x2x4x5x4xf32>) -> tensor<1x8x4x5xf32>
  return %1, %3 : tensor<1x2x4x5x8xf32>, tensor<1x8x4x5xf32>
}

// Blocks of another width are other blocks.
// CHECK-LABEL: func.func @keeps_other_blocks
// CHECK:         "cpu.unblock"
// CHECK:         "cpu.block"
func.func @keeps_other_blocks(%b: tensor<1x2x4x5x8xf32>) -> tensor<1x4x4x5x4xf32> {
  %0 = "cpu.unblock"(%b) : (tensor<1x2x4x5x8xf32>) -> tensor<1x16x4x5xf32>
  %1 = "cpu.block"(%0) {lanes = 4} : (tensor<1x16x4x5xf32>) -> tensor<1x4x4x5x4xf32>
  return %1 : tensor<1x4x4x5x4xf32>
}

// Images of one axis are blocked as those of two are.
// CHECK-LABEL: func.func @blocks_lines
// CHECK:         "cpu.block"
// CHECK:         "tri.pad"{{.*}} -> tensor<1x8x502x16xf32>
// CHECK:         %[[C:.*]] = "cpu.blocked_conv"{{.*}} -> tensor<1x8x500x16xf32>
// CHECK:         %[[G:.*]] = "tri.gelu"(%[[C]])
// CHECK:         %[[S:.*]] = "tri.add"(%[[G]], {{.*}}) : (tensor<1x8x500x16xf32>, tensor<1x8x1x16xf32>)
// CHECK:         %[[M:.*]] = "tri.reduce_mean"(%[[S]]) {axes = array<i64: 2>
// CHECK:         "cpu.unblock"(%[[M]])
func.func @blocks_lines(%x: tensor<1x128x500xf32>) -> tensor<1x128x1xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<128x128x3xf32>} : () -> tensor<128x128x3xf32>
  %b = "tri.constant"() {value = dense<1.0> : tensor<128x1xf32>} : () -> tensor<128x1xf32>
  %c = "tri.conv"(%x, %w) {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 1>}
      : (tensor<1x128x500xf32>, tensor<128x128x3xf32>) -> tensor<1x128x500xf32>
  %g = "tri.gelu"(%c) : (tensor<1x128x500xf32>) -> tensor<1x128x500xf32>
  %s = "tri.add"(%g, %b) : (tensor<1x128x500xf32>, tensor<128x1xf32>) -> tensor<1x128x500xf32>
  %m = "tri.reduce_mean"(%s) {axes = array<i64: 2>, keepdims = true} : (tensor<1x128x500xf32>) -> tensor<1x128x1xf32>
  return %m : tensor<1x128x1xf32>
}

// Each result of a transposed convolution sees two of eight taps, of an image with a pixel around.
// CHECK-LABEL: func.func @spreads_lines
// CHECK:         "tri.pad"{{.*}}pads = array<i64: 0, 0, 1, 0, 0, 0, 1, 0>
// CHECK:         "cpu.blocked_conv_transpose"{{.*}}crops = array<i64: 2>, kernel = array<i64: 2>, outputs = 32{{.*}}strides = array<i64: 4>{{.*}} -> tensor<1x2x200x16xf32>
func.func @spreads_lines(%x: tensor<1x64x50xf32>) -> tensor<1x32x200xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<64x32x8xf32>} : () -> tensor<64x32x8xf32>
  %y = "tri.conv_transpose"(%x, %w) {dilations = array<i64: 1>, output_padding = array<i64: 0>, pads = array<i64: 2, 2>, strides = array<i64: 4>}
      : (tensor<1x64x50xf32>, tensor<64x32x8xf32>) -> tensor<1x32x200xf32>
  return %y : tensor<1x32x200xf32>
}

// Activations of a transformer look like images of one axis, but nothing is gained.
// CHECK-LABEL: func.func @keeps_sequences
// CHECK-NOT:     cpu.block
func.func @keeps_sequences(%x: tensor<1x128x768xf32>, %y: tensor<1x128x768xf32>) -> tensor<1x128x768xf32> {
  %s = "tri.add"(%x, %y) : (tensor<1x128x768xf32>, tensor<1x128x768xf32>) -> tensor<1x128x768xf32>
  %r = "tri.relu"(%s) : (tensor<1x128x768xf32>) -> tensor<1x128x768xf32>
  return %r : tensor<1x128x768xf32>
}

// Bytes are blocked as f32 is; around them is their zero point. Three channels are read as they are.
// CHECK-LABEL: func.func @blocks_bytes
// CHECK:         %[[F:.*]] = "cpu.blocked_dot_conv"(%arg0, {{.*}}pads = array<i64: 1, 1, 1, 1>{{.*}} -> tensor<1x4x56x56x16xi32>
// CHECK:         %[[C:.*]] = "tri.cast"(%[[F]]){{.*}} -> tensor<1x4x56x56x16xui8>
// CHECK:         %[[P:.*]] = "tri.pad"(%[[C]]){{.*}}value = 1.280000e+02{{.*}} -> tensor<1x4x58x58x16xui8>
// CHECK:         %[[S:.*]] = "cpu.blocked_dot_conv"(%[[P]], {{.*}}pads = array<i64: 0, 0, 0, 0>{{.*}} -> tensor<1x4x56x56x16xi32>
// CHECK:         "cpu.unblock"(%[[S]])
func.func @blocks_bytes(%x: tensor<1x3x56x56xui8>) -> tensor<1x64x56x56xi32> {
  %w = "tri.constant"() {value = dense<1> : tensor<2x9x32xi32>} : () -> tensor<2x9x32xi32>
  %v = "tri.constant"() {value = dense<1> : tensor<2x144x32xi32>} : () -> tensor<2x144x32xi32>
  %b = "tri.constant"() {value = dense<1> : tensor<64xi32>} : () -> tensor<64xi32>
  %f = "cpu.dot_panel_conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, outputs = 64, padding = 0, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x3x56x56xui8>, tensor<2x9x32xi32>, tensor<64xi32>) -> tensor<1x64x56x56xi32>
  %c = "tri.cast"(%f) {to = "ui8"} : (tensor<1x64x56x56xi32>) -> tensor<1x64x56x56xui8>
  %y = "cpu.dot_panel_conv"(%c, %v, %b) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, outputs = 64, padding = 128, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x64x56x56xui8>, tensor<2x144x32xi32>, tensor<64xi32>) -> tensor<1x64x56x56xi32>
  return %y : tensor<1x64x56x56xi32>
}

// Outputs that are no whole blocks stay plain.
// CHECK-LABEL: func.func @keeps_bytes_in_parts_of_blocks
// CHECK-NOT:     cpu.block
// CHECK:         "cpu.dot_panel_conv"
func.func @keeps_bytes_in_parts_of_blocks(%x: tensor<1x16x56x56xui8>) -> tensor<1x24x56x56xi32> {
  %w = "tri.constant"() {value = dense<1> : tensor<1x4x32xi32>} : () -> tensor<1x4x32xi32>
  %b = "tri.constant"() {value = dense<1> : tensor<24xi32>} : () -> tensor<24xi32>
  %y = "cpu.dot_panel_conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 1>, outputs = 24, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x16x56x56xui8>, tensor<1x4x32xi32>, tensor<24xi32>) -> tensor<1x24x56x56xi32>
  return %y : tensor<1x24x56x56xi32>
}

// So is bf16, of which two fill a word. Stride 2 has no tiles.
// CHECK-LABEL: func.func @blocks_halves
// CHECK:         "cpu.block"(%arg0) {{.*}} -> tensor<1x4x56x56x16xbf16>
// CHECK:         "cpu.blocked_dot_conv"{{.*}} -> tensor<1x4x28x28x16xbf16>
// CHECK:         "tri.relu"({{.*}}tensor<1x4x28x28x16xbf16>
func.func @blocks_halves(%x: tensor<1x64x56x56xbf16>) -> tensor<1x64x28x28xbf16> {
  %w = "tri.constant"() {value = dense<1> : tensor<2x288x32xi32>} : () -> tensor<2x288x32xi32>
  %b = "tri.constant"() {value = dense<1.0> : tensor<64xf32>} : () -> tensor<64xf32>
  %y = "cpu.dot_panel_conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, outputs = 64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<1x64x56x56xbf16>, tensor<2x288x32xi32>, tensor<64xf32>) -> tensor<1x64x28x28xbf16>
  %r = "tri.relu"(%y) : (tensor<1x64x28x28xbf16>) -> tensor<1x64x28x28xbf16>
  return %r : tensor<1x64x28x28xbf16>
}

// Tiles of f32 multiply four times less than words do. Their kernels are f16.
// CHECK-LABEL: func.func @halves_in_tiles
// CHECK:         %[[U:.*]] = "tri.mat_mul"({{.*}}xf32>) -> tensor<1x36x4096xf32>
// CHECK:         "tri.cast"(%[[U]]) {{.*}}to = "f16"
// CHECK:         "cpu.blocked_winograd_conv"({{.*}}tile = 4{{.*}} : (tensor<1x4x58x58x16xbf16>, tensor<1x36x64x64xf16>, tensor<64xf32>) -> tensor<1x4x56x56x16xbf16>
func.func @halves_in_tiles(%x: tensor<1x64x56x56xbf16>) -> tensor<1x64x56x56xbf16> {
  %w = "tri.constant"() {value = dense<0x3F803F80> : tensor<2x288x32xi32>} : () -> tensor<2x288x32xi32>
  %b = "tri.constant"() {value = dense<1.0> : tensor<64xf32>} : () -> tensor<64xf32>
  %y = "cpu.dot_panel_conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, outputs = 64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x64x56x56xbf16>, tensor<2x288x32xi32>, tensor<64xf32>) -> tensor<1x64x56x56xbf16>
  return %y : tensor<1x64x56x56xbf16>
}

// Kernels that are so small that f16 loses bits of them are f32.
// CHECK-LABEL: func.func @keeps_small_kernels_wide
// CHECK:         "cpu.blocked_winograd_conv"({{.*}}tensor<1x36x64x64xf32>
func.func @keeps_small_kernels_wide(%x: tensor<1x64x56x56xbf16>) -> tensor<1x64x56x56xbf16> {
  %w = "tri.constant"() {value = dense<1> : tensor<2x288x32xi32>} : () -> tensor<2x288x32xi32>
  %b = "tri.constant"() {value = dense<1.0> : tensor<64xf32>} : () -> tensor<64xf32>
  %y = "cpu.dot_panel_conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, outputs = 64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x64x56x56xbf16>, tensor<2x288x32xi32>, tensor<64xf32>) -> tensor<1x64x56x56xbf16>
  return %y : tensor<1x64x56x56xbf16>
}

// Two tiles of many channels read more transformed kernels than words that they save.
// CHECK-LABEL: func.func @keeps_words_of_small_maps
// CHECK:         "cpu.blocked_dot_conv"{{.*}} -> tensor<1x16x7x7x16xbf16>
func.func @keeps_words_of_small_maps(%x: tensor<1x256x7x7xbf16>) -> tensor<1x256x7x7xbf16> {
  %w = "tri.constant"() {value = dense<1> : tensor<8x1152x32xi32>} : () -> tensor<8x1152x32xi32>
  %b = "tri.constant"() {value = dense<1.0> : tensor<256xf32>} : () -> tensor<256xf32>
  %y = "cpu.dot_panel_conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, outputs = 256, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x256x7x7xbf16>, tensor<8x1152x32xi32>, tensor<256xf32>) -> tensor<1x256x7x7xbf16>
  return %y : tensor<1x256x7x7xbf16>
}

// Tiles of f16 are widened, too; their bias is.
// CHECK-LABEL: func.func @tiles_of_f16
// CHECK:         %[[B:.*]] = "tri.cast"({{.*}}tensor<64xf32>
// CHECK:         "cpu.blocked_winograd_conv"({{.*}}%[[B]]) {{.*}} : (tensor<1x4x58x58x16xf16>, tensor<1x36x64x64xf32>, tensor<64xf32>) -> tensor<1x4x56x56x16xf16>
func.func @tiles_of_f16(%x: tensor<1x64x56x56xf16>) -> tensor<1x64x56x56xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<64x64x3x3xf16>} : () -> tensor<64x64x3x3xf16>
  %b = "tri.constant"() {value = dense<1.0> : tensor<64xf16>} : () -> tensor<64xf16>
  %y = "tri.conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x64x56x56xf16>, tensor<64x64x3x3xf16>, tensor<64xf16>) -> tensor<1x64x56x56xf16>
  return %y : tensor<1x64x56x56xf16>
}

// Words of four neighbours hold three taps of two results each. Fifteen results see 17 pixels: the
// words of the last one end behind that, and the border is a pixel wider.
// CHECK-LABEL: func.func @blocks_depthwise_bytes
// CHECK:         %[[P:.*]] = "tri.pad"({{.*}}) {{.*}}value = 7.{{.*}} -> tensor<1x2x14x18x16xui8>
// CHECK:         "cpu.lane_dot_conv"(%[[P]], {{.*}}) {{.*}}sizes = array<i64: 12, 15>{{.*}} tensor<2x2x3x16xi32>, {{.*}} -> tensor<1x2x12x15x16xi32>
func.func @blocks_depthwise_bytes(%x: tensor<1x32x12x15xui8>) -> tensor<1x32x12x15xi32> {
  %w = "tri.constant"() {value = dense<3> : tensor<32x9xi32>} : () -> tensor<32x9xi32>
  %b = "tri.constant"() {value = dense<1> : tensor<32xi32>} : () -> tensor<32xi32>
  %y = "cpu.dot_conv"(%x, %w, %b) {block = 1 : i64, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, outputs = 32 : i64, padding = 7 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x32x12x15xui8>, tensor<32x9xi32>, tensor<32xi32>) -> tensor<1x32x12x15xi32>
  return %y : tensor<1x32x12x15xi32>
}

// Words of three channels go on from one pixel to the next: 77 of them instead of 98.
// CHECK-LABEL: func.func @joins_pixels
// CHECK:         %[[T:.*]] = "tri.transpose"({{.*}} -> tensor<1x230x230x3xbf16>
// CHECK:         %[[X:.*]] = "tri.reshape"(%[[T]]) {{.*}} -> tensor<1x1x230x345x2xbf16>
// CHECK:         "cpu.blocked_dot_conv"(%[[X]]{{.*}}kernel = array<i64: 7, 11>{{.*}}strides = array<i64: 2, 3>
func.func @joins_pixels(%x: tensor<1x3x224x224xbf16>) -> tensor<1x64x112x112xbf16> {
  %w = "tri.constant"() {value = dense<0x3F803F80> : tensor<2x98x32xi32>} : () -> tensor<2x98x32xi32>
  %b = "tri.constant"() {value = dense<1.0> : tensor<64xf32>} : () -> tensor<64xf32>
  %y = "cpu.dot_panel_conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, kernel = array<i64: 7, 7>, outputs = 64, pads = array<i64: 3, 3, 3, 3>, strides = array<i64: 2, 2>}
      : (tensor<1x3x224x224xbf16>, tensor<2x98x32xi32>, tensor<64xf32>) -> tensor<1x64x112x112xbf16>
  return %y : tensor<1x64x112x112xbf16>
}

// Three words of a window less are no transposition of the image worth.
// CHECK-LABEL: func.func @keeps_pixels_apart
// CHECK:         "cpu.blocked_dot_conv"(%arg0
func.func @keeps_pixels_apart(%x: tensor<1x3x224x224xbf16>) -> tensor<1x32x112x112xbf16> {
  %w = "tri.constant"() {value = dense<0x3F803F80> : tensor<1x18x32xi32>} : () -> tensor<1x18x32xi32>
  %b = "tri.constant"() {value = dense<1.0> : tensor<32xf32>} : () -> tensor<32xf32>
  %y = "cpu.dot_panel_conv"(%x, %w, %b) {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, outputs = 32, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<1x3x224x224xbf16>, tensor<1x18x32xi32>, tensor<32xf32>) -> tensor<1x32x112x112xbf16>
  return %y : tensor<1x32x112x112xbf16>
}

// Far taps of bf16 pass over the border, too.
// CHECK-LABEL: func.func @keeps_the_border_of_halves
// CHECK:         "cpu.blocked_dot_conv"{{.*}}border = array<i64: 6, 6, 6, 6>
func.func @keeps_the_border_of_halves(%x: tensor<1x64x14x14xbf16>) -> tensor<1x64x14x14xbf16> {
  %w = "tri.constant"() {value = dense<1> : tensor<2x288x32xi32>} : () -> tensor<2x288x32xi32>
  %b = "tri.constant"() {value = dense<1.0> : tensor<64xf32>} : () -> tensor<64xf32>
  %y = "cpu.dot_panel_conv"(%x, %w, %b) {dilations = array<i64: 6, 6>, kernel = array<i64: 3, 3>, outputs = 64, pads = array<i64: 6, 6, 6, 6>, strides = array<i64: 1, 1>}
      : (tensor<1x64x14x14xbf16>, tensor<2x288x32xi32>, tensor<64xf32>) -> tensor<1x64x14x14xbf16>
  return %y : tensor<1x64x14x14xbf16>
}

// A border that is no zeros counts.
// CHECK-LABEL: func.func @reads_the_border_of_a_zero_point
// CHECK:         "cpu.blocked_dot_conv"
// CHECK-SAME:    border = array<i64>
func.func @reads_the_border_of_a_zero_point(%x: tensor<1x64x14x14xui8>) -> tensor<1x64x14x14xi32> {
  %w = "tri.constant"() {value = dense<1> : tensor<2x144x32xi32>} : () -> tensor<2x144x32xi32>
  %b = "tri.constant"() {value = dense<1> : tensor<64xi32>} : () -> tensor<64xi32>
  %y = "cpu.dot_panel_conv"(%x, %w, %b) {dilations = array<i64: 6, 6>, kernel = array<i64: 3, 3>, outputs = 64, padding = 7 : i64, pads = array<i64: 6, 6, 6, 6>, strides = array<i64: 1, 1>}
      : (tensor<1x64x14x14xui8>, tensor<2x144x32xi32>, tensor<64xi32>) -> tensor<1x64x14x14xi32>
  return %y : tensor<1x64x14x14xi32>
}

// Blocks of channels that go to one place of each square go there as they are.
// CHECK-LABEL: func.func @spreads_blocks
// CHECK:         "cpu.blocked_conv"
// CHECK-NOT:     cpu.unblock
// CHECK:         %[[T:.*]] = "tri.transpose"({{.*}} : (tensor<1x2x2x1x28x28x16xf32>) -> tensor<1x1x28x2x28x2x16xf32>
// CHECK:         "tri.reshape"(%[[T]]) {{.*}} -> tensor<1x1x56x56x16xf32>
// CHECK:         "cpu.lane_conv"
func.func @spreads_blocks(%x: tensor<1x64x28x28xf32>) -> tensor<1x16x56x56xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<64x64x1x1xf32>} : () -> tensor<64x64x1x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x64x28x28xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x28x28xf32>
  %s = "tri.depth_to_space"(%y) {blocksize = 2 : i64, mode = "DCR"} : (tensor<1x64x28x28xf32>) -> tensor<1x16x56x56xf32>
  %d = "tri.constant"() {value = dense<1.0> : tensor<16x1x3x3xf32>} : () -> tensor<16x1x3x3xf32>
  %z = "tri.conv"(%s, %d) {dilations = array<i64: 1, 1>, group = 16, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
      : (tensor<1x16x56x56xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x56x56xf32>
  return %z : tensor<1x16x56x56xf32>
}

// Neighbouring channels that go to different places are no blocks.
// CHECK-LABEL: func.func @keeps_mixed_channels_plain
// CHECK:         "tri.depth_to_space"
func.func @keeps_mixed_channels_plain(%x: tensor<1x64x28x28xf32>) -> tensor<1x16x56x56xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<64x64x1x1xf32>} : () -> tensor<64x64x1x1xf32>
  %y = "tri.conv"(%x, %w) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x64x28x28xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x28x28xf32>
  %s = "tri.depth_to_space"(%y) {blocksize = 2 : i64, mode = "CRD"} : (tensor<1x64x28x28xf32>) -> tensor<1x16x56x56xf32>
  return %s : tensor<1x16x56x56xf32>
}
