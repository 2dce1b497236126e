// RUN: trivium-opt %s --verify-diagnostics

// A sequence of batches of elements.
func.func @input_of_two_axes(%x: tensor<5x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error @below {{'tri.rnn' op input has rank 2, must have 3: sequence, batch, elements}}
  %y:2 = "tri.rnn"(%x, %w, %r) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// Forward, backward, or both.
func.func @direction_is_unknown(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error @below {{'tri.rnn' op direction is 'backward', must be one of forward, reverse, bidirectional}}
  %y:2 = "tri.rnn"(%x, %w, %r)
      {hidden_size = 4, direction = "backward", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// Sequence first, or batch first.
func.func @layout_is_unknown(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error @below {{'tri.rnn' op layout is 2, must be 0 or 1}}
  %y:2 = "tri.rnn"(%x, %w, %r)
      {hidden_size = 4, layout = 2, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// A limit has no sign.
func.func @clip_is_negative(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error @below {{'tri.rnn' op clip is -1.0, must be at least 0}}
  %y:2 = "tri.rnn"(%x, %w, %r)
      {hidden_size = 4, clip = -1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// One activation for each gate of each direction.
func.func @activations_are_too_many(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error @below {{'tri.rnn' op has 2 activations, must have 1}}
  %y:2 = "tri.rnn"(%x, %w, %r)
      {hidden_size = 4, activations = ["Tanh", "Tanh"], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// Of those that ONNX has.
func.func @activation_is_unknown(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error @below {{'tri.rnn' op activation is 'Gelu', must be one of }}
  %y:2 = "tri.rnn"(%x, %w, %r)
      {hidden_size = 4, activations = ["Gelu"], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// Directions, gates, elements.
func.func @weight_of_another_shape(%x: tensor<5x2x3xf32>, %w: tensor<1x4x4xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error @below {{'tri.rnn' op w is tensor<1x4x4xf32>, must have shape 1x4x3}}
  %y:2 = "tri.rnn"(%x, %w, %r) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// Directions, gates, state.
func.func @recurrence_of_another_shape(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<2x4x4xf32>) {
  // expected-error @below {{'tri.rnn' op r is tensor<2x4x4xf32>, must have shape 1x4x4}}
  %y:2 = "tri.rnn"(%x, %w, %r) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<2x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// Two biases for each gate.
func.func @bias_of_another_shape(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>, %b: tensor<1x4xf32>) {
  // expected-error @below {{'tri.rnn' op b is tensor<1x4xf32>, must have shape 1x8}}
  %y:2 = "tri.rnn"(%x, %w, %r, %b)
      {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, tensor<1x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// Lengths are integers.
func.func @lengths_are_floats(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>, %sequence_lens: tensor<2xf32>) {
  // expected-error @below {{'tri.rnn' op sequence_lens has element type f32, must be i32 or i64}}
  %y:2 = "tri.rnn"(%x, %w, %r, %sequence_lens)
      {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, tensor<2xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// Each sequence has a state.
func.func @state_of_another_batch(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>, %initial_h: tensor<1x3x4xf32>) {
  // expected-error @below {{'tri.rnn' op initial state is tensor<1x3x4xf32>, must have shape 1x2x4}}
  %y:2 = "tri.rnn"(%x, %w, %r, %initial_h)
      {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, tensor<1x3x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// An LSTM looks through three peepholes.
func.func @peepholes_are_too_few(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<1x16x4xf32>, %p: tensor<1x8xf32>) {
  // expected-error @below {{'tri.lstm' op p is tensor<1x8xf32>, must have shape 1x12}}
  %y:3 = "tri.lstm"(%x, %w, %r, %p)
      {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 0>}
      : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, tensor<1x8xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// The weights of the state take what the projection makes.
func.func @projection_of_another_size(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<1x16x4xf32>, %projection: tensor<1x2x4xf32>) {
  // expected-error @below {{'tri.lstm' op r is tensor<1x16x4xf32>, must have shape 1x16x2}}
  %y:3 = "tri.lstm"(%x, %w, %r, %projection)
      {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1>}
      : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, tensor<1x2x4xf32>) -> (tensor<5x1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x4xf32>)
  return
}
