// RUN: trivium-opt %s --fold-slices --eliminate | FileCheck %s

// Elements 1, 3, 5, 7, 9, of which the second and the fourth: 3 and 7.
// CHECK-LABEL: func.func @merges_slices
// CHECK-SAME:    (%[[X:.*]]: tensor<10xf32>)
// CHECK-NEXT:    "tri.slice"(%[[X]]) {sizes = array<i64: 2>, starts = array<i64: 3>, steps = array<i64: 4>}
func.func @merges_slices(%x: tensor<10xf32>) -> tensor<2xf32> {
  %a = "tri.slice"(%x) {starts = array<i64: 1>, sizes = array<i64: 5>, steps = array<i64: 2>} : (tensor<10xf32>) -> tensor<5xf32>
  %y = "tri.slice"(%a) {starts = array<i64: 1>, sizes = array<i64: 2>, steps = array<i64: 2>} : (tensor<5xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @takes_the_operand_of_a_concatenation
// CHECK-SAME:    (%[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<2x4xf32>)
// CHECK-NEXT:    return %[[B]]
func.func @takes_the_operand_of_a_concatenation(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = "tri.concat"(%a, %b) {axis = 1} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %y = "tri.slice"(%c) {starts = array<i64: 0, 3>, sizes = array<i64: 2, 4>, steps = array<i64: 1, 1>} : (tensor<2x7xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @slices_before_a_split
// CHECK-SAME:    (%[[X:.*]]: tensor<5xf32>)
// CHECK-NEXT:    "tri.slice"(%[[X]]) {sizes = array<i64: 1>, starts = array<i64: 3>
func.func @slices_before_a_split(%x: tensor<5xf32>) -> tensor<1xf32> {
  %a, %b = "tri.split"(%x) {axis = 0, sizes = array<i64: 2, 3>} : (tensor<5xf32>) -> (tensor<2xf32>, tensor<3xf32>)
  %y = "tri.slice"(%b) {starts = array<i64: 1>, sizes = array<i64: 1>, steps = array<i64: 1>} : (tensor<3xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// What a split took apart and a concatenation puts together again was there all the time.
// CHECK-LABEL: func.func @cancels_split_and_concatenation
// CHECK-SAME:    (%[[X:.*]]: tensor<2x5xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @cancels_split_and_concatenation(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %a, %b = "tri.split"(%x) {axis = 1, sizes = array<i64: 2, 3>} : (tensor<2x5xf32>) -> (tensor<2x2xf32>, tensor<2x3xf32>)
  %y = "tri.concat"(%a, %b) {axis = 1} : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @cancels_concatenation_and_split
// CHECK-SAME:    (%[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<3xf32>)
// CHECK-NEXT:    return %[[B]], %[[A]]
func.func @cancels_concatenation_and_split(%a: tensor<2xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %c = "tri.concat"(%a, %b) {axis = 0} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %d, %e = "tri.split"(%c) {axis = 0, sizes = array<i64: 2, 3>} : (tensor<5xf32>) -> (tensor<2xf32>, tensor<3xf32>)
  return %e, %d : tensor<3xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @joins_neighbouring_slices
// CHECK-SAME:    (%[[X:.*]]: tensor<9xf32>)
// CHECK-NEXT:    "tri.slice"(%[[X]]) {sizes = array<i64: 5>, starts = array<i64: 2>
// CHECK-NEXT:    return
func.func @joins_neighbouring_slices(%x: tensor<9xf32>) -> tensor<5xf32> {
  %a = "tri.slice"(%x) {starts = array<i64: 2>, sizes = array<i64: 3>, steps = array<i64: 1>} : (tensor<9xf32>) -> tensor<3xf32>
  %b = "tri.slice"(%x) {starts = array<i64: 5>, sizes = array<i64: 2>, steps = array<i64: 1>} : (tensor<9xf32>) -> tensor<2xf32>
  %y = "tri.concat"(%a, %b) {axis = 0} : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// CHECK-LABEL: func.func @merges_concatenations
// CHECK-SAME:    (%[[A:.*]]: tensor<1xf32>, %[[B:.*]]: tensor<2xf32>)
// CHECK-NEXT:    "tri.concat"(%[[B]], %[[A]], %[[B]])
func.func @merges_concatenations(%a: tensor<1xf32>, %b: tensor<2xf32>) -> tensor<5xf32> {
  %c = "tri.concat"(%a, %b) {axis = 0} : (tensor<1xf32>, tensor<2xf32>) -> tensor<3xf32>
  %y = "tri.concat"(%b, %c) {axis = -1} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// Every second row, from the last one up.
// CHECK-LABEL: func.func @slices_instead_of_gathering_range
// CHECK-SAME:    (%[[X:.*]]: tensor<5x2xf32>)
// CHECK:         %[[A:.*]] = "tri.slice"(%[[X]]) {sizes = array<i64: 3, 2>, starts = array<i64: 4, 0>, steps = array<i64: -2, 1>}
// CHECK-NEXT:    return %[[A]]
func.func @slices_instead_of_gathering_range(%x: tensor<5x2xf32>) -> tensor<3x2xf32> {
  %i = "tri.constant"() {value = dense<[-1, 2, 0]> : tensor<3xi64>} : () -> tensor<3xi64>
  %y = "tri.gather"(%x, %i) {axis = 0} : (tensor<5x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// Exporters spell the insertion of axes as taking each element by all of its indices.
// CHECK-LABEL: func.func @reshapes_instead_of_gathering_all
// CHECK-SAME:    (%[[X:.*]]: tensor<1x3xf32>)
// CHECK:         %[[Y:.*]] = "tri.reshape"(%[[X]]) {shape = array<i64: 1, 1, 3>}
// CHECK-NEXT:    return %[[Y]]
func.func @reshapes_instead_of_gathering_all(%x: tensor<1x3xf32>) -> tensor<1x1x3xf32> {
  %i = "tri.constant"() {value = dense<[[[[0, 0], [0, 1], [0, 2]]]]> : tensor<1x1x3x2xi64>} : () -> tensor<1x1x3x2xi64>
  %y = "tri.gather_nd"(%x, %i) {batch_dims = 0} : (tensor<1x3xf32>, tensor<1x1x3x2xi64>) -> tensor<1x1x3xf32>
  return %y : tensor<1x1x3xf32>
}

// One index, counted from the end: the second row.
// CHECK-LABEL: func.func @slices_instead_of_gathering_one
// CHECK-SAME:    (%[[X:.*]]: tensor<3x2xf32>)
// CHECK:         %[[A:.*]] = "tri.slice"(%[[X]]) {sizes = array<i64: 1, 2>, starts = array<i64: 1, 0>
// CHECK:         "tri.reshape"(%[[A]]) {shape = array<i64: 2>}
func.func @slices_instead_of_gathering_one(%x: tensor<3x2xf32>) -> tensor<2xf32> {
  %i = "tri.constant"() {value = dense<-2> : tensor<i64>} : () -> tensor<i64>
  %y = "tri.gather"(%x, %i) {axis = 0} : (tensor<3x2xf32>, tensor<i64>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @keeps_slice_of_two_operands
// CHECK:         "tri.concat"
// CHECK:         "tri.slice"
func.func @keeps_slice_of_two_operands(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  %c = "tri.concat"(%a, %b) {axis = 0} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %y = "tri.slice"(%c) {starts = array<i64: 1>, sizes = array<i64: 2>, steps = array<i64: 1>} : (tensor<5xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// The parts come back in another order.
// CHECK-LABEL: func.func @keeps_swapped_parts
// CHECK:         "tri.split"
// CHECK:         "tri.concat"
func.func @keeps_swapped_parts(%x: tensor<5xf32>) -> tensor<5xf32> {
  %a, %b = "tri.split"(%x) {axis = 0, sizes = array<i64: 2, 3>} : (tensor<5xf32>) -> (tensor<2xf32>, tensor<3xf32>)
  %y = "tri.concat"(%b, %a) {axis = 0} : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// CHECK-LABEL: func.func @keeps_split_into_other_parts
// CHECK:         "tri.concat"
// CHECK:         "tri.split"
func.func @keeps_split_into_other_parts(%a: tensor<2xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %c = "tri.concat"(%a, %b) {axis = 0} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %d, %e = "tri.split"(%c) {axis = 0, sizes = array<i64: 3, 2>} : (tensor<5xf32>) -> (tensor<3xf32>, tensor<2xf32>)
  return %d, %e : tensor<3xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @keeps_gather_of_uneven_indices
// CHECK:         "tri.gather"
func.func @keeps_gather_of_uneven_indices(%x: tensor<4xf32>) -> tensor<3xf32> {
  %i = "tri.constant"() {value = dense<[2, 0, 1]> : tensor<3xi64>} : () -> tensor<3xi64>
  %y = "tri.gather"(%x, %i) {axis = 0} : (tensor<4xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @keeps_gather_of_one_index_twice
// CHECK:         "tri.gather"
func.func @keeps_gather_of_one_index_twice(%x: tensor<4xf32>) -> tensor<2xf32> {
  %i = "tri.constant"() {value = dense<2> : tensor<2xi64>} : () -> tensor<2xi64>
  %y = "tri.gather"(%x, %i) {axis = 0} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// Every element once, but in another order.
// CHECK-LABEL: func.func @keeps_gather_that_permutes
// CHECK:         "tri.gather_elements"
func.func @keeps_gather_that_permutes(%x: tensor<3xf32>) -> tensor<3xf32> {
  %i = "tri.constant"() {value = dense<[2, 0, 1]> : tensor<3xi64>} : () -> tensor<3xi64>
  %y = "tri.gather_elements"(%x, %i) {axis = 0} : (tensor<3xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
