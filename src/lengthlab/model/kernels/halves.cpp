// The halves of a block before and after its attention, forward and backward:
//
//     q, k, v = norm(x) times three matrices
//     x1 = x + norm(attended out), n = norm(x1), x2 = x1 + norm(geglu(n gate, n up) down)
//
// A call takes the rows from `begin` to `end`; ROWS at a time go through all of it and stay in the caches. What is kept
// for the backward pass: what the norms read, and gate and up. NUMBER is what the products take: float, or Half for
// bf16; x, which is added up along the blocks, is fp32 always.
#include "products.h"
#include "rows.h"
#include <algorithm>

constexpr int N = WIDEST;
typedef NUMBER Number;
typedef Kind<Number, N> K;
typedef K::Word Word;
constexpr int PER = K::PER;
static_assert(ROWS % TILE == 0, "whole tiles");

struct First {
  long width, parts;      // up to three matrices
  const float *x, *gain;  // (rows, width), (width)
  const Number *weights;  // (parts * width, width)
  float *inverse;         // kept
  union {
    Number *made[3];  // (rows, width) each
    struct {
      float *d_x, *d_gain, *d_weights;  // weights with room for a tile more; gain and weights added to
      const Number *d_made[3];
    } back;
  };
};

struct Second {
  long width, hidden;
  const Number *attended;              // (rows, width)
  const float *x;                      // (rows, width)
  const float *gain[3];                // (width): after attention, before and after the feed-forward
  const Number *out, *gate_up, *down;  // (width, width), (2 hidden, width), (width, hidden)
  Number *y, *joined, *z;              // kept: attended out, gate and up side by side, geglu down
  float *x1, *inverse[3];              // kept
  union {
    float *x2;
    const float *d_x2;  // in the backward pass, as are the following
  };
  Number *d_attended;
  float *d_x, *d_gain[3], *d_out, *d_gate_up, *d_down;  // weights with room for a tile more; gains and weights added to
};

// a matrix (rows, columns) in panels for products that sum over its columns
static std::vector<Word> panels_along(const Number *matrix, long rows, long columns) {
  std::vector<Word> panels(up_to(2 * N, rows) * columns / PER);
  transpose<N>((const Word *)matrix, columns / PER, rows, panels.data());
  return panels;
}

// the same for products that sum over its rows
static std::vector<Word> panels_across(const Number *matrix, long rows, long columns) {
  std::vector<Word> pairs(rows / PER * columns), panels(rows / PER * up_to(2 * N, columns));
  const Word *words = across(matrix, rows, columns, pairs.data());
  for (long c = 0; c < columns; c += 2 * N)
    for (long r = 0; r < rows / PER; r++)
      std::memcpy(panels.data() + c * (rows / PER) + r * 2 * N, words + r * columns + c,
                  (columns - c < 2 * N ? columns - c : 2 * N) * sizeof(Word));
  return panels;
}

static void round_row(const float *from, Number *to, long width) {
  for (long j = 0; j < width; j += N) put<N>(to + j, load<Lanes>(from + j));
}

// what lies beyond the last row counts nothing
static void clear(std::vector<Number> &rows, long count, long columns) {
  std::fill(rows.begin() + count * columns, rows.begin() + ROWS * columns, Number(0));
}

// the rows where they lie, if there are ROWS of them; else a copy with room for as many
static const Number *whole(const Number *rows, long count, long columns, std::vector<Number> &room) {
  if (count == ROWS) return rows;
  std::memcpy(room.data(), rows, count * columns * sizeof(Number));
  return room.data();
}

// products (ROWS, n) = rows (ROWS, columns) times a matrix in panels
static void times(const Number *rows, long columns, const std::vector<Word> &panels, long n,
                  std::vector<float> &products) {
  multiply<Number, N>((const Word *)rows, columns / PER, columns / PER, panels.data(), n, ROWS, products.data(),
                      n);
}

// sums (n, columns) += left (ROWS, n) transposed times right (ROWS, columns)
static void add_up(const Number *left, long n, const Number *right, long columns,
                   std::vector<Word> &left_pairs, std::vector<Word> &right_pairs, float *sums) {
  const Word *a = across(left, ROWS, n, left_pairs.data());
  const Word *b = across(right, ROWS, columns, right_pairs.data());
  add_products<Number, N>(a, n, b, ROWS / PER, n, sums, columns);
}

extern "C" void first_forward(const First *p, long begin, long end) {
  const long width = p->width, columns = p->parts * width;
  const auto weights = panels_along(p->weights, columns, width);
  std::vector<Number> normed(ROWS * width);
  std::vector<float> products(ROWS * columns);
  for (long first = begin; first < end; first += ROWS) {
    const long count = end - first < ROWS ? end - first : ROWS;
    for (long r = 0; r < count; r++) {
      const float *x = p->x + (first + r) * width;
      const float inverse = p->inverse[first + r] = inverse_of(x, width);
      norm_row(x, p->gain, nullptr, inverse, normed.data() + r * width, width);
    }
    times(normed.data(), width, weights, columns, products);
    for (long r = 0; r < count; r++)
      for (long part = 0; part < p->parts; part++)
        round_row(products.data() + r * columns + part * width, p->made[part] + (first + r) * width, width);
  }
}

