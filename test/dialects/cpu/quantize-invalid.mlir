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

// -----

func.func @tables_have_all_bytes(%x: tensor<3xui8>) {
  // expected-error @below {{'cpu.look_up' op table has 2 numbers, must have 256}}
  %0 = "cpu.look_up"(%x) {table = array<i64: 1, 2>, to = "ui8"} : (tensor<3xui8>) -> tensor<3xui8>
  return
}

// -----

func.func @tables_have_bytes(%x: tensor<3xui8>) {
  // expected-error @below {{'cpu.look_up' op table has other numbers than bytes of i8}}
  %0 = "cpu.look_up"(%x) {table = array<i64: 11, 48, 85, 122, 159, 196, 233, 14, 51, 88, 125, 162, 199, 236, 17, 54, 91, 128, 165, 202, 239, 20, 57, 94, 131, 168, 205, 242, 23, 60, 97, 134, 171, 208, 245, 26, 63, 100, 137, 174, 211, 248, 29, 66, 103, 140, 177, 214, 251, 32, 69, 106, 143, 180, 217, 254, 35, 72, 109, 146, 183, 220, 1, 38, 75, 112, 149, 186, 223, 4, 41, 78, 115, 152, 189, 226, 7, 44, 81, 118, 155, 192, 229, 10, 47, 84, 121, 158, 195, 232, 13, 50, 87, 124, 161, 198, 235, 16, 53, 90, 127, 164, 201, 238, 19, 56, 93, 130, 167, 204, 241, 22, 59, 96, 133, 170, 207, 244, 25, 62, 99, 136, 173, 210, 247, 28, 65, 102, 139, 176, 213, 250, 31, 68, 105, 142, 179, 216, 253, 34, 71, 108, 145, 182, 219, 0, 37, 74, 111, 148, 185, 222, 3, 40, 77, 114, 151, 188, 225, 6, 43, 80, 117, 154, 191, 228, 9, 46, 83, 120, 157, 194, 231, 12, 49, 86, 123, 160, 197, 234, 15, 52, 89, 126, 163, 200, 237, 18, 55, 92, 129, 166, 203, 240, 21, 58, 95, 132, 169, 206, 243, 24, 61, 98, 135, 172, 209, 246, 27, 64, 101, 138, 175, 212, 249, 30, 67, 104, 141, 178, 215, 252, 33, 70, 107, 144, 181, 218, 255, 36, 73, 110, 147, 184, 221, 2, 39, 76, 113, 150, 187, 224, 5, 42, 79, 116, 153, 190, 227, 8, 45, 82, 119, 156, 193, 230>, to = "i8"} : (tensor<3xui8>) -> tensor<3xi8>
  return
}

// -----

func.func @floats_are_not_looked_up(%x: tensor<3xf32>) {
  // expected-error @below {{'cpu.look_up' op looks up tensor<3xf32>, must be bytes}}
  %0 = "cpu.look_up"(%x) {table = array<i64: 1>, to = "ui8"} : (tensor<3xf32>) -> tensor<3xui8>
  return
}
