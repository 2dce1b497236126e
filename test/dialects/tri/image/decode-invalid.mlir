// RUN: trivium-opt %s --verify-diagnostics

// A file is a list of bytes.
func.func @numbers(%x: tensor<10xi64>) {
  // expected-error @below {{'tri.decode_image' op input is tensor<10xi64>, must be a list of bytes: of rank 1, of type ui8}}
  %y = "tri.decode_image"(%x) {height = 3, width = 4} : (tensor<10xi64>) -> tensor<3x4x3xui8>
  return
}

func.func @pixels(%x: tensor<10xui8>) {
  // expected-error @below {{'tri.decode_image' op pixels is 'CMYK', must be one of RGB, BGR, Grayscale}}
  %y = "tri.decode_image"(%x) {height = 3, pixels = "CMYK", width = 4}
      : (tensor<10xui8>) -> tensor<3x4x4xui8>
  return
}
