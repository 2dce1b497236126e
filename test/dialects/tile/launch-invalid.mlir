// RUN: trivium-opt %s --verify-diagnostics

// A kernel is called by its name.
func.func @kernel_is_unknown(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.launch' op there is no kernel 'clone'}}
  %y = "tile.launch"(%x) {kernel = "clone"} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// What else has a name is not called like that.
func.func @kernel_is_a_function() {
  // expected-error @below {{'tile.launch' op there is no kernel 'kernel_is_unknown'}}
  "tile.launch"() {kernel = "kernel_is_unknown"} : () -> ()
  return
}

// It gets all its arguments.
func.func @lacks_the_result(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.launch' op has 1 operands and results, 'copy' has 2 arguments}}
  "tile.launch"(%x) {kernel = "copy"} : (tensor<8xf32>) -> ()
  return
}

// Of their element types.
func.func @type_differs(%x: tensor<8xf16>) {
  // expected-error @below {{'tile.launch' op argument 0 is of f16, must be of f32}}
  %y = "tile.launch"(%x) {kernel = "copy"} : (tensor<8xf16>) -> tensor<8xf32>
  return
}

// As many elements as it looks at.
func.func @result_is_small(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.launch' op argument 1 has 7 elements, is seen as 8}}
  %y = "tile.launch"(%x) {kernel = "copy"} : (tensor<8xf32>) -> tensor<7xf32>
  return
}

// In an order of their dimensions.
func.func @order_names_a_dimension_twice(%x: tensor<2x4xf32, [1, 1]>) {
  // expected-error @below {{'tile.launch' op tensor<2x4xf32, [1, 1]> is in no order: it must name each of 2 axes once}}
  %y = "tile.launch"(%x) {kernel = "copy"} : (tensor<2x4xf32, [1, 1]>) -> tensor<8xf32>
  return
}

// That is said where it is another than usual.
func.func @order_is_the_usual_one(%x: tensor<2x4xf32, [0, 1]>) {
  // expected-error @below {{'tile.launch' op tensor<2x4xf32, [0, 1]> is in row-major order, which must be left out}}
  %y = "tile.launch"(%x) {kernel = "copy"} : (tensor<2x4xf32, [0, 1]>) -> tensor<8xf32>
  return
}

// A value stays as it is.
func.func @changes_its_operand(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.launch' op 'copy' stores to input 1}}
  "tile.launch"(%x, %y) {kernel = "copy"} : (tensor<8xf32>, tensor<8xf32>) -> ()
  return
}

// A result comes from somewhere.
func.func @makes_nothing() {
  // expected-error @below {{'tile.launch' op 'copy' stores nothing to output 0}}
  %x, %y = "tile.launch"() {kernel = "copy"} : () -> (tensor<8xf32>, tensor<8xf32>)
  return
}

"tile.kernel"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %i = "tile.program_id"() {axis = 0} : () -> tensor<i32>
  %a = "tile.load"(%x, %i) : (memref<8xf32>, tensor<i32>) -> tensor<f32>
  "tile.store"(%a, %y, %i) : (tensor<f32>, memref<8xf32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "copy", grid = ["8"]} : () -> ()
