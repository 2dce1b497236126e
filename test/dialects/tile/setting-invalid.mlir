// RUN: trivium-opt %s --split-input-file --verify-diagnostics

// Words of a setting are sizes by name.
// expected-error @below {{'tile.kernel' op setting has 'fast', must be like BM=64, each name once}}
"tile.kernel"() ({
^bb0(%x: memref<64xf32>):
  %lane = "tile.arange"() {block = "B"} : () -> tensor<?xi32, ["B"]>
  %v = "tile.load"(%x, %lane) : (memref<64xf32>, tensor<?xi32, ["B"]>) -> tensor<?xf32, ["B"]>
  "tile.return"() : () -> ()
}) {sym_name = "candidate", grid = ["64/B"], blocks = ["B=64"], candidates = ["fast warps=4 stages=1"]} : () -> ()

// -----

// Each name occurs once.
// expected-error @below {{'tile.kernel' op setting has 'B=64', must be like BM=64, each name once}}
"tile.kernel"() ({
^bb0(%x: memref<64xf32>):
  %lane = "tile.arange"() {block = "B"} : () -> tensor<?xi32, ["B"]>
  %v = "tile.load"(%x, %lane) : (memref<64xf32>, tensor<?xi32, ["B"]>) -> tensor<?xf32, ["B"]>
  "tile.return"() : () -> ()
}) {sym_name = "twice", grid = ["64/B"], blocks = ["B=64"], candidates = ["B=32 B=64 warps=4 stages=1"]} : () -> ()

// -----

// Warps and stages are always there.
// expected-error @below {{'tile.kernel' op setting 'B=32 warps=4' must have stages, at least 1}}
"tile.kernel"() ({
^bb0(%x: memref<64xf32>):
  %lane = "tile.arange"() {block = "B"} : () -> tensor<?xi32, ["B"]>
  %v = "tile.load"(%x, %lane) : (memref<64xf32>, tensor<?xi32, ["B"]>) -> tensor<?xf32, ["B"]>
  "tile.return"() : () -> ()
}) {sym_name = "stages", grid = ["64/B"], blocks = ["B=64"], candidates = ["B=32 warps=4"]} : () -> ()

// -----

// Blocks are as tiles of Triton must be.
// expected-error @below {{'tile.kernel' op block size B is 48, must be a power of two}}
"tile.kernel"() ({
^bb0(%x: memref<64xf32>):
  %lane = "tile.arange"() {block = "B"} : () -> tensor<?xi32, ["B"]>
  %v = "tile.load"(%x, %lane) : (memref<64xf32>, tensor<?xi32, ["B"]>) -> tensor<?xf32, ["B"]>
  "tile.return"() : () -> ()
}) {sym_name = "size", grid = ["64/B"], blocks = ["B=64"], candidates = ["B=48 warps=4 stages=1"]} : () -> ()

// -----

// A candidate has the kernel's block sizes, no others.
// expected-error @below {{'tile.kernel' op candidate 'BM=32 warps=4 stages=1' must set B}}
"tile.kernel"() ({
^bb0(%x: memref<64xf32>):
  %lane = "tile.arange"() {block = "B"} : () -> tensor<?xi32, ["B"]>
  %v = "tile.load"(%x, %lane) : (memref<64xf32>, tensor<?xi32, ["B"]>) -> tensor<?xf32, ["B"]>
  "tile.return"() : () -> ()
}) {sym_name = "other", grid = ["64/B"], blocks = ["B=64"], candidates = ["BM=32 warps=4 stages=1"]} : () -> ()
