// RUN: trivium-opt %s --split-input-file --verify-diagnostics --partition="targets=gpu,host placement=single"

// The second target would run it, but the policy asks for the first.
func.func @first_target_refuses(%x: tensor<5x65x65xf32>) -> tensor<5xf32> {
  // expected-error @below {{'tri.det' op is placed on gpu, which does not run it: gpu takes matrices of at most 64 rows}}
  %0 = "tri.det"(%x) : (tensor<5x65x65xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
