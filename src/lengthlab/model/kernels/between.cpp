// What lies between a block's matrix products: the norm (with the residual added) and GeGLU, forward and backward.
//
// Each is one pass over memory. Numbers are read and written as fp32 or bf16 and computed in fp32. Pointers are to rows
// whose starts are `step` numbers apart.
#include "vectors.h"
#include <vector>

constexpr int N = WIDEST;  // rows are a multiple of 16 numbers long
typedef Vectors<N>::Float V;
typedef Vectors<N>::Int I;
typedef unsigned short Half;  // the bits of a bf16: the upper half of a fp32's
typedef Half Halves __attribute__((vector_size(2 * N)));

static inline V get(const float *from) { return load<V>(from); }

static inline V get(const Half *from) {
  Halves halves;
  std::memcpy(&halves, from, sizeof(halves));
  const I bits = __builtin_convertvector(halves, I) << 16;
  V v;
  std::memcpy(&v, &bits, sizeof(v));
  return v;
}

static inline void put(float *to, V v) { store(to, v); }

static inline void put(Half *to, V v) {  // rounded to the nearest, to even if in between; infinities and nan stay
  I bits;
  std::memcpy(&bits, &v, sizeof(bits));
  const I rounded = bits + 0x7fff + ((bits >> 16) & 1);
  const I special = (bits & 0x7f800000) == 0x7f800000;
  const Halves halves = __builtin_convertvector(((special ? bits : rounded) >> 16) & 0xffff, Halves);
  std::memcpy(to, &halves, sizeof(halves));
}

// y = x / sqrt(mean(x^2) + 1e-6) * gain (+ residual)
template <typename In, typename Out>
static void norm(const In *x, const float *gain, const float *residual, Out *y, float *inverse, long rows, long width) {
  for (long r = 0; r < rows; r++, x += width, y += width) {
    V squares = {};
    for (long j = 0; j < width; j += N) squares += get(x + j) * get(x + j);
    const float scale = 1 / std::sqrt(sum_of<N>(squares) / width + 1e-6f);
    inverse[r] = scale;
    for (long j = 0; j < width; j += N) {
      const V value = get(x + j) * scale * load<V>(gain + j);
      put(y + j, residual ? value + load<V>(residual + r * width + j) : value);
    }
  }
}

template <typename In, typename Out>
static void norm_back(const In *x, const float *gain, const float *inverse, const Out *dy, In *dx, float *d_gain,
                      long rows, long width) {
  for (long r = 0; r < rows; r++, x += width, dy += width, dx += width) {
    const float scale = inverse[r];
    V along = {};  // of the gradient, along x
    for (long j = 0; j < width; j += N) {
      const V product = get(dy + j) * get(x + j);
      store(d_gain + j, load<V>(d_gain + j) + product * scale);
      along += product * load<V>(gain + j);
    }
    const float part = sum_of<N>(along) / width * scale * scale;
    for (long j = 0; j < width; j += N) put(dx + j, (get(dy + j) * load<V>(gain + j) - get(x + j) * part) * scale);
  }
}

// gelu(x) = x * sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3): the form with tanh
static inline V gate_of(V x) {
  const V zero = {};
  return 1.0f / (exp_of<N>(zero - x * (1.5957691216f + 0.0713548163f * x * x)) + 1.0f);
}

template <typename T> static void geglu(const T *gate, const T *up, long step, T *out, long rows, long width) {
  for (long r = 0; r < rows; r++, gate += step, up += step, out += width)
    for (long j = 0; j < width; j += N) {
      const V x = get(gate + j);
      put(out + j, x * gate_of(x) * get(up + j));
    }
}

template <typename T>
static void geglu_back(const T *gate, const T *up, long step, const T *d_out, T *d_gate, T *d_up, long rows,
                       long width) {
  for (long r = 0; r < rows; r++, gate += step, up += step, d_out += width, d_gate += step, d_up += step)
    for (long j = 0; j < width; j += N) {
      const V x = get(gate + j), s = gate_of(x), d = get(d_out + j);
      const V slope = s + x * s * (1.0f - s) * (1.5957691216f + 0.2140644489f * x * x);
      put(d_up + j, d * x * s);
      put(d_gate + j, d * get(up + j) * slope);
    }
}

#define NORM(NAME, In, Out)                                                                                          \
  extern "C" void norm_##NAME(const In *x, const float *gain, const float *residual, Out *y, float *inverse,         \
                              long rows, long width) {                                                               \
    norm(x, gain, residual, y, inverse, rows, width);                                                                \
  }                                                                                                                  \
  extern "C" void norm_back_##NAME(const In *x, const float *gain, const float *inverse, const Out *dy, In *dx,      \
                                   float *d_gain, long rows, long width) {                                           \
    norm_back(x, gain, inverse, dy, dx, d_gain, rows, width);                                                        \
  }
#define GEGLU(NAME, T)                                                                                               \
  extern "C" void geglu_##NAME(const T *gate, const T *up, long step, T *out, long rows, long width) {               \
    geglu(gate, up, step, out, rows, width);                                                                         \
  }                                                                                                                  \
  extern "C" void geglu_back_##NAME(const T *gate, const T *up, long step, const T *d_out, T *d_gate, T *d_up,       \
                                    long rows, long width) {                                                         \
    geglu_back(gate, up, step, d_out, d_gate, d_up, rows, width);                                                    \
  }
NORM(fp32_fp32, float, float)
NORM(fp32_bf16, float, Half)
NORM(bf16_fp32, Half, float)
NORM(bf16_bf16, Half, Half)
GEGLU(fp32, float)
GEGLU(bf16, Half)
