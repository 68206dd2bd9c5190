// Vectors of floats as the compiler knows them (GCC and Clang), in the widest registers that the processor has; bf16
// and products of bf16.
#pragma once
#include <cmath>
#include <cstring>
#include <utility>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
constexpr int WIDEST = 16;
#else
constexpr int WIDEST = 8;
#endif

template <int N> struct Vectors {
  typedef float Float __attribute__((vector_size(4 * N)));
  typedef int Int __attribute__((vector_size(4 * N)));
  typedef unsigned short Halves __attribute__((vector_size(2 * N)));
};

template <typename V, typename T> static inline V load(const T *from) {
  V v;
  std::memcpy(&v, from, sizeof(V));
  return v;
}

template <typename V, typename T> static inline void store(T *to, V v) { std::memcpy(to, &v, sizeof(V)); }

// the same bits, read as another type
template <typename To, typename From> static inline To bits_of(From from) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

typedef unsigned short Half;  // the bits of a bf16: the upper half of a fp32's

// fp32 whose upper half is the nearest bf16, the even one if in between
template <int N> static inline typename Vectors<N>::Int rounded(typename Vectors<N>::Float v) {
  const auto bits = bits_of<typename Vectors<N>::Int>(v);
  return bits + 0x7fff + ((bits >> 16) & 1);
}

template <int N> static inline typename Vectors<N>::Float get(const float *from) {
  return load<typename Vectors<N>::Float>(from);
}

template <int N> static inline typename Vectors<N>::Float get(const Half *from) {
  typedef typename Vectors<N>::Int I;
  const auto halves = load<typename Vectors<N>::Halves>(from);
  return bits_of<typename Vectors<N>::Float>(__builtin_convertvector(halves, I) << 16);
}

template <int N> static inline void put(float *to, typename Vectors<N>::Float v) { store(to, v); }

template <int N> static inline void put(Half *to, typename Vectors<N>::Float v) {  // infinities and nan stay
  typedef typename Vectors<N>::Int I;
#if defined(__AVX512BF16__)
  if constexpr (N == 16) {
    store(to, _mm512_cvtneps_pbh((__m512)v));
    return;
  }
#endif
  const I bits = bits_of<I>(v), special = (bits & 0x7f800000) == 0x7f800000;
  const I chosen = special ? bits : rounded<N>(v);
  store(to, __builtin_convertvector((chosen >> 16) & 0xffff, typename Vectors<N>::Halves));
}

typedef unsigned int Pair;  // two bf16, whose products with another two are added up

// pairs of finite numbers; the first in the lower half of a word
template <int N>
static inline typename Vectors<N>::Int paired(typename Vectors<N>::Float first, typename Vectors<N>::Float second) {
  return ((rounded<N>(first) >> 16) & 0xffff) | (rounded<N>(second) & (int)0xffff0000);
}

// sums + numbers * number
template <int N>
static inline typename Vectors<N>::Float with_products(typename Vectors<N>::Float sums,
                                                       typename Vectors<N>::Float numbers, float number) {
  return sums + numbers * number;
}

// the same for vectors of pairs, in fp32
template <int N>
static inline typename Vectors<N>::Float with_products(typename Vectors<N>::Float sums,
                                                       typename Vectors<N>::Int pairs, Pair pair) {
#if defined(__AVX512BF16__) && defined(__AVX512VL__)
  if constexpr (N == 16) return (typename Vectors<N>::Float)_mm512_dpbf16_ps(
      (__m512)sums, (__m512bh)pairs, (__m512bh)_mm512_set1_epi32(pair));
  else return (typename Vectors<N>::Float)_mm256_dpbf16_ps(
      (__m256)sums, (__m256bh)pairs, (__m256bh)_mm256_set1_epi32(pair));
#else
  typedef typename Vectors<N>::Float V;
  const Pair upper = 0xffff0000;
  sums += bits_of<V>(pairs << 16) * bits_of<float>(pair << 16);
  return sums + bits_of<V>(pairs & (int)upper) * bits_of<float>(pair & upper);
#endif
}

// the lane that stands at `lane` once two vectors have exchanged blocks of SIZE lanes: the upper ones of the first for
// the lower ones of the second; lanes of the second count from N on
template <int N, int SIZE, bool FIRST> static constexpr int exchanged(int lane) {
  if (FIRST) return lane & SIZE ? N + lane - SIZE : lane;
  return lane & SIZE ? N + lane : lane + SIZE;
}

