// RUN: trivium-opt %s --verify-diagnostics

func.func @more_rows_than_there_are(%q: tensor<1x2x1x8xf32>, %k: tensor<1x2x4x8xf32>, %starts: tensor<1xi64>) {
  // expected-error @below {{'tri.cached_attention' op has 5 rows in use, must be at most 4}}
  %y = "tri.cached_attention"(%q, %k, %k, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rows = 5, scale = 1.0}
      : (tensor<1x2x1x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1xi64>) -> tensor<1x2x1x8xf32>
  return
}

func.func @heads_do_not_share(%q: tensor<1x3x1x8xf32>, %k: tensor<1x2x4x8xf32>, %starts: tensor<1xi64>) {
  // expected-error @below {{'tri.cached_attention' op 3 query heads do not share 2 key heads evenly}}
  %y = "tri.cached_attention"(%q, %k, %k, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rows = 4, scale = 1.0}
      : (tensor<1x3x1x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1xi64>) -> tensor<1x3x1x8xf32>
  return
}

func.func @keys_are_narrow(%q: tensor<1x2x1x8xf32>, %k: tensor<1x2x4x4xf32>, %v: tensor<1x2x4x8xf32>, %starts: tensor<1xi64>) {
  // expected-error @below {{'tri.cached_attention' op queries are tensor<1x2x1x8xf32>, keys tensor<1x2x4x4xf32>, must agree in the first and the last axis}}
  %y = "tri.cached_attention"(%q, %k, %v, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rows = 4, scale = 1.0}
      : (tensor<1x2x1x8xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>, tensor<1xi64>) -> tensor<1x2x1x8xf32>
  return
}

func.func @keys_without_values(%q: tensor<1x2x1x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x5x8xf32>, %starts: tensor<1xi64>) {
  // expected-error @below {{'tri.cached_attention' op keys are tensor<1x2x4x8xf32>, values tensor<1x2x5x8xf32>, must agree but for the last axis}}
  %y = "tri.cached_attention"(%q, %k, %v, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rows = 4, scale = 1.0}
      : (tensor<1x2x1x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x5x8xf32>, tensor<1xi64>) -> tensor<1x2x1x8xf32>
  return
}

func.func @one_start(%q: tensor<2x2x1x8xf32>, %k: tensor<2x2x4x8xf32>, %starts: tensor<1xi64>) {
  // expected-error @below {{'tri.cached_attention' op starts are tensor<1xi64>, must be one integer for each of 2 entries}}
  %y = "tri.cached_attention"(%q, %k, %k, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rows = 4, scale = 1.0}
      : (tensor<2x2x1x8xf32>, tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>, tensor<1xi64>) -> tensor<2x2x1x8xf32>
  return
}

func.func @window_is_negative(%q: tensor<1x2x1x8xf32>, %k: tensor<1x2x4x8xf32>, %starts: tensor<1xi64>) {
  // expected-error @below {{'tri.cached_attention' op window is -1, must be 0 for none or above}}
  %y = "tri.cached_attention"(%q, %k, %k, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rows = 4, scale = 1.0, window = -1}
      : (tensor<1x2x1x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1xi64>) -> tensor<1x2x1x8xf32>
  return
}

func.func @no_heads(%q: tensor<1x1x8xf32>, %k: tensor<1x2x4x8xf32>, %starts: tensor<1xi64>) {
  // expected-error @below {{'tri.cached_attention' op operands have ranks [3, 4, 4], must have 4}}
  %y = "tri.cached_attention"(%q, %k, %k, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rows = 4, scale = 1.0}
      : (tensor<1x1x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1xi64>) -> tensor<1x1x8xf32>
  return
}

func.func @bytes_without_scales(%q: tensor<1x2x1x8xf32>, %k: tensor<1x2x4x8xi8>, %starts: tensor<1xi64>) {
  // expected-error @below {{'tri.cached_attention' op keys are tensor<1x2x4x8xi8>, must have scales tensor<1x2x4xf32>}}
  %y = "tri.cached_attention"(%q, %k, %k, %starts) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, rows = 4, scale = 1.0}
      : (tensor<1x2x1x8xf32>, tensor<1x2x4x8xi8>, tensor<1x2x4x8xi8>, tensor<1xi64>) -> tensor<1x2x1x8xf32>
  return
}

func.func @floats_with_scales(%q: tensor<1x2x1x8xf32>, %k: tensor<1x2x4x8xf16>, %starts: tensor<1xi64>, %scales: tensor<1x2x4xf32>) {
  // expected-error @below {{'tri.cached_attention' op keys are tensor<1x2x4x8xf16> with scales tensor<1x2x4xf32>, must be i8 to have scales}}
  %y = "tri.cached_attention"(%q, %k, %k, %starts, %scales, %scales) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>, rows = 4, scale = 1.0}
      : (tensor<1x2x1x8xf32>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1xi64>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x1x8xf32>
  return
}

func.func @scales_of_fewer_rows(%q: tensor<1x2x1x8xf32>, %k: tensor<1x2x4x8xi8>, %starts: tensor<1xi64>, %keys: tensor<1x2x4xf32>, %values: tensor<1x2x3xf32>) {
  // expected-error @below {{'tri.cached_attention' op values are tensor<1x2x4x8xi8>, their scales tensor<1x2x3xf32>, must be tensor<1x2x4xf32>}}
  %y = "tri.cached_attention"(%q, %k, %k, %starts, %keys, %values) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1>, rows = 4, scale = 1.0}
      : (tensor<1x2x1x8xf32>, tensor<1x2x4x8xi8>, tensor<1x2x4x8xi8>, tensor<1xi64>, tensor<1x2x4xf32>, tensor<1x2x3xf32>) -> tensor<1x2x1x8xf32>
  return
}
