// RUN: trivium-opt %s --pack-recurrent=machine=x86-64-v4 | FileCheck %s

// One product multiplies the inputs for both directions; the bias of the state is added to it.
// CHECK-LABEL: func.func @packs_lstm
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[H:.*]]: {{.*}})
// CHECK:         %[[R:.*]] = "tri.constant"() {value = {{.*}} : tensor<2x1x4x4x4xf32>}
// CHECK:         %[[W:.*]] = "tri.constant"() {value = dense<1.0{{.*}}> : tensor<3x32xf32>}
// CHECK:         %[[P:.*]] = "tri.mat_mul"(%[[X]], %[[W]])
// CHECK:         %[[B:.*]] = "tri.constant"() {value = dense<5.0{{.*}}> : tensor<32xf32>}
// CHECK:         %[[S:.*]] = "tri.add"(%[[P]], %[[B]])
// CHECK:         "cpu.packed_lstm"(%[[S]], %[[R]], %[[H]]) {{.*}}direction = "bidirectional", hidden_size = 4
func.func @packs_lstm(%x: tensor<5x2x3xf32>, %h: tensor<2x2x4xf32>) -> tensor<5x2x2x4xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<2x16x3xf32>} : () -> tensor<2x16x3xf32>
  %r = "tri.constant"() {value = dense<2.0> : tensor<2x16x4xf32>} : () -> tensor<2x16x4xf32>
  %b = "tri.constant"() {value = dense<2.5> : tensor<2x32xf32>} : () -> tensor<2x32xf32>
  %y, %y_h, %y_c = "tri.lstm"(%x, %w, %r, %b, %h) {hidden_size = 4, direction = "bidirectional", operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<2x16x3xf32>, tensor<2x16x4xf32>, tensor<2x32xf32>, tensor<2x2x4xf32>) -> (tensor<5x2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>)
  return %y : tensor<5x2x2x4xf32>
}

// Panels are as wide as the likely batch wants; the kernel serves any.
// CHECK-LABEL: func.func @packs_any_batch
// CHECK:         "cpu.packed_rnn"{{.*}} tensor<1x1x4x1x16xf32>
func.func @packs_any_batch(%x: tensor<5x?x3xf32, ["", "N", ""]>) -> tensor<1x?x4xf32, ["", "N", ""]>
    attributes {trivium.symbols = {N = "1..:1"}} {
  %w = "tri.constant"() {value = dense<1.0> : tensor<1x4x3xf32>} : () -> tensor<1x4x3xf32>
  %r = "tri.constant"() {value = dense<2.0> : tensor<1x4x4xf32>} : () -> tensor<1x4x4xf32>
  %y, %y_h = "tri.rnn"(%x, %w, %r) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x?x3xf32, ["", "N", ""]>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x?x4xf32, ["", "", "N", ""]>, tensor<1x?x4xf32, ["", "N", ""]>)
  return %y_h : tensor<1x?x4xf32, ["", "N", ""]>
}

// The projection is packed as the weights of the state are; lengths and peepholes stay as
// they are.
// CHECK-LABEL: func.func @packs_projection
// CHECK-SAME:    (%[[X:.*]]: {{.*}}, %[[N:.*]]: {{.*}}, %[[PEEP:.*]]: {{.*}})
// CHECK-DAG:     %[[R:.*]] = "tri.constant"() {value = {{.*}} : tensor<1x1x3x4x4xf32>}
// CHECK-DAG:     %[[P:.*]] = "tri.constant"() {value = {{.*}} : tensor<1x1x4x1x16xf32>}
// CHECK:         "cpu.packed_lstm"({{.*}}, %[[R]], %[[N]], %[[PEEP]], %[[P]]) {{.*}}clip = 5.000000e-01 {{.*}}input_forget = true
func.func @packs_projection(%x: tensor<5x2x3xf32>, %n: tensor<2xi64>, %p: tensor<1x12xf32>) -> tensor<5x1x2x3xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<1x16x3xf32>} : () -> tensor<1x16x3xf32>
  %shown = "tri.constant"() {value = dense<2.0> : tensor<1x3x4xf32>} : () -> tensor<1x3x4xf32>
  %y, %y_h, %y_c = "tri.lstm"(%x, %w, %w, %n, %p, %shown) {hidden_size = 4, clip = 0.5, input_forget = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 1, 1>}
      : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x3xf32>, tensor<2xi64>, tensor<1x12xf32>, tensor<1x3x4xf32>) -> (tensor<5x1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x4xf32>)
  return %y : tensor<5x1x2x3xf32>
}

