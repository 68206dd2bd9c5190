// What lies between a block's matrix products, one row at a time: the norm and GeGLU, forward and backward. Numbers are
// read and written as fp32 or bf16 and computed in fp32; rows are a multiple of 16 numbers long.
#pragma once
#include "vectors.h"

constexpr int LANES = WIDEST;
typedef Vectors<LANES>::Float Lanes;

// 1 / sqrt(mean(x^2) + 1e-6)
template <typename In> static inline float inverse_of(const In *x, long width) {
  Lanes squares = {};
  for (long j = 0; j < width; j += LANES) squares += get<LANES>(x + j) * get<LANES>(x + j);
  return 1 / std::sqrt(sum_of<LANES>(squares) / width + 1e-6f);
}

// y = x * inverse * gain (+ residual)
template <typename In, typename Out>
static inline void norm_row(const In *x, const float *gain, const float *residual, float inverse, Out *y, long width) {
  for (long j = 0; j < width; j += LANES) {
    const Lanes value = get<LANES>(x + j) * inverse * load<Lanes>(gain + j);
    put<LANES>(y + j, residual ? value + load<Lanes>(residual + j) : value);
  }
}

// the gradients of x and, added up, of the gain; (+ residual)
template <typename In, typename Out, typename To>
static inline void norm_row_back(const In *x, const float *gain, float inverse, const Out *dy, const float *residual,
                                 To *dx, float *d_gain, long width) {
  Lanes along = {};  // of the gradient, along x
  for (long j = 0; j < width; j += LANES) {
    const Lanes product = get<LANES>(dy + j) * get<LANES>(x + j);
    store(d_gain + j, load<Lanes>(d_gain + j) + product * inverse);
    along += product * load<Lanes>(gain + j);
  }
  const float part = sum_of<LANES>(along) / width * inverse * inverse;
  for (long j = 0; j < width; j += LANES) {
    const Lanes value = (get<LANES>(dy + j) * load<Lanes>(gain + j) - get<LANES>(x + j) * part) * inverse;
    put<LANES>(dx + j, residual ? value + load<Lanes>(residual + j) : value);
  }
}

// gelu(x) = x * sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3): the form with tanh
static inline Lanes gate_of(Lanes x) {
  const Lanes zero = {};
  return 1.0f / (exp_of<LANES>(zero - x * (1.5957691216f + 0.0713548163f * x * x)) + 1.0f);
}

template <typename T> static inline void geglu_row(const T *gate, const T *up, T *out, long width) {
  for (long j = 0; j < width; j += LANES) {
    const Lanes x = get<LANES>(gate + j);
    put<LANES>(out + j, x * gate_of(x) * get<LANES>(up + j));
  }
}

// the gradients of gate and up, and the value once more
template <typename T, typename Slope>
static inline void geglu_row_back(const T *gate, const T *up, const Slope *d_out, T *d_gate, T *d_up, T *out,
                                  long width) {
  for (long j = 0; j < width; j += LANES) {
    const Lanes x = get<LANES>(gate + j), s = gate_of(x), d = get<LANES>(d_out + j);
    const Lanes slope = s + x * s * (1.0f - s) * (1.5957691216f + 0.2140644489f * x * x);
    put<LANES>(d_up + j, d * x * s);
    put<LANES>(d_gate + j, d * get<LANES>(up + j) * slope);
    put<LANES>(out + j, x * s * get<LANES>(up + j));
  }
}
