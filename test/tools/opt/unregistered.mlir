// RUN: trivium-opt %s --allow-unregistered-dialect --canonicalize | FileCheck %s

// Ops of other people's dialects pass through untouched.
// CHECK:       %[[A:.*]] = "foo.bar"() : () -> i32
// CHECK:       "foo.baz"(%[[A]]) : (i32) -> ()
%0 = "foo.bar"() : () -> i32
"foo.baz"(%0) : (i32) -> ()