// CHECK-LABEL: func.func @keeps_variable_projection
// CHECK:         "tri.lstm"
func.func @keeps_variable_projection(%x: tensor<5x2x3xf32>, %shown: tensor<1x3x4xf32>) -> tensor<5x1x2x3xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<1x16x3xf32>} : () -> tensor<1x16x3xf32>
  %y, %y_h, %y_c = "tri.lstm"(%x, %w, %w, %shown) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1>}
      : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x3xf32>, tensor<1x3x4xf32>) -> (tensor<5x1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x4xf32>)
  return %y : tensor<5x1x2x3xf32>
}

// The reset gate scales the bias of the hidden part: that is added in the cell.
// CHECK-LABEL: func.func @keeps_scaled_bias
// CHECK-DAG:     "tri.constant"() {value = dense<[5.0{{.*}}, 5.0{{.*}}, 5.0{{.*}}, 5.0{{.*}}, 2.5{{.*}}, 2.5{{.*}}]> : tensor<6xf32>}
// CHECK-DAG:     %[[B:.*]] = "tri.constant"() {value = dense<2.5{{.*}}> : tensor<1x2xf32>}
// CHECK:         "cpu.packed_gru"({{.*}}, %[[B]]) {{.*}}linear_before_reset = true
func.func @keeps_scaled_bias(%x: tensor<5x2x3xf32>) -> tensor<1x2x2xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<1x6x3xf32>} : () -> tensor<1x6x3xf32>
  %r = "tri.constant"() {value = dense<2.0> : tensor<1x6x2xf32>} : () -> tensor<1x6x2xf32>
  %b = "tri.constant"() {value = dense<2.5> : tensor<1x12xf32>} : () -> tensor<1x12xf32>
  %y, %y_h = "tri.gru"(%x, %w, %r, %b) {hidden_size = 2, linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x6x3xf32>, tensor<1x6x2xf32>, tensor<1x12xf32>) -> (tensor<5x1x2x2xf32>, tensor<1x2x2xf32>)
  return %y_h : tensor<1x2x2xf32>
}

// Panels of nine vectors hold three gates of 48 units: no lane is idle.
// CHECK-LABEL: func.func @fills_panels
// CHECK:         "cpu.packed_gru"{{.*}} tensor<1x2x96x3x48xf32>
func.func @fills_panels(%x: tensor<5x1x3xf32>) -> tensor<1x1x96xf32> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<1x288x3xf32>} : () -> tensor<1x288x3xf32>
  %r = "tri.constant"() {value = dense<2.0> : tensor<1x288x96xf32>} : () -> tensor<1x288x96xf32>
  %y, %y_h = "tri.gru"(%x, %w, %r) {hidden_size = 96, linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x1x3xf32>, tensor<1x288x3xf32>, tensor<1x288x96xf32>) -> (tensor<5x1x1x96xf32>, tensor<1x1x96xf32>)
  return %y_h : tensor<1x1x96xf32>
}

