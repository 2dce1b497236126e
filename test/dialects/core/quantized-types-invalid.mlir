// RUN: trivium-opt %s --split-input-file --verify-diagnostics

// An op that computes would need the numbers that the integers stand for.
func.func @adds_quantised_numbers(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @below {{'tri.add' op takes no quantised numbers, has tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>: dequantise them first}}
  %0 = "tri.add"(%x, %x) : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// Elements that come to lie beside others need a common scale.
func.func @joins_scales_of_an_axis(%x: tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // expected-error @below {{'tri.roll' op takes quantised numbers of one scale, has}}
  %0 = "tri.roll"(%x) {shifts = array<i64: 1>, axes = array<i64: 0>} : (tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return
}

// -----

func.func @different_scales(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2x!quant.uniform<i8:f32, 0.25>>) {
  // expected-error @below {{'tri.concat' op operands have element types !quant.uniform<i8:f32, 5.000000e-01>, !quant.uniform<i8:f32, 2.500000e-01>, must be the same}}
  %0 = "tri.concat"(%x, %y) {axis = 0 : i64} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.25>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @pads_with_other_than_zero(%x: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
  // expected-error @below {{'tri.pad' op pads quantised numbers with 0.0, must be their zero point 3}}
  %0 = "tri.pad"(%x) {pads = array<i64: 0, 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x!quant.uniform<i8:f32, 0.5:3>>
  return
}

// -----

func.func @loses_the_axis(%x: tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // expected-error @below {{'tri.reshape' op shape [3, 2] does not keep axis 0 of tensor<2x3x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>, which has scales}}
  %0 = "tri.reshape"(%x) {shape = array<i64: 3, 2>} : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<3x2x!quant.uniform<i8:f32:0, {0.5, 0.25, 0.5}>>
  return
}

// -----

func.func @takes_no_scales(%x: tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // expected-error @below {{'tri.slice' op takes nothing of the axis of scales, must keep 1 or more}}
  %0 = "tri.slice"(%x) {starts = array<i64: 0>, sizes = array<i64: 0>, steps = array<i64: 1>} : (tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<0x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @too_few_scales(%x: tensor<3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // expected-error @below {{'tri.reshape' op 2 scales along axis 0 do not fit shape 3}}
  %0 = "tri.reshape"(%x) {shape = array<i64: 3>} : (tensor<3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return
}

// -----

func.func @held_in_four_bits(%x: tensor<3x!quant.uniform<i4:f32, 0.5>>) {
  // expected-error @below {{'tri.reshape' op quantised numbers are held in i4, must be i8, i16, i32, ui8, ui16}}
  %0 = "tri.reshape"(%x) {shape = array<i64: 3>} : (tensor<3x!quant.uniform<i4:f32, 0.5>>) -> tensor<3x!quant.uniform<i4:f32, 0.5>>
  return
}

// -----

func.func @no_scale(%x: tensor<3x!quant.any<i8:f32>>) {
  // expected-error @below {{must be !quant.uniform with a scale, or scales along an axis}}
  %0 = "tri.reshape"(%x) {shape = array<i64: 3>} : (tensor<3x!quant.any<i8:f32>>) -> tensor<3x!quant.any<i8:f32>>
  return
}

// -----

// Types in attributes are checked by us alone.
func.func @not_of_f32(%x: tensor<3xf32>) {
  // expected-error @below {{'tri.quantize' op quantised numbers stand for i8, must be f32, f16, bf16, f64}}
  %0 = "tri.quantize"(%x) {to = "!quant.uniform<i8:i8, 1.0>"} : (tensor<3xf32>) -> tensor<3xi8>
  return
}

// -----

func.func @too_wide(%x: tensor<3xf32>) {
  // expected-error @below {{'tri.quantize' op quantised range -200:3 must be in -128:127}}
  %0 = "tri.quantize"(%x) {to = "!quant.uniform<i8<-200:3>:f32, 1.0>"} : (tensor<3xf32>) -> tensor<3xi8>
  return
}

// -----

func.func @negative_scale(%x: tensor<3xf32>) {
  // expected-error @below {{'tri.quantize' op quantised type has scale -1.0, must be positive and finite}}
  %0 = "tri.quantize"(%x) {to = "!quant.uniform<i8:f32, -1.0>"} : (tensor<3xf32>) -> tensor<3xi8>
  return
}

// -----

func.func @zero_point_out_of_range(%x: tensor<3xf32>) {
  // expected-error @below {{'tri.quantize' op zero point 128 is outside of -128:127}}
  %0 = "tri.quantize"(%x) {to = "!quant.uniform<i8:f32, 1.0:128>"} : (tensor<3xf32>) -> tensor<3xi8>
  return
}

// -----

func.func @axis_without_scales(%x: tensor<3xf32>) {
  // expected-error @below {{'tri.quantize' op !quant.uniform<i8:f32:0, 1.0> must have one scale, or an axis and a scale for each index}}
  %0 = "tri.quantize"(%x) {to = "!quant.uniform<i8:f32:0, 1.0>"} : (tensor<3xf32>) -> tensor<3xi8>
  return
}

// -----

func.func @no_number(%x: tensor<3xf32>) {
  // expected-error @below {{'tri.quantize' op !quant.uniform<i8:f32, one> has a scale or zero point that is no number}}
  %0 = "tri.quantize"(%x) {to = "!quant.uniform<i8:f32, one>"} : (tensor<3xf32>) -> tensor<3xi8>
  return
}
