// The own op of acme, on tensors: trivium-opt parses it, checks it, and prints it again.
func.func @main(%x: tensor<1x4x4x16xi8>) -> tensor<1x4x4x16xi8> {
  %y = "acme.leaky_relu"(%x) {multiplier = 4, negative_multiplier = 1, shift = 2 : i64}
      : (tensor<1x4x4x16xi8>) -> tensor<1x4x4x16xi8>
  return %y : tensor<1x4x4x16xi8>
}
