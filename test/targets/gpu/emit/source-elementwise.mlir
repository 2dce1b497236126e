// RUN: trivium-opt %s --emit=triton | FileCheck %s

// Each op is a line with the name of its location; numbers and block sizes need none. A comment
// says which nodes of the model the kernel computes, and how it is launched.
// CHECK:      # Add_1, Tanh_2
// CHECK-NEXT: #
// CHECK-NEXT: # add_scaled[(4, 1, 1)](
// CHECK-NEXT: #     x_ptr: *fp32,
// CHECK-NEXT: #     bias_ptr: *fp32,
// CHECK-NEXT: #     y_ptr: *fp32,
// CHECK-NEXT: #     BLOCK=128,
// CHECK-NEXT: # )
// CHECK-EMPTY:
// CHECK-NEXT: import triton
// CHECK-NEXT: import triton.language as tl
// CHECK:      @triton.jit
// CHECK-NEXT: def add_scaled(x_ptr, bias_ptr, y_ptr, BLOCK: tl.constexpr):
// CHECK-NEXT:     program = tl.program_id(0)
// CHECK-NEXT:     first = program * BLOCK
// CHECK-NEXT:     lanes = tl.arange(0, BLOCK)
// CHECK-NEXT:     index = first + lanes
// CHECK-NEXT:     x = tl.load(x_ptr + index, mask=index < 400, other=0.0)
// CHECK-NEXT:     column = index % 100
// CHECK-NEXT:     bias = tl.load(bias_ptr + column)
// CHECK-NEXT:     add = x + bias
// CHECK-NEXT:     lambda_1 = add * 0.1
// CHECK-NEXT:     exp = tl.exp(lambda_1)
// CHECK-NEXT:     tl.store(y_ptr + index, exp, mask=index < 400)
"tile.kernel"() ({
^bb0(%x: memref<400xf32> loc("x"), %bias: memref<100xf32> loc("bias"), %y: memref<400xf32> loc("y")):
  %program = "tile.program_id"() {axis = 0 : i64} : () -> tensor<i32> loc("program")
  %block = "tile.block_size"() {block = "BLOCK"} : () -> tensor<i32>
  %first = "tile.binary"(%program, %block) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32> loc("first")
  %lanes = "tile.arange"() {block = "BLOCK"} : () -> tensor<?xi32, ["BLOCK"]> loc("lanes")
  %index = "tile.binary"(%first, %lanes) {function = "add"} : (tensor<i32>, tensor<?xi32, ["BLOCK"]>) -> tensor<?xi32, ["BLOCK"]> loc("index")
  %a = "tile.load"(%x, %index) {high = array<i64: 0>} : (memref<400xf32>, tensor<?xi32, ["BLOCK"]>) -> tensor<?xf32, ["BLOCK"]>
  %hundred = "tile.full"() {value = dense<100> : tensor<i32>} : () -> tensor<i32>
  %column = "tile.binary"(%index, %hundred) {function = "remainder"} : (tensor<?xi32, ["BLOCK"]>, tensor<i32>) -> tensor<?xi32, ["BLOCK"]> loc("column")
  %b = "tile.load"(%bias, %column) : (memref<100xf32>, tensor<?xi32, ["BLOCK"]>) -> tensor<?xf32, ["BLOCK"]>
  %sum = "tile.binary"(%a, %b) {function = "add"} : (tensor<?xf32, ["BLOCK"]>, tensor<?xf32, ["BLOCK"]>) -> tensor<?xf32, ["BLOCK"]>
  %tenth = "tile.full"() {value = dense<0.1> : tensor<f32>} : () -> tensor<f32>
  %scaled = "tile.binary"(%sum, %tenth) {function = "mul"} : (tensor<?xf32, ["BLOCK"]>, tensor<f32>) -> tensor<?xf32, ["BLOCK"]> loc("lambda")
  %exp = "tile.unary"(%scaled) {function = "exp"} : (tensor<?xf32, ["BLOCK"]>) -> tensor<?xf32, ["BLOCK"]>
  "tile.store"(%exp, %y, %index) {high = array<i64: 0>} : (tensor<?xf32, ["BLOCK"]>, memref<400xf32>, tensor<?xi32, ["BLOCK"]>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "add_scaled", grid = ["400/BLOCK"], blocks = ["BLOCK=128"]} : () -> () loc(fused["Add_1", "Tanh_2"])

// What Triton gives a name is not taken for a value, nor is the name of a block size; a check that
// a number passes is not printed, and two numbers are made a tile before they meet.
// CHECK:      def scalars(x_ptr, y_ptr, TWO: tl.constexpr):
// CHECK-NEXT:     tl_1 = tl.load(x_ptr + 3)
// CHECK-NEXT:     TWO_1 = tl.full((), 7, tl.int32) * TWO
// CHECK-NEXT:     shifted = TWO_1 << 1
// CHECK-NEXT:     float_1 = tl.cast(shifted, tl.float32)
// CHECK-NEXT:     positive = tl_1 > 0.0
// CHECK-NEXT:     chosen = tl.where(positive, tl_1, float_1)
// CHECK-NEXT:     tl.store(y_ptr, chosen)
"tile.kernel"() ({
^bb0(%x: memref<4xf32> loc("x"), %y: memref<2xf32> loc("y")):
  %three = "tile.full"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %seven = "tile.full"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
  %one = "tile.full"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %none = "tile.full"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %zero = "tile.full"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %two = "tile.block_size"() {block = "TWO"} : () -> tensor<i32>
  %a = "tile.load"(%x, %three) {low = array<i64: 0>, high = array<i64: 0>} : (memref<4xf32>, tensor<i32>) -> tensor<f32> loc("tl")
  %b = "tile.binary"(%seven, %two) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32> loc("TWO")
  %c = "tile.binary"(%b, %one) {function = "shift_left"} : (tensor<i32>, tensor<i32>) -> tensor<i32> loc("shifted")
  %d = "tile.cast"(%c) {to = "f32"} : (tensor<i32>) -> tensor<f32> loc("float")
  %e = "tile.binary"(%a, %zero) {function = "gt"} : (tensor<f32>, tensor<f32>) -> tensor<i1> loc("positive")
  %f = "tile.where"(%e, %a, %d) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32> loc("chosen")
  "tile.store"(%f, %y, %none) {low = array<i64: 0>, high = array<i64: 0>} : (tensor<f32>, memref<2xf32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "scalars", grid = ["1"], blocks = ["TWO=2"]} : () -> ()
