// RUN: trivium-opt %s --choose-blocks=architecture=sm_90 --split-input-file | FileCheck %s

// A setting that fits stays, though the candidate is about as fast.
// CHECK: blocks = ["BM=128", "BN=128", "BK=64"]
// CHECK-SAME: stages = 3
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
}) {sym_name = "fits", grid = ["4096/BM", "4096/BN"], blocks = ["BM=128", "BN=128", "BK=64"], warps = 8, stages = 3, candidates = ["BM=128 BN=256 BK=64 warps=8 stages=2"]} : () -> ()

// -----

// A large product in tiny blocks would wait for memory: the candidate is taken.
// CHECK: blocks = ["BM=128", "BN=128", "BK=64"]
// CHECK-SAME: stages = 3
// CHECK-SAME: warps = 8
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
}) {sym_name = "too_small", grid = ["4096/BM", "4096/BN"], blocks = ["BM=16", "BN=16", "BK=64"], warps = 4, stages = 2, candidates = ["BM=128 BN=128 BK=64 warps=8 stages=3"]} : () -> ()

// -----

// A small product keeps its small blocks: in large ones, one program would do it all.
// CHECK: blocks = ["BM=16", "BN=16", "BK=64"]
// CHECK-SAME: stages = 2
"tile.kernel"() ({
^bb0(%a: memref<128x128xf16>, %b: memref<128x128xf16>, %c: memref<128x128xf32>):
  %m = "tile.program_id"() {axis = 0} : () -> tensor<i32>
  %n = "tile.program_id"() {axis = 1} : () -> tensor<i32>
  %bm = "tile.block_size"() {block = "BM"} : () -> tensor<i32>
  %bn = "tile.block_size"() {block = "BN"} : () -> tensor<i32>
  %row = "tile.binary"(%m, %bm) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %column = "tile.binary"(%n, %bn) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %first = "tile.full"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %depth = "tile.full"() {value = dense<128> : tensor<i32>} : () -> tensor<i32>
  %step = "tile.block_size"() {block = "BK"} : () -> tensor<i32>
  %zeros = "tile.full"() {shape = ["BM", "BN"], value = dense<0.0> : tensor<f32>} : () -> tensor<?x?xf32, ["BM", "BN"]>
  %sum = "tile.for"(%first, %depth, %step, %zeros) ({
  ^bb0(%k: tensor<i32>, %carried: tensor<?x?xf32, ["BM", "BN"]>):
    %left = "tile.load_block"(%a, %row, %k) {block = ["BM", "BK"]} : (memref<128x128xf16>, tensor<i32>, tensor<i32>) -> tensor<?x?xf16, ["BM", "BK"]>
    %right = "tile.load_block"(%b, %k, %column) {block = ["BK", "BN"]} : (memref<128x128xf16>, tensor<i32>, tensor<i32>) -> tensor<?x?xf16, ["BK", "BN"]>
    %next = "tile.dot"(%left, %right, %carried) : (tensor<?x?xf16, ["BM", "BK"]>, tensor<?x?xf16, ["BK", "BN"]>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
    "tile.yield"(%next) : (tensor<?x?xf32, ["BM", "BN"]>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32, ["BM", "BN"]>) -> tensor<?x?xf32, ["BM", "BN"]>
  "tile.store_block"(%sum, %c, %row, %column) : (tensor<?x?xf32, ["BM", "BN"]>, memref<128x128xf32>, tensor<i32>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "small", grid = ["128/BM", "128/BN"], blocks = ["BM=16", "BN=16", "BK=64"], warps = 4, stages = 2, candidates = ["BM=128 BN=128 BK=64 warps=8 stages=3"]} : () -> ()

// -----

// Six stages of 48 KiB do not fit in 227 KiB, the candidate does.
// CHECK: blocks = ["BM=128", "BN=128", "BK=64"]
// CHECK-SAME: stages = 3
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
}) {sym_name = "candidate", grid = ["4096/BM", "4096/BN"], blocks = ["BM=128", "BN=256", "BK=64"], warps = 8, stages = 6, candidates = ["BM=128 BN=128 BK=64 warps=8 stages=3"]} : () -> ()

// -----

// Without a candidate that fits, two of six stages are left: the sums take 128 KiB on their way out.
// CHECK: blocks = ["BM=128", "BN=256", "BK=64"]
// CHECK-SAME: stages = 2
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
}) {sym_name = "fewer_stages", grid = ["4096/BM", "4096/BN"], blocks = ["BM=128", "BN=256", "BK=64"], warps = 8, stages = 6, candidates = ["BM=256 BN=256 BK=64 warps=8 stages=6"]} : () -> ()

// -----

// Blocks of a candidate are named in another order: they are those of the kernel all the same.
// CHECK: blocks = ["BM=128", "BN=64", "BK=32"]
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
}) {sym_name = "order", grid = ["4096/BM", "4096/BN"], blocks = ["BM=128", "BN=256", "BK=64"], warps = 8, stages = 6, candidates = ["BK=32 BN=64 BM=128 warps=4 stages=3"]} : () -> ()
