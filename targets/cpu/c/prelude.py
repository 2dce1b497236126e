"""What files of C begin with: headers, and macros for what compilers spell differently."""

PRELUDE = """\
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__clang__)
#define UNROLL_TWICE _Pragma("clang loop unroll_count(2)")
#define UNROLL_NEVER _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__)
#define UNROLL_TWICE _Pragma("GCC unroll 2")
#define UNROLL_NEVER _Pragma("GCC unroll 1")
#else
#define UNROLL_TWICE
#define UNROLL_NEVER
#endif
#if defined(__clang__) || defined(__GNUC__)
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif
#if defined(__ARM_FEATURE_SVE)
#include <arm_sve.h>
#endif
#define ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else /* code without vectors needs C99 alone */
#define ATTRIBUTE(...)
#define __builtin_copysign copysign
#define __builtin_copysignf copysignf
#define __builtin_fabs fabs
#define __builtin_fabsf fabsf
#define __builtin_fma fma
#define __builtin_fmaf fmaf
#define __builtin_inf() HUGE_VAL
#define __builtin_inff() HUGE_VALF
#define __builtin_memcpy memcpy
#define __builtin_nan(text) nan(text)
#define __builtin_nanf(text) nanf(text)
#define __builtin_prefetch(...) ((void)0)
#define __builtin_sqrt sqrt
#define __builtin_sqrtf sqrtf
#endif
#define INLINE static inline ATTRIBUTE(always_inline, unused)
#define KERNEL static ATTRIBUTE(noinline, unused)

/* Numbers in memory, which other code may have written as another type. */
typedef int8_t i8 ATTRIBUTE(may_alias);
typedef int16_t i16 ATTRIBUTE(may_alias);
typedef int32_t i32 ATTRIBUTE(may_alias);
typedef int64_t i64 ATTRIBUTE(may_alias);
typedef uint8_t u8 ATTRIBUTE(may_alias);
typedef uint16_t u16 ATTRIBUTE(may_alias);
typedef uint32_t u32 ATTRIBUTE(may_alias);
typedef uint64_t u64 ATTRIBUTE(may_alias);
typedef int16_t f16 ATTRIBUTE(may_alias); /* the bits of a half */
typedef float f32 ATTRIBUTE(may_alias);
typedef double f64 ATTRIBUTE(may_alias);
"""
