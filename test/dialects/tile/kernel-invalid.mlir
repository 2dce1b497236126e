// RUN: trivium-opt %s --split-input-file --verify-diagnostics

// An axis of the grid is an extent, or the blocks of an extent.
// expected-error @below {{'tile.kernel' op grid has 'BM', must be like 128/BM or 8}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["BM"], blocks = ["BM=16"]} : () -> ()

// -----

// Numbers have one spelling.
// expected-error @below {{'tile.kernel' op grid has '08', must be like 128/BM or 8}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["08"]} : () -> ()

// -----

// A block size has a value.
// expected-error @below {{'tile.kernel' op blocks has 'BM', must be like BM=128, each name once}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], blocks = ["BM"]} : () -> ()

// -----

// And only one.
// expected-error @below {{'tile.kernel' op blocks has 'BM=32', must be like BM=128, each name once}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], blocks = ["BM=16", "BM=32"]} : () -> ()

// -----

// That is a power of two.
// expected-error @below {{'tile.kernel' op BM is 48, must be a power of two}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], blocks = ["BM=48"]} : () -> ()

// -----

// Zero is none.
// expected-error @below {{'tile.kernel' op BM is 0, must be a power of two}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], blocks = ["BM=0"]} : () -> ()

// -----

// The grid names block sizes that the kernel has.
// expected-error @below {{'tile.kernel' op grid names block size 'BN', the kernel has: BM, BK}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8/BM", "8/BN"], blocks = ["BM=16", "BK=32"]} : () -> ()

// -----

