// Small matrix products in words of 32 bits: a float, or a pair of bf16 that lie along the dimension which is summed
// over. Sums are fp32.
#pragma once
#include "vectors.h"
#include <type_traits>
#include <vector>

template <typename Number, int N> struct Kind {
  static constexpr bool PAIRS = sizeof(Number) == 2;
  static constexpr int PER = PAIRS ? 2 : 1;  // numbers in a word
  typedef typename std::conditional<PAIRS, Pair, float>::type Word;
  typedef typename std::conditional<PAIRS, typename Vectors<N>::Int, typename Vectors<N>::Float>::type Words;
};

// TILE, which library.py gives, is how many rows are computed at once, times two vectors.

static inline long up_to(long multiple, long n) { return (n + multiple - 1) / multiple * multiple; }

// products (count, COLUMNS * N) = rows (count, words) times a panel (words, COLUMNS * N); `count` is a multiple of TILE
template <typename Number, int N, int COLUMNS, typename Word = typename Kind<Number, N>::Word>
static void multiply_panel(const Word *rows, long row_step, long words, const Word *panel, long panel_step, long count,
                           float *products, long step) {
  typedef typename Vectors<N>::Float V;
  typedef typename Kind<Number, N>::Words Words;
  for (long r = 0; r < count; r += TILE, rows += TILE * row_step, products += TILE * step) {
    V sums[TILE][COLUMNS] = {};
    const Word *at = panel;
    for (long d = 0; d < words; d++, at += panel_step) {
      Words part[COLUMNS];
#pragma GCC unroll 2
      for (int m = 0; m < COLUMNS; m++) part[m] = load<Words>(at + m * N);
#pragma GCC unroll 6
      for (int i = 0; i < TILE; i++)
#pragma GCC unroll 2
        for (int m = 0; m < COLUMNS; m++) sums[i][m] = with_products<N>(sums[i][m], part[m], rows[i * row_step + d]);
    }
#pragma GCC unroll 6
    for (int i = 0; i < TILE; i++)
#pragma GCC unroll 2
      for (int m = 0; m < COLUMNS; m++) store(products + i * step + m * N, sums[i][m]);
  }
}

// sums (count, COLUMNS * N) += left (words, count) transposed times right (words, COLUMNS * N); it goes on to the next
// multiple of TILE, for which there must be room
template <typename Number, int N, int COLUMNS, typename Word = typename Kind<Number, N>::Word>
static void add_panel(const Word *left, long left_step, const Word *right, long right_step, long words, long count,
                      float *sums, long step) {
  typedef typename Vectors<N>::Float V;
  typedef typename Kind<Number, N>::Words Words;
  for (long j = 0; j < count; j += TILE) {
    V total[TILE][COLUMNS];
#pragma GCC unroll 6
    for (int i = 0; i < TILE; i++)
#pragma GCC unroll 2
      for (int m = 0; m < COLUMNS; m++) total[i][m] = load<V>(sums + (j + i) * step + m * N);
    for (long r = 0; r < words; r++) {
      Words part[COLUMNS];
#pragma GCC unroll 2
      for (int m = 0; m < COLUMNS; m++) part[m] = load<Words>(right + r * right_step + m * N);
#pragma GCC unroll 6
      for (int i = 0; i < TILE; i++)
#pragma GCC unroll 2
        for (int m = 0; m < COLUMNS; m++)
          total[i][m] = with_products<N>(total[i][m], part[m], left[r * left_step + j + i]);
    }
#pragma GCC unroll 6
    for (int i = 0; i < TILE; i++)
#pragma GCC unroll 2
      for (int m = 0; m < COLUMNS; m++) store(sums + (j + i) * step + m * N, total[i][m]);
  }
}

