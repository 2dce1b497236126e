// RUN: trivium-opt %s --verify-diagnostics

// Ranges decide what no size of them can do.
func.func @broadcast(%a: tensor<?xf32, ["H"]>, %b: tensor<5xf32>)
    attributes {trivium.symbols = {N = "1..", T = "1..512", H = "8..640", K = "2..9"}} {
  // expected-error @below {{'tri.add' op has sizes H and 5 along axis -1}}
  %y = "tri.add"(%a, %b) : (tensor<?xf32, ["H"]>, tensor<5xf32>) -> tensor<5xf32>
  return
}

func.func @mat_mul(%a: tensor<?x?xf32, ["N", "H"]>, %b: tensor<4x8xf32>) {
  // expected-error @below {{'tri.mat_mul' op contracts H with 4}}
  %y = "tri.mat_mul"(%a, %b) : (tensor<?x?xf32, ["N", "H"]>, tensor<4x8xf32>)
      -> tensor<?x8xf32, ["N", ""]>
  return
}

func.func @conv_channels(%x: tensor<1x?x16xf32, ["", "2*N", ""]>, %w: tensor<6x3x3xf32>) {
  // expected-error @below {{input has 2*N channels, weight with 1 groups takes 3}}
  %y = "tri.conv"(%x, %w) {strides = array<i64: 1>, pads = array<i64: 0, 0>,
      dilations = array<i64: 1>}
      : (tensor<1x?x16xf32, ["", "2*N", ""]>, tensor<6x3x3xf32>) -> tensor<1x6x14xf32>
  return
}

func.func @pool(%x: tensor<1x3x?xf32, ["", "", "K"]>) {
  // expected-error @below {{kernel spans 11 elements of spatial axis 0, padded input has K}}
  %y = "tri.max_pool"(%x) {kernel = array<i64: 11>, strides = array<i64: 1>,
      pads = array<i64: 0, 0>, dilations = array<i64: 1>}
      : (tensor<1x3x?xf32, ["", "", "K"]>) -> tensor<1x3x?xf32, ["", "", "K - 10"]>
  return
}

func.func @concat(%a: tensor<?x?xf32, ["N", "T"]>, %b: tensor<?x?xf32, ["N", "T + 1"]>) {
  // expected-error @below {{must differ in axis 0 only}}
  %y = "tri.concat"(%a, %b) {axis = 0 : i64}
      : (tensor<?x?xf32, ["N", "T"]>, tensor<?x?xf32, ["N", "T + 1"]>)
      -> tensor<?x?xf32, ["2*N", "T"]>
  return
}

func.func @slice(%x: tensor<?xf32, ["T"]>) {
  // expected-error @below {{takes elements 1 to T of the T of axis 0}}
  %y = "tri.slice"(%x) {starts = array<i64: 1>, sizes = ["T"], steps = array<i64: 1>}
      : (tensor<?xf32, ["T"]>) -> tensor<?xf32, ["T"]>
  return
}

func.func @reshape(%x: tensor<?x4xf32, ["N", ""]>) {
  // expected-error @below {{shape [2*N, 3] has 6*N elements, x has 4*N}}
  %y = "tri.reshape"(%x) {shape = ["2*N", "3"]}
      : (tensor<?x4xf32, ["N", ""]>) -> tensor<?x3xf32, ["2*N", ""]>
  return
}

func.func @resize(%x: tensor<?xf32, ["H"]>) {
  // expected-error @below {{sizes is (-H + 4,), must be at least 0 at axis 0}}
  %y = "tri.resize"(%x) {sizes = ["4 - H"], scales = array<f64: 2.0>}
      : (tensor<?xf32, ["H"]>) -> tensor<?xf32, ["-H + 4"]>
  return
}

func.func @gather_elements(%x: tensor<?x5xf32, ["K", ""]>, %i: tensor<?x5xi64, ["K + 1", ""]>) {
  // expected-error @below {{indices have size K + 1 on axis 0, must be at most K}}
  %y = "tri.gather_elements"(%x, %i) {axis = 1 : i64}
      : (tensor<?x5xf32, ["K", ""]>, tensor<?x5xi64, ["K + 1", ""]>)
      -> tensor<?x5xf32, ["K + 1", ""]>
  return
}

// A reduced axis has size 1, not that of its symbol.
func.func @reduce(%x: tensor<?x?xf32, ["N", "T"]>) {
  // expected-error @below {{op result is tensor<?x?xf32, ["N", "T"]>, inferred tensor<?x1xf32, ["N", ""]>}}
  %y = "tri.reduce_mean"(%x) {axes = array<i64: 1>}
      : (tensor<?x?xf32, ["N", "T"]>) -> tensor<?x?xf32, ["N", "T"]>
  return
}

func.func @top_k(%x: tensor<?xf32, ["K"]>) {
  // expected-error @below {{takes K + 1 of the K elements of axis 0}}
  %y:2 = "tri.top_k"(%x) {k = "K + 1"} : (tensor<?xf32, ["K"]>)
      -> (tensor<?xf32, ["K + 1"]>, tensor<?xi64, ["K + 1"]>)
  return
}

// Some sizes must be known: ranks and numbers of results follow from them.
func.func @unbind(%x: tensor<?x2xf32, ["K", ""]>) {
  // expected-error @below {{size of axis 0, which is taken apart, is K, must be known at compile time: bind K}}
  %y = "tri.unbind"(%x) {axis = 0 : i64} : (tensor<?x2xf32, ["K", ""]>) -> tensor<2xf32>
  return
}

func.func @gather_nd(%x: tensor<2x2xf32>, %i: tensor<3x?xi64, ["", "K"]>) {
  // expected-error @below {{length of index tuples is K, must be known at compile time: bind K}}
  %y = "tri.gather_nd"(%x, %i) : (tensor<2x2xf32>, tensor<3x?xi64, ["", "K"]>) -> tensor<3xf32>
  return
}
