// RUN: trivium-opt %s --choose-blocks=architecture=sm_80 --split-input-file --verify-diagnostics

// Blocks of 256 by 256 f32 take 256 KiB on their way out: not even one stage fits.
// expected-error @below {{'tile.kernel' op has no setting that fits sm_80: a program needs about 393216 bytes of shared memory, sm_80 has 166912}}
"tile.kernel"() ({
^bb0(%a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %c: memref<4096x4096xf32>):
  %m = "tile.program_id"() {axis = 0} : () -> tensor<i32>
  %n = "tile.program_id"() {axis = 1} : () -> tensor<i32>
  %bm = "tile.block_size"() {block = "BM"} : () -> tensor<i32>
  %bn = "tile.block_size"() {block = "BN"} : () -> tensor<i32>
  %row = "tile.binary"(%m, %bm) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %column = "tile.binary"(%n, %bn) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %first = "tile.full"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %depth = "tile.full"() {value = dense<4096> : tensor<i32>} : () -> tensor<i32>
  %step = "tile.block_size"() {block = "BK"} : () -> tensor<i32>
  %zeros = "tile.full"() {shape = ["BM", "BN"], value = dense<0.0> : tensor<f32>} : () -> tensor<?x?xf32, ["BM", "BN"]>
  %sum = "tile.for"(%first, %depth, %step, %zeros) ({
  ^bb0(%k: tensor<i32>, %carried: tensor<?x?xf32, ["BM", "BN"]>):
    %left = "tile.load_block"(%a, %row, %k) {block = ["BM", "BK"]} : (memref<4096x4096xf16>, tensor<i32>, tensor<i32>) -> tensor<?x?xf16, ["BM", "BK"]>
    %right = "tile.load_block"(%b, %k, %column) {block = ["BK", "BN"]} : (memref<4096x4096xf16>, tensor<i32>, tensor<i32>) -> tensor<?x?xf16, ["BK", "BN"]>
    %next = "tile.dot"(%left, %right, %carried) : (tensor<?x?xf16, ["BM", "BK"]>, tensor<?x?xf16, ["BK", "BN"]>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
    "tile.yield"(%next) : (tensor<?x?xf32, ["BM", "BN"]>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
  "tile.store_block"(%sum, %c, %row, %column) : (tensor<?x?xf32, ["BM", "BN"]>, memref<4096x4096xf32>, tensor<i32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "nothing", grid = ["4096/BM", "4096/BN"], blocks = ["BM=256", "BN=256", "BK=128"], warps = 8, stages = 1, candidates = []} : () -> ()