// products (count, n) = rows (count, words) times panels, each (words, 2 N)
template <typename Number, int N, typename Word = typename Kind<Number, N>::Word>
static void multiply(const Word *rows, long row_step, long words, const Word *panels, long n, long count,
                     float *products, long step) {
  long j = 0;
  for (; j + N < n; j += 2 * N)
    multiply_panel<Number, N, 2>(rows, row_step, words, panels + j * words, 2 * N, count, products + j, step);
  if (j < n) multiply_panel<Number, N, 1>(rows, row_step, words, panels + j * words, 2 * N, count, products + j, step);
}

// products (count, n) = rows (count, words) times right (words, n)
template <typename Number, int N, typename Word = typename Kind<Number, N>::Word>
static void multiply_plain(const Word *rows, long row_step, long words, const Word *right, long n, long count,
                           float *products) {
  long j = 0;
  for (; j + N < n; j += 2 * N)
    multiply_panel<Number, N, 2>(rows, row_step, words, right + j, n, count, products + j, n);
  if (j < n) multiply_panel<Number, N, 1>(rows, row_step, words, right + j, n, count, products + j, n);
}

// sums (count, n) += left (words, count) transposed times right (words, n)
template <typename Number, int N, typename Word = typename Kind<Number, N>::Word>
static void add_products(const Word *left, long left_step, const Word *right, long words, long count, float *sums,
                         long n) {
  long j = 0;
  for (; j + N < n; j += 2 * N) add_panel<Number, N, 2>(left, left_step, right + j, n, words, count, sums + j, n);
  if (j < n) add_panel<Number, N, 1>(left, left_step, right + j, n, words, count, sums + j, n);
}

// A square of N x N words turned over in registers: log2(N) rounds exchange blocks of 1, 2, 4, ... words.
template <int N, int SIZE = 1> static inline void turn_over(typename Vectors<N>::Int (&rows)[N]) {
  if constexpr (SIZE < N) {
#pragma GCC unroll 16
    for (int i = 0; i < N; i++)
      if (!(i & SIZE)) exchange<N, SIZE>(rows[i], rows[i + SIZE]);
    turn_over<N, 2 * SIZE>(rows);
  }
}

// N columns of rows (count, N or more), `step` words apart, become N rows, `to_step` apart; rows beyond the last are zeros
template <int N, typename Word>
static inline void transpose_square(const Word *rows, long step, long count, Word *to, long to_step) {
  typedef typename Vectors<N>::Int Words;
  Words square[N];
#pragma GCC unroll 16
  for (int i = 0; i < N; i++) square[i] = i < count ? load<Words>(rows + i * step) : Words{};
  turn_over<N>(square);
#pragma GCC unroll 16
  for (int i = 0; i < N; i++) store(to + i * to_step, square[i]);
}

// rows (count, words) transposed, in panels (words, 2 N); rows beyond the last are zeros
template <int N, typename Word> static void transpose(const Word *rows, long words, long count, Word *panels) {
  for (long t = 0; t < up_to(2 * N, count); t += N) {
    Word *panel = panels + t / (2 * N) * (2 * N) * words + t % (2 * N);
    long d = 0;
    for (; d + N <= words; d += N)
      transpose_square<N>(rows + t * words + d, words, count - t, panel + d * 2 * N, 2 * N);
    for (; d < words; d++)
      for (int j = 0; j < N; j++) panel[d * 2 * N + j] = t + j < count ? rows[(t + j) * words + d] : 0;
  }
}

// numbers (count, columns) with words across rows: (count / 2, columns); for floats they are as they are
template <typename Number, typename Word>
static const Word *across(const Number *rows, long count, long columns, Word *pairs) {
  if constexpr (sizeof(Number) == sizeof(Word)) return rows;
  else {
    for (long t = 0; t < count / 2; t++) {
      const Number *first = rows + 2 * t * columns, *second = first + columns;
      for (long d = 0; d < columns; d++) pairs[t * columns + d] = first[d] | (Word)second[d] << 16;
    }
    return pairs;
  }
}