// So do tiles.
// expected-error @below {{'tile.kernel' op 'tile.arange' names block size 'BM', the kernel has: none}}
"tile.kernel"() ({
  %steps = "tile.arange"() {block = "BM"} : () -> tensor<?xi32, ["BM"]>
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// And ops that ask for the value, in loops, too.
// expected-error @below {{'tile.kernel' op 'tile.block_size' names block size 'BN', the kernel has: BM}}
"tile.kernel"() ({
  %one = "tile.full"() {value = dense<1> : tensor<i32>, shape = []} : () -> tensor<i32>
  "tile.for"(%one, %one, %one) ({
  ^bb0(%i: tensor<i32>):
    %size = "tile.block_size"() {block = "BN"} : () -> tensor<i32>
    "tile.yield"() : () -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], blocks = ["BM=16"]} : () -> ()

// -----

// A program asks where it is on an axis that there is.
// expected-error @below {{'tile.kernel' op grid has 2 axes, 'tile.program_id' asks for 2}}
"tile.kernel"() ({
  %program = "tile.program_id"() {axis = 2} : () -> tensor<i32>
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8", "8"]} : () -> ()

// -----

// Axes count from 0.
"tile.kernel"() ({
  // expected-error @below {{'tile.program_id' op axis is -1, must not be negative}}
  %program = "tile.program_id"() {axis = -1} : () -> tensor<i32>
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8", "8"]} : () -> ()

// -----

// A range that is not named is as long as GPUs like it.
"tile.kernel"() ({
  // expected-error @below {{'tile.arange' op size is '12', must be a power of two or the name of a block size}}
  %steps = "tile.arange"() {block = "12"} : () -> tensor<12xi32>
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// There is no band of one axis.
// expected-error @below {{'tile.kernel' op group is 4, must be 0, or positive for two axes or more}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], group = 4} : () -> ()

// -----

// A band has steps.
// expected-error @below {{'tile.kernel' op group is -1, must be 0, or positive for two axes or more}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8", "8"], group = -1} : () -> ()

// -----

// Warps come in powers of two.
// expected-error @below {{'tile.kernel' op warps is 6, must be a power of two}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], warps = 6} : () -> ()

// -----

// One stage is no overlap of loads with work; there is no less.
// expected-error @below {{'tile.kernel' op stages is 0, must be at least 1}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], stages = 0} : () -> ()

// -----

// A candidate sets all block sizes.
// expected-error @below {{'tile.kernel' op candidate 'BM=32 warps=4 stages=1' must set BM, BN}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], blocks = ["BM=16", "BN=16"], candidates = ["BM=32 warps=4 stages=1"]} : () -> ()

// -----

// And all else.
// expected-error @below {{'tile.kernel' op setting is 'BM=32 stages=1', its warps is 0, must be a power of two}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], blocks = ["BM=16"], candidates = ["BM=32 stages=1"]} : () -> ()

// -----

// In words with a number.
// expected-error @below {{'tile.kernel' op setting has 'BM', must be like BM=128, each name once}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"], blocks = ["BM=16"], candidates = ["BM warps=4 stages=1"]} : () -> ()

// -----

// The name becomes that of a function.
// expected-error @below {{'tile.kernel' op is called 'my kernel', must be an identifier}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "my kernel", grid = ["8"]} : () -> ()

// -----

// Kernels are not made in passing.
func.func @holds_a_kernel() {
  // expected-error @below {{'tile.kernel' op stands in 'func.func', must stand in a module}}
  "tile.kernel"() ({
    "tile.return"() : () -> ()
  }) {sym_name = "k", grid = ["8"]} : () -> ()
  return
}

// -----

// A kernel has a body.
// expected-error @below {{'tile.kernel' op has 0 blocks in its body, must have 1}}
"tile.kernel"() ({
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// With something in it.
// expected-error @below {{'tile.kernel' op body ends in nothing, must end in 'tile.return'}}
"tile.kernel"() ({
^bb0(%x: memref<4xf32>):
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// That ends it.
// expected-error @below {{'tile.kernel' op body ends in 'tile.yield', must end in 'tile.return'}}
"tile.kernel"() ({
  "tile.yield"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// Once.
// expected-error @below {{'tile.kernel' op body goes on after 'tile.return'}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
  %program = "tile.program_id"() {axis = 0} : () -> tensor<i32>
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// Arguments are memory.
// expected-error @below {{'tile.kernel' op argument 1 is tile<4xf32>, must be in memory}}
"tile.kernel"() ({
^bb0(%x: memref<4xf32>, %y: tensor<4xf32>):
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// Of sizes that are known, or expressions of symbols.
// expected-error @below {{'tile.kernel' op memref<?xf32> has dynamic sizes, must have an expression for each}}
"tile.kernel"() ({
^bb0(%x: memref<?xf32>):
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// All in one memory.
// expected-error @below {{'tile.kernel' op memref<4xf32, 1> has a memory space, must have none}}
"tile.kernel"() ({
^bb0(%x: memref<4xf32, 1>):
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// Elements along a dimension are equally far apart.
// expected-error @below {{'tile.kernel' op memref<4xf32, affine_map<(d0) -> (d0 mod 2)>> has a layout without strides}}
"tile.kernel"() ({
^bb0(%x: memref<4xf32, affine_map<(d0) -> (d0 mod 2)>>):
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// The first element lies first.
// expected-error @below {{'tile.kernel' op memref<4xf32, strided<[-1]>> must have strides that are not negative}}
"tile.kernel"() ({
^bb0(%x: memref<4xf32, strided<[-1]>>):
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// At the beginning.
// expected-error @below {{'tile.kernel' op memref<4xf32, strided<[1], offset: 2>> must have no offset}}
"tile.kernel"() ({
^bb0(%x: memref<4xf32, strided<[1], offset: 2>>):
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// Strides are known.
// expected-error @below {{'tile.kernel' op memref<4x4xf32, strided<[?, 1]>> has dynamic strides, must have an expression for each}}
"tile.kernel"() ({
^bb0(%x: memref<4x4xf32, strided<[?, 1]>>):
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// Elements are of a type that numpy has.
// expected-error @below {{'tile.kernel' op memref<4xf80> has element type f80, must be one of f64, f32,}}
"tile.kernel"() ({
^bb0(%x: memref<4xf80>):
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// A number by itself is a tile without dimensions.
"tile.kernel"() ({
  // expected-error @below {{'tile.program_id' op operand or result has type i32, must be a ranked tensor or a memref}}
  %program = "tile.program_id"() {axis = 0} : () -> i32
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// Values are used after they are defined.
// expected-error @below {{'tile.kernel' op body does not define what 'tile.unary' uses: operand 0}}
"tile.kernel"() ({
  %b = "tile.unary"(%a) {function = "neg"} : (tensor<i32>) -> tensor<i32>
  %a = "tile.program_id"() {axis = 0} : () -> tensor<i32>
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// What a loop defines is its own.
// expected-error @below {{'tile.kernel' op body does not define what 'tile.unary' uses: operand 0}}
"tile.kernel"() ({
  %one = "tile.full"() {value = dense<1> : tensor<i32>, shape = []} : () -> tensor<i32>
  "tile.for"(%one, %one, %one) ({
  ^bb0(%i: tensor<i32>):
    "tile.for"(%i, %one, %one) ({
    ^bb0(%j: tensor<i32>):
      %a = "tile.unary"(%k) {function = "neg"} : (tensor<i32>) -> tensor<i32>
      "tile.yield"() : () -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %k = "tile.unary"(%i) {function = "neg"} : (tensor<i32>) -> tensor<i32>
    "tile.yield"() : () -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// Ops on tensors are not for kernels.
// expected-error @below {{'tile.kernel' op body has 'tri.constant', must have ops on tiles}}
"tile.kernel"() ({
  %c = "tri.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// Kernels start no others.
// expected-error @below {{'tile.kernel' op body has 'tile.launch', must have ops on tiles}}
"tile.kernel"() ({
  // expected-error @below {{'tile.launch' op there is no kernel 'none'}}
  "tile.launch"() {kernel = "none"} : () -> ()
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// -----

// A kernel takes no values, only arguments.
// expected-error @below {{'tile.kernel' op has 1 results, must have 0}}
%y = "tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> tensor<i32>

// -----

// expected-note @below {{see existing symbol definition here}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()

// Kernels of a module have different names; MLIR sees to it.
// expected-error @below {{redefinition of symbol named 'k'}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) {sym_name = "k", grid = ["8"]} : () -> ()
