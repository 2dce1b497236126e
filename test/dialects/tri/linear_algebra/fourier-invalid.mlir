// RUN: trivium-opt %s --verify-diagnostics

// The last axis has real and imaginary parts.
func.func @transforms_the_parts(%x: tensor<1x8x2xf32>) {
  // expected-error @below {{'tri.dft' op axis 2 is the last, must be one before the parts of the numbers}}
  %y = "tri.dft"(%x) {axis = -1, length = 2} : (tensor<1x8x2xf32>) -> tensor<1x8x2xf32>
  return
}

// A signal has a sample.
func.func @no_samples(%x: tensor<1x8x2xf32>) {
  // expected-error @below {{'tri.dft' op length is 0, must be at least 1}}
  %y = "tri.dft"(%x) {axis = 1, length = 0} : (tensor<1x8x2xf32>) -> tensor<1x0x2xf32>
  return
}

// A number is real or complex.
func.func @numbers_of_three_parts(%x: tensor<1x8x3xf32>) {
  // expected-error @below {{'tri.dft' op last axis has 3 parts, must have 1 or 2}}
  %y = "tri.dft"(%x) {axis = 1, length = 8} : (tensor<1x8x3xf32>) -> tensor<1x8x2xf32>
  return
}

// Only the spectrum of real numbers is symmetric.
func.func @half_a_spectrum_of_complex_numbers(%x: tensor<1x8x2xf32>) {
  // expected-error @below {{'tri.dft' op last axis has 2 parts, must have 1}}
  %y = "tri.dft"(%x) {axis = 1, length = 8, onesided = true}
      : (tensor<1x8x2xf32>) -> tensor<1x5x2xf32>
  return
}
