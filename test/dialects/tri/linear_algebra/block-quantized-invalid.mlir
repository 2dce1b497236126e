// RUN: trivium-opt %s --verify-diagnostics

// Numbers do not cross bytes.
func.func @three_bits(%a: tensor<2x32xf32>, %w: tensor<5x1x12xui8>, %s: tensor<5x1xf32>) {
  // expected-error @below {{'tri.block_quantized_mat_mul' op has elements of 3 bits, must be of 2, 4, 8}}
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 3, block = 32}
      : (tensor<2x32xf32>, tensor<5x1x12xui8>, tensor<5x1xf32>) -> tensor<2x5xf32>
  return
}

// Blocks fill whole words.
func.func @block_is_odd(%a: tensor<2x24xf32>, %w: tensor<5x1x12xui8>, %s: tensor<5x1xf32>) {
  // expected-error @below {{'tri.block_quantized_mat_mul' op has blocks of 24, must be a power of two from 16 on}}
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 24}
      : (tensor<2x24xf32>, tensor<5x1x12xui8>, tensor<5x1xf32>) -> tensor<2x5xf32>
  return
}

// Integers have products of their own.
func.func @multiplies_integers(%a: tensor<2x32xi32>, %w: tensor<5x1x16xui8>, %s: tensor<5x1xi32>) {
  // expected-error @below {{'tri.block_quantized_mat_mul' op element type of a is 'i32', must be one of f32, f16, bf16}}
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 32}
      : (tensor<2x32xi32>, tensor<5x1x16xui8>, tensor<5x1xi32>) -> tensor<2x5xi32>
  return
}

// A matrix is of packed bytes.
func.func @flat_matrix(%a: tensor<2x32xf32>, %w: tensor<5x16xui8>, %s: tensor<5x1xf32>) {
  // expected-error @below {{'tri.block_quantized_mat_mul' op multiplies tensor<2x32xf32> by tensor<5x16xui8>, must be by bytes [rows, blocks, bytes of one]}}
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 32}
      : (tensor<2x32xf32>, tensor<5x16xui8>, tensor<5x1xf32>) -> tensor<2x5xf32>
  return
}

// A block has its number of bytes.
func.func @too_few_bytes(%a: tensor<2x32xf32>, %w: tensor<5x1x8xui8>, %s: tensor<5x1xf32>) {
  // expected-error @below {{'tri.block_quantized_mat_mul' op has 8 bytes for 32 elements}}
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 32}
      : (tensor<2x32xf32>, tensor<5x1x8xui8>, tensor<5x1xf32>) -> tensor<2x5xf32>
  return
}

// A row has as many elements as one of the other factor.
func.func @too_few_blocks(%a: tensor<2x33xf32>, %w: tensor<5x1x16xui8>, %s: tensor<5x1xf32>) {
  // expected-error @below {{'tri.block_quantized_mat_mul' op has 1 blocks of 32, tensor<2x33xf32> needs 2}}
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 32}
      : (tensor<2x33xf32>, tensor<5x1x16xui8>, tensor<5x1xf32>) -> tensor<2x5xf32>
  return
}

// Each block has a scale, and a zero point.
func.func @too_few_scales(%a: tensor<2x32xf32>, %w: tensor<5x1x16xui8>, %s: tensor<4x1xf32>) {
  // expected-error @below {{'tri.block_quantized_mat_mul' op has scales tensor<4x1xf32>, must be [5, 1]}}
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 32}
      : (tensor<2x32xf32>, tensor<5x1x16xui8>, tensor<4x1xf32>) -> tensor<2x5xf32>
  return
}

func.func @packed_zero_points(%a: tensor<2x64xf32>, %w: tensor<5x2x16xui8>, %s: tensor<5x2xf32>, %z: tensor<5x1xui8>) {
  // expected-error @below {{'tri.block_quantized_mat_mul' op has zero points tensor<5x1xui8>, must be [5, 2]}}
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s, %z) {bits = 4, block = 32}
      : (tensor<2x64xf32>, tensor<5x2x16xui8>, tensor<5x2xf32>, tensor<5x1xui8>) -> tensor<2x5xf32>
  return
}

// Scales are of the type that is multiplied.
func.func @wide_scales(%a: tensor<2x32xf16>, %w: tensor<5x1x16xui8>, %s: tensor<5x1xf32>) {
  // expected-error @below {{'tri.block_quantized_mat_mul' op has scales of f32, must be f16}}
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 32}
      : (tensor<2x32xf16>, tensor<5x1x16xui8>, tensor<5x1xf32>) -> tensor<2x5xf16>
  return
}

func.func @signed_zero_points(%a: tensor<2x32xf32>, %w: tensor<5x1x16xui8>, %s: tensor<5x1xf32>, %z: tensor<5x1xi8>) {
  // expected-error @below {{'tri.block_quantized_mat_mul' op has zero points of i8, must be f32 or ui8}}
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s, %z) {bits = 4, block = 32}
      : (tensor<2x32xf32>, tensor<5x1x16xui8>, tensor<5x1xf32>, tensor<5x1xi8>) -> tensor<2x5xf32>
  return
}

// Activations are rounded to bytes.
func.func @rounded_to_halves(%a: tensor<2x32xf32>, %w: tensor<5x1x16xui8>, %s: tensor<5x1xf32>) {
  // expected-error @below {{'tri.block_quantized_mat_mul' op activations is 'f16', must be one of i8}}
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 32, activations = "f16"}
      : (tensor<2x32xf32>, tensor<5x1x16xui8>, tensor<5x1xf32>) -> tensor<2x5xf32>
  return
}

// Sums of a block fit in 32 bits.
func.func @rounded_long(%a: tensor<2x32xf32>, %w: tensor<5x1x32768xui8>, %s: tensor<5x1xf32>) {
  // expected-error @below {{'tri.block_quantized_mat_mul' op rounds blocks of 65536, must be of at most 32768}}
  %y = "tri.block_quantized_mat_mul"(%a, %w, %s) {bits = 4, block = 65536, activations = "i8"}
      : (tensor<2x32xf32>, tensor<5x1x32768xui8>, tensor<5x1xf32>) -> tensor<2x5xf32>
  return
}
