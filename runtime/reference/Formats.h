// Decoding and rounding of the stored number formats, in double precision. Written from the formats'
// definitions and used by the oracle only, so that a mistake elsewhere cannot hide in both.
#pragma once

#include "runtime/Manifest.h"

#include <span>

namespace mla::reference {

/// The value of a code (zero-extended). Exact for every format; NaN codes give NaN.
double decode(DType type, uint32_t code);

/// The nearest representable value's code, ties to even. Finite overflow and infinities saturate in e4m3,
/// e5m2 and s8 and become infinity in the others; NaN stays NaN (0 in s8).
uint32_t encode(DType type, double value);

/// The scale that `code` stands for.
double decodeScale(ScaleFormat format, uint32_t code);

/// The code that marks memory nobody may use: a NaN, except in s8, which has none. Bytes of records are NaN
/// whatever they are part of.
uint32_t poisonCode(DType type);

/// Fills a buffer of `type` with its poison code.
void fillPoison(DType type, std::span<uint8_t> buffer);

/// Element `index` of a buffer of `type`.
uint32_t loadCode(DType type, const uint8_t *data, int64_t index);
void storeCode(DType type, uint8_t *data, int64_t index, uint32_t code);

} // namespace mla::reference
