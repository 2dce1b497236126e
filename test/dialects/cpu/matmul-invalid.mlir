// RUN: trivium-opt %s --split-input-file --verify-diagnostics

func.func @packed_weight_is_a_matrix(%a: tensor<3x6xf32>, %w: tensor<6x4xf32>) {
  // expected-error @below {{'cpu.packed_mat_mul' op weight has rank 2, must have 3: panels, depth, columns of one}}
  %0 = "cpu.packed_mat_mul"(%a, %w) {columns = 4} : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @packed_weight_has_a_panel_too_many(%a: tensor<3x6xf32>, %w: tensor<2x6x4xf32>) {
  // expected-error @below {{'cpu.packed_mat_mul' op weight tensor<2x6x4xf32> does not hold 4 columns}}
  %0 = "cpu.packed_mat_mul"(%a, %w) {columns = 4} : (tensor<3x6xf32>, tensor<2x6x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @depths_differ(%a: tensor<3x5xf32>, %w: tensor<1x6x4xf32>) {
  // expected-error @below {{'cpu.packed_mat_mul' op contracts 5 with 6}}
  %0 = "cpu.packed_mat_mul"(%a, %w) {columns = 4} : (tensor<3x5xf32>, tensor<1x6x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @packed_rows_are_negative(%a: tensor<3x6xf32>, %w: tensor<1x6x4xf32>) {
  // expected-error @below {{'cpu.packed_mat_mul' op rows is -1, must be at least 0}}
  %0 = "cpu.packed_mat_mul"(%a, %w) {columns = 4, rows = -1} : (tensor<3x6xf32>, tensor<1x6x4xf32>) -> tensor<3x4xf32>
  return
}