extern "C" void first_backward(const First *p, long begin, long end) {
  const long width = p->width, columns = p->parts * width;
  const auto weights = panels_across(p->weights, columns, width);
  const long room = ROWS * columns + TILE;
  std::vector<Number> normed(room), d_made(room);
  std::vector<float> products(ROWS * width);
  std::vector<Word> left(room), right(room);
  for (long first = begin; first < end; first += ROWS) {
    const long count = end - first < ROWS ? end - first : ROWS;
    for (long r = 0; r < count; r++)
      for (long part = 0; part < p->parts; part++)
        std::memcpy(d_made.data() + r * columns + part * width, p->back.d_made[part] + (first + r) * width,
                    width * sizeof(Number));
    clear(d_made, count, columns);
    times(d_made.data(), columns, weights, width, products);
    for (long r = 0; r < count; r++) {
      const float *x = p->x + (first + r) * width;
      const float inverse = p->inverse[first + r];
      norm_row(x, p->gain, nullptr, inverse, normed.data() + r * width, width);
      norm_row_back(x, p->gain, inverse, products.data() + r * width, nullptr, p->back.d_x + (first + r) * width,
                    p->back.d_gain, width);
    }
    add_up(d_made.data(), columns, normed.data(), width, left, right, p->back.d_weights);
  }
}

extern "C" void second_forward(const Second *p, long begin, long end) {
  const long width = p->width, hidden = p->hidden, widest = width > 2 * hidden ? width : 2 * hidden;
  const auto out = panels_along(p->out, width, width), gate_up = panels_along(p->gate_up, 2 * hidden, width);
  const auto down = panels_along(p->down, width, hidden);
  std::vector<Number> attended(ROWS * width), normed(ROWS * width), mixed(ROWS * hidden);
  std::vector<float> products(ROWS * widest);
  for (long first = begin; first < end; first += ROWS) {
    const long count = end - first < ROWS ? end - first : ROWS, at = first * width;
    times(whole(p->attended + at, count, width, attended), width, out, width, products);
    for (long r = 0; r < count; r++) {
      Number *y = p->y + at + r * width;
      float *x1 = p->x1 + at + r * width;
      round_row(products.data() + r * width, y, width);
      const float inverse = p->inverse[0][first + r] = inverse_of(y, width);
      norm_row(y, p->gain[0], p->x + at + r * width, inverse, x1, width);
      const float next = p->inverse[1][first + r] = inverse_of(x1, width);
      norm_row(x1, p->gain[1], nullptr, next, normed.data() + r * width, width);
    }
    times(normed.data(), width, gate_up, 2 * hidden, products);
    for (long r = 0; r < count; r++) {
      Number *joined = p->joined + (first + r) * 2 * hidden;
      round_row(products.data() + r * 2 * hidden, joined, 2 * hidden);
      geglu_row(joined, joined + hidden, mixed.data() + r * hidden, hidden);
    }
    times(mixed.data(), hidden, down, width, products);
    for (long r = 0; r < count; r++) {
      Number *z = p->z + at + r * width;
      round_row(products.data() + r * width, z, width);
      const float inverse = p->inverse[2][first + r] = inverse_of(z, width);
      norm_row(z, p->gain[2], p->x1 + at + r * width, inverse, p->x2 + at + r * width, width);
    }
  }
}

extern "C" void second_backward(const Second *p, long begin, long end) {
  const long width = p->width, hidden = p->hidden, widest = width > 2 * hidden ? width : 2 * hidden;
  const auto out = panels_across(p->out, width, width), gate_up = panels_across(p->gate_up, 2 * hidden, width);
  const auto down = panels_across(p->down, width, hidden);
  const long room = ROWS * widest + TILE;
  std::vector<Number> attended(room), normed(room), mixed(room), d_y(room), d_joined(room), d_z(room);
  std::vector<float> products(ROWS * widest);
  std::vector<Word> left(room), right(room);
  for (long first = begin; first < end; first += ROWS) {
    const long count = end - first < ROWS ? end - first : ROWS, at = first * width;
    for (long r = 0; r < count; r++) {
      const long row = first + r, here = row * width;
      norm_row_back(p->z + here, p->gain[2], p->inverse[2][row], p->d_x2 + here, nullptr, d_z.data() + r * width,
                    p->d_gain[2], width);
    }
    clear(d_z, count, width);
    times(d_z.data(), width, down, hidden, products);
    for (long r = 0; r < count; r++) {
      const Number *gate = p->joined + (first + r) * 2 * hidden;
      Number *d_gate = d_joined.data() + r * 2 * hidden;
      geglu_row_back(gate, gate + hidden, products.data() + r * hidden, d_gate, d_gate + hidden,
                     mixed.data() + r * hidden, hidden);
    }
    clear(d_joined, count, 2 * hidden);
    add_up(d_z.data(), width, mixed.data(), hidden, left, right, p->d_down);
    times(d_joined.data(), 2 * hidden, gate_up, width, products);
    for (long r = 0; r < count; r++) {
      const long row = first + r, here = row * width;
      norm_row(p->x1 + here, p->gain[1], nullptr, p->inverse[1][row], normed.data() + r * width, width);
      norm_row_back(p->x1 + here, p->gain[1], p->inverse[1][row], products.data() + r * width, p->d_x2 + here,
                    p->d_x + here, p->d_gain[1], width);
      norm_row_back(p->y + here, p->gain[0], p->inverse[0][row], p->d_x + here, nullptr, d_y.data() + r * width,
                    p->d_gain[0], width);
    }
    clear(d_y, count, width);
    add_up(d_joined.data(), 2 * hidden, normed.data(), width, left, right, p->d_gate_up);
    times(d_y.data(), width, out, width, products);
    for (long r = 0; r < count; r++)
      round_row(products.data() + r * width, p->d_attended + at + r * width, width);
    add_up(d_y.data(), width, whole(p->attended + at, count, width, attended), width, left, right, p->d_out);
  }
}
