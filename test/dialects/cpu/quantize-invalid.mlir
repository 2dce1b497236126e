// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @doubles_are_rounded_twice(%x: tensor<3xf64>) {
  // expected-error @below {{'cpu.quantize' op quantises tensor<3xf64>, must be f32}}
  %0 = "cpu.quantize"(%x) {high = 127, low = -128, to = "i8", zero = 0} : (tensor<3xf64>) -> tensor<3xi8>
  return
}

// -----

func.func @limits_are_bytes(%x: tensor<3xf32>) {
  // expected-error @below {{'cpu.quantize' op limits are -1 and 255, must be bytes of ui8}}
  %0 = "cpu.quantize"(%x) {high = 255, low = -1, to = "ui8", zero = 0} : (tensor<3xf32>) -> tensor<3xui8>
  return
}

// -----

func.func @zero_is_small(%x: tensor<3xf32>) {
  // expected-error @below {{'cpu.quantize' op zero is 70000, must be from -65536 to 65536}}
  %0 = "cpu.quantize"(%x) {high = 255, low = 0, to = "ui8", zero = 70000} : (tensor<3xf32>) -> tensor<3xui8>
  return
}
