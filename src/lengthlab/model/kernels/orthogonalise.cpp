// Newton-Schulz steps for matrices that stay in the caches: x <- a x + (b g + c g g) x with g = x x^T, after x was
// divided by its norm; where x has more rows than columns, for its transposed.
// The products that give a symmetric matrix are computed for half of it. NUMBER is what the products take: float, or
// Half for bf16; x itself and all sums are fp32.
#include "products.h"
#include <algorithm>

constexpr int N = WIDEST;
typedef NUMBER Number;
typedef Kind<Number, N> K;
typedef K::Word Word;
typedef Vectors<N>::Float Lanes;
constexpr int PER = K::PER;
constexpr int PANEL = 2 * N;

struct Problem {
  long count, rows, columns, steps;  // multiples of 16
  const float *given, *coefficients;  // (count, rows, columns); a, b, c
  float *made;                        // (count, rows, columns)
};

static void transpose_all(const float *matrix, long rows, long columns, float *to) {
  for (long i = 0; i < rows; i += N)
    for (long j = 0; j < columns; j += N)
      transpose_square<N>(matrix + i * columns + j, columns, N, to + j * rows + i, rows);
}

static float norm_of(const float *matrix, long size) {
  Lanes squares = {};
  for (long i = 0; i < size; i += N) squares += load<Lanes>(matrix + i) * load<Lanes>(matrix + i);
  return std::sqrt(sum_of<N>(squares));
}

static void round_to(const std::vector<float> &from, std::vector<Number> &to, long size) {
  for (long i = 0; i < size; i += N) put<N>(to.data() + i, load<Lanes>(from.data() + i));
}

// square (n, n), of which the blocks of PANEL columns are known from the diagonal on downwards: the rest of it
static void mirror(std::vector<float> &square, long n) {
  for (long i = PANEL; i < n; i += N)
    for (long j = 0; j < i / PANEL * PANEL; j += N)
      transpose_square<N>(square.data() + i * n + j, n, N, square.data() + j * n + i, n);
}

// square (n, n) = rows (n, words) times panels, `panel_step` words between two rows of one and `next` between two; the
// result is known to be symmetric
static void multiply_symmetric(const Word *rows, long words, const Word *panels, long panel_step, long next, long n,
                               std::vector<float> &square) {
  for (long j = 0; j < n; j += PANEL) {
    const long first = j / TILE * TILE, count = up_to(TILE, n - first);
    const Word *left = rows + first * words, *panel = panels + j / PANEL * next;
    float *to = square.data() + first * n + j;
    if (j + N < n) multiply_panel<Number, N, 2>(left, words, words, panel, panel_step, count, to, n);
    else multiply_panel<Number, N, 1>(left, words, words, panel, panel_step, count, to, n);
  }
  mirror(square, n);
}

extern "C" void orthogonalise(const Problem *p) {
  const bool tall = p->rows > p->columns;
  const long rows = tall ? p->columns : p->rows, columns = tall ? p->rows : p->columns, size = rows * columns;
  const long padded = up_to(TILE, rows);  // what lies beyond the last row is computed too, and never read
  const float a = p->coefficients[0], b = p->coefficients[1], c = p->coefficients[2];
  std::vector<Number> x(padded * columns), gram(padded * rows), mixed(padded * rows);
  std::vector<Word> panels(up_to(PANEL, rows) * columns / PER), pairs(padded * columns / PER);
  std::vector<float> values(size), products(padded * columns), square(padded * rows), quartic(padded * rows);
  for (long m = 0; m < p->count; m++) {
    const float *given = p->given + m * size;
    if (tall) transpose_all(given, columns, rows, values.data());
    else std::memcpy(values.data(), given, size * sizeof(float));
    const float inverse = 1 / std::max(norm_of(given, size), 1e-7f);
    for (long i = 0; i < size; i += N) store(values.data() + i, load<Lanes>(values.data() + i) * inverse);
    for (long step = 0; step < p->steps; step++) {
      round_to(values, x, size);
      transpose<N>((const Word *)x.data(), columns / PER, rows, panels.data());
      multiply_symmetric((const Word *)x.data(), columns / PER, panels.data(), PANEL, PANEL * (columns / PER), rows,
                         square);
      round_to(square, gram, rows * rows);
      const Word *right = across(gram.data(), rows, rows, pairs.data());
      multiply_symmetric((const Word *)gram.data(), rows / PER, right, rows, PANEL, rows, quartic);
      for (long i = 0; i < rows * rows; i += N)
        put<N>(mixed.data() + i, get<N>(gram.data() + i) * b + load<Lanes>(quartic.data() + i) * c);
      right = across(x.data(), rows, columns, pairs.data());
      multiply_plain<Number, N>((const Word *)mixed.data(), rows / PER, rows / PER, right, columns, padded,
                                products.data());
      for (long i = 0; i < size; i += N)
        store(values.data() + i, get<N>(x.data() + i) * a + load<Lanes>(products.data() + i));
    }
    if (tall) transpose_all(values.data(), rows, columns, p->made + m * size);
    else std::memcpy(p->made + m * size, values.data(), size * sizeof(float));
  }
}
