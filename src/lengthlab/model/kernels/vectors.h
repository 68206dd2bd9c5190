// Vectors of floats as the compiler knows them (GCC and Clang), in the widest registers that the processor has.
#pragma once
#include <cmath>
#include <cstring>

#if defined(__AVX512F__)
constexpr int WIDEST = 16;
#else
constexpr int WIDEST = 8;
#endif

template <int N> struct Vectors {
  typedef float Float __attribute__((vector_size(4 * N)));
  typedef int Int __attribute__((vector_size(4 * N)));
};

template <typename V> static inline V load(const float *from) {
  V v;
  std::memcpy(&v, from, sizeof(V));
  return v;
}

template <typename V> static inline void store(float *to, V v) { std::memcpy(to, &v, sizeof(V)); }

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

// e^x to about 1e-7 relative; exactly 0 below -87 (minus infinity included), cut at 88.
template <int N> static inline typename Vectors<N>::Float exp_of(typename Vectors<N>::Float x) {
  typedef typename Vectors<N>::Float V;
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
  I bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits + 127) << 23;  // 2^whole
  V power;
  std::memcpy(&power, &bits, sizeof(power));
  return vanishes ? zero : p * power;
}