// Weights that are stored as bytes with a scale stay so, both in the order of the panels.
// CHECK-LABEL: func.func @keeps_bytes
// CHECK:         %[[R:.*]] = "tri.constant"() {{.*}} : tensor<1x1x4x4x4xi8>}
// CHECK:         %[[R_F32:.*]] = "tri.cast"(%[[R]])
// CHECK:         %[[SCALED:.*]] = "tri.mul"(%[[R_F32]]
// CHECK:         %[[W:.*]] = "tri.constant"() {{.*}} : tensor<4x16xi8>}
// CHECK:         %[[W_F32:.*]] = "tri.cast"(%[[W]])
// CHECK:         %[[TURNED:.*]] = "tri.mul"(%[[W_F32]]
// CHECK:         "tri.mat_mul"({{.*}}, %[[TURNED]])
// CHECK:         "cpu.packed_lstm"({{.*}}, %[[SCALED]])
func.func @keeps_bytes(%x: tensor<5x1x4xf32>) -> tensor<1x1x4xf32> {
  %w8 = "tri.constant"() {value = dense<"0x01080F161D242B323940474E555C636A71787F060D141B222930373E454C535A61686F767D040B121920272E353C434A51585F666D747B020910171E252C333A"> : tensor<1x16x4xi8>} : () -> tensor<1x16x4xi8>
  %s = "tri.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %wf = "tri.cast"(%w8) {to = "f32"} : (tensor<1x16x4xi8>) -> tensor<1x16x4xf32>
  %w = "tri.mul"(%wf, %s) : (tensor<1x16x4xf32>, tensor<f32>) -> tensor<1x16x4xf32>
  %y, %y_h, %y_c = "tri.lstm"(%x, %w, %w) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0>}
      : (tensor<5x1x4xf32>, tensor<1x16x4xf32>, tensor<1x16x4xf32>) -> (tensor<5x1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>)
  return %y_h : tensor<1x1x4xf32>
}

// CHECK-LABEL: func.func @keeps_variable_weights
// CHECK:         "tri.rnn"
func.func @keeps_variable_weights(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) -> tensor<1x2x4xf32> {
  %y, %y_h = "tri.rnn"(%x, %w, %r) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return %y_h : tensor<1x2x4xf32>
}

// No kernel has the batch first. Activations keep their parameters.
// CHECK-LABEL: func.func @keeps_refused_layouts
// CHECK:         "tri.rnn"
// CHECK:         "cpu.packed_rnn"{{.*}} {activations = ["Elu"], alphas = array<f64: 5.000000e-01>
func.func @keeps_refused_layouts(%x: tensor<5x2x3xf32>) -> (tensor<5x1x4xf32>, tensor<1x2x4xf32>) {
  %w = "tri.constant"() {value = dense<1.0> : tensor<1x4x3xf32>} : () -> tensor<1x4x3xf32>
  %r = "tri.constant"() {value = dense<2.0> : tensor<1x4x4xf32>} : () -> tensor<1x4x4xf32>
  %y, %y_h = "tri.rnn"(%x, %w, %r) {hidden_size = 4, layout = 1, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x2x1x4xf32>, tensor<5x1x4xf32>)
  %z, %z_h = "tri.rnn"(%x, %w, %r) {hidden_size = 4, activations = ["Elu"], alphas = array<f64: 0.5>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return %y_h, %z_h : tensor<5x1x4xf32>, tensor<1x2x4xf32>
}

// A product of f16 would round what the cell adds up.
// CHECK-LABEL: func.func @keeps_halves
// CHECK:         "tri.rnn"
func.func @keeps_halves(%x: tensor<5x2x3xf16>) -> tensor<1x2x4xf16> {
  %w = "tri.constant"() {value = dense<1.0> : tensor<1x4x3xf16>} : () -> tensor<1x4x3xf16>
  %r = "tri.constant"() {value = dense<2.0> : tensor<1x4x4xf16>} : () -> tensor<1x4x4xf16>
  %y, %y_h = "tri.rnn"(%x, %w, %r) {hidden_size = 4, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (tensor<5x2x3xf16>, tensor<1x4x3xf16>, tensor<1x4x4xf16>) -> (tensor<5x1x2x4xf16>, tensor<1x2x4xf16>)
  return %y_h : tensor<1x2x4xf16>
}