template <int N, int SIZE, int... LANE>
static inline void exchange(typename Vectors<N>::Int &a, typename Vectors<N>::Int &b,
                            std::integer_sequence<int, LANE...>) {
  typedef typename Vectors<N>::Int I;
#if defined(__clang__)
  const I first = __builtin_shufflevector(a, b, exchanged<N, SIZE, true>(LANE)...);
  b = __builtin_shufflevector(a, b, exchanged<N, SIZE, false>(LANE)...);
#else
  const I first = __builtin_shuffle(a, b, I{exchanged<N, SIZE, true>(LANE)...});
  b = __builtin_shuffle(a, b, I{exchanged<N, SIZE, false>(LANE)...});
#endif
  a = first;
}

// the upper of each two blocks of SIZE lanes of `a` for the lower one of `b`
template <int N, int SIZE> static inline void exchange(typename Vectors<N>::Int &a, typename Vectors<N>::Int &b) {
  exchange<N, SIZE>(a, b, std::make_integer_sequence<int, N>());
}

// the two halves of a vector
template <int N> static inline void split(typename Vectors<N>::Float v, typename Vectors<N / 2>::Float halves[2]) {
  std::memcpy(halves, &v, sizeof(v));
}

// Summed and compared in halves: one number after the other took as long as all the rest of a short row.
template <int N> static inline float sum_of(typename Vectors<N>::Float v) {
  if constexpr (N == 2) return v[0] + v[1];
  else {
    typename Vectors<N / 2>::Float halves[2];
    split<N>(v, halves);
    return sum_of<N / 2>(halves[0] + halves[1]);
  }
}

template <int N> static inline float max_of(typename Vectors<N>::Float v) {
  if constexpr (N == 2) return v[0] > v[1] ? v[0] : v[1];
  else {
    typename Vectors<N / 2>::Float halves[2];
    split<N>(v, halves);
    return max_of<N / 2>(halves[0] > halves[1] ? halves[0] : halves[1]);
  }
}

// the first `count` numbers, and another one in place of the rest
template <int N> static inline typename Vectors<N>::Float load_first(const float *from, long count, float rest) {
#if defined(__AVX512F__)
  if constexpr (N == 16)
    return (typename Vectors<N>::Float)_mm512_mask_loadu_ps(
        _mm512_set1_ps(rest), count > 0 ? (1u << count) - 1 : 0, from);
#endif
  typename Vectors<N>::Float v;
  for (int j = 0; j < N; j++) v[j] = j < count ? from[j] : rest;
  return v;
}

// e^x to about 2e-7 relative; 0 where x is minus infinity
template <int N> static inline typename Vectors<N>::Float exp_of(typename Vectors<N>::Float x) {
  typedef typename Vectors<N>::Float V;
#if defined(__AVX512DQ__)
  if constexpr (N == 16) {  // 2^t = 2^floor(t) * 2^rest, the second a polynomial (minimax over [0, 1])
    const V t = x * 1.44269504088896341f;
    const V rest = (V)_mm512_reduce_ps((__m512)t, _MM_FROUND_TO_NEG_INF);
    V p = rest * 0.00187757669f + 0.00898934063f;
    p = p * rest + 0.0558263175f;
    p = p * rest + 0.240153611f;
    p = p * rest + 0.693153083f;
    p = p * rest + 0.99999994f;
    return (V)_mm512_scalef_ps((__m512)p, (__m512)t);
  }
#endif
  typedef typename Vectors<N>::Int I;
  const V zero = {};
  const V lowest = zero - 87.0f, highest = zero + 88.0f;
  const I vanishes = x < lowest;
  V y = vanishes ? lowest : x;
  y = y > highest ? highest : y;
  const V shifted = y * 1.44269504088896341f + 12582912.0f;  // adding 1.5 * 2^23 rounds to a whole number
  const V whole = shifted - 12582912.0f;
  const V r = (y - whole * 0.693359375f) + whole * 2.12194440e-4f;  // ln 2 in two parts (Cephes)
  V p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const I power = (bits_of<I>(shifted) + 127) << 23;  // 2^whole
  return vanishes ? zero : p * bits_of<V>(power);
}
