// RUN: trivium-opt %s --pack-weights --split-input-file --verify-diagnostics

func.func @schedule_is_no_text(%x: tensor<64x2xf32>) -> tensor<64x3xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  // expected-error @below {{'tri.mat_mul' op attribute 'trivium.schedule': schedule is 'packed 7', must be like 'packed 14x2' or 'winograd 2x2'}}
  %y = "tri.mat_mul"(%x, %w) {trivium.schedule = "packed 7"} : (tensor<64x2xf32>, tensor<2x3xf32>) -> tensor<64x3xf32>
  return %y : tensor<64x3xf32>
}
