// No other accelerator may hold the op.
func.func @main(%x: tensor<1x4x4x16xi8>) -> tensor<1x4x4x16xi8> {
  %y = "tri.group"(%x) ({
  ^bb0(%a: tensor<1x4x4x16xi8>):
    // expected-error @+1 {{'acme.leaky_relu' op is of 'acme' alone}}
    %b = "acme.leaky_relu"(%a) {multiplier = 4, negative_multiplier = 1, shift = 2}
        : (tensor<1x4x4x16xi8>) -> tensor<1x4x4x16xi8>
    "tri.yield"(%b) : (tensor<1x4x4x16xi8>) -> ()
  }) {target = "vanilla"} : (tensor<1x4x4x16xi8>) -> tensor<1x4x4x16xi8>
  return %y : tensor<1x4x4x16xi8>
}
