// RUN: trivium-opt %s --split-input-file --verify-diagnostics --partition="targets=gpu placement=single"

func.func @single_target_refuses(%x: tensor<5x65x65xf32>) -> tensor<5xf32> {
  // expected-error @below {{'tri.det' op runs on no target: gpu takes matrices of at most 64 rows}}
  %0 = "tri.det"(%x) : (tensor<5x65x65xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
