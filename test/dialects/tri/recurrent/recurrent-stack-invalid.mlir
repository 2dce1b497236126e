// RUN: trivium-opt %s --verify-diagnostics

// Cells are those of torch.
func.func @cell_is_unknown(%x: tensor<5x2x3xf32>, %w: tensor<1x12x3xf32>, %r: tensor<1x12x4xf32>) {
  // expected-error @below {{'tri.recurrent_stack' op cell is 'sru', must be one of lstm, gru, tanh, relu}}
  %0:2 = "tri.recurrent_stack"(%x, %w, %r)
      {cell = "sru", hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> (tensor<5x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// A stack has layers.
func.func @no_layers(%x: tensor<5x2x3xf32>) {
  // expected-error @below {{'tri.recurrent_stack' op has no layers, must have at least 1}}
  %0:2 = "tri.recurrent_stack"(%x)
      {cell = "gru", hidden_size = 4, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0>}
      : (tensor<5x2x3xf32>) -> (tensor<5x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// Each layer has both weights.
func.func @weights_of_one_layer(%x: tensor<5x2x3xf32>, %w0: tensor<1x12x3xf32>, %w1: tensor<1x12x4xf32>, %r: tensor<1x12x4xf32>) {
  // expected-error @below {{'tri.recurrent_stack' op has 1 of r for 2 layers, must be 2}}
  %0:2 = "tri.recurrent_stack"(%x, %w0, %w1, %r)
      {cell = "gru", hidden_size = 4, operandSegmentSizes = array<i32: 1, 2, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<1x12x4xf32>) -> (tensor<5x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// All layers have biases, or none.
func.func @biases_of_one_layer(%x: tensor<5x2x3xf32>, %w0: tensor<1x12x3xf32>, %w1: tensor<1x12x4xf32>, %r0: tensor<1x12x4xf32>, %r1: tensor<1x12x4xf32>, %b: tensor<1x24xf32>) {
  // expected-error @below {{'tri.recurrent_stack' op has 1 of b for 2 layers, must be 0 or 2}}
  %0:2 = "tri.recurrent_stack"(%x, %w0, %w1, %r0, %r1, %b)
      {cell = "gru", hidden_size = 4, operandSegmentSizes = array<i32: 1, 2, 2, 1, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<1x12x4xf32>, tensor<1x12x4xf32>, tensor<1x24xf32>) -> (tensor<5x2x4xf32>, tensor<2x2x4xf32>)
  return
}

// An LSTM may have projections.
func.func @projection_of_gru(%x: tensor<5x2x3xf32>, %w: tensor<1x12x3xf32>, %r: tensor<1x12x4xf32>, %p: tensor<1x2x4xf32>) {
  // expected-error @below {{'tri.recurrent_stack' op has 1 of projection for 1 layers, must be 0}}
  %0:2 = "tri.recurrent_stack"(%x, %w, %r, %p)
      {cell = "gru", hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}
      : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<1x2x4xf32>) -> (tensor<5x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// An LSTM has two states.
func.func @two_states_of_gru(%x: tensor<5x2x3xf32>, %w: tensor<1x12x3xf32>, %r: tensor<1x12x4xf32>, %h: tensor<1x2x4xf32>, %c: tensor<1x2x4xf32>) {
  // expected-error @below {{'tri.recurrent_stack' op has 2 of states for 1 layers, must be 0 or 1}}
  %0:2 = "tri.recurrent_stack"(%x, %w, %r, %h, %c)
      {cell = "gru", hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 2>}
      : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> (tensor<5x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// States have a row for each layer and direction.
func.func @states_of_one_direction(%x: tensor<5x2x3xf32>, %w: tensor<2x12x3xf32>, %r: tensor<2x12x4xf32>, %h: tensor<1x2x4xf32>) {
  // expected-error @below {{'tri.recurrent_stack' op state is tensor<1x2x4xf32>, must have 2 rows of 3 axes}}
  %0:2 = "tri.recurrent_stack"(%x, %w, %r, %h)
      {cell = "gru", hidden_size = 4, bidirectional = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1>}
      : (tensor<5x2x3xf32>, tensor<2x12x3xf32>, tensor<2x12x4xf32>, tensor<1x2x4xf32>) -> (tensor<5x2x8xf32>, tensor<2x2x4xf32>)
  return
}

// A sequence of batches of elements.
func.func @input_of_two_axes(%x: tensor<5x3xf32>, %w: tensor<1x12x3xf32>, %r: tensor<1x12x4xf32>) {
  // expected-error @below {{'tri.recurrent_stack' op input has rank 2, must have 3: sequence, batch, elements}}
  %0:2 = "tri.recurrent_stack"(%x, %w, %r)
      {cell = "gru", hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>) -> (tensor<5x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// A layer takes what the one below makes.
func.func @second_layer_of_another_size(%x: tensor<5x2x3xf32>, %w0: tensor<1x12x3xf32>, %w1: tensor<1x12x3xf32>, %r0: tensor<1x12x4xf32>, %r1: tensor<1x12x4xf32>) {
  // expected-error @below {{'tri.recurrent_stack' op w is tensor<1x12x3xf32>, must have shape 1x12x4}}
  %0:2 = "tri.recurrent_stack"(%x, %w0, %w1, %r0, %r1)
      {cell = "gru", hidden_size = 4, operandSegmentSizes = array<i32: 1, 2, 2, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<1x12x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x2x4xf32>)
  return
}
