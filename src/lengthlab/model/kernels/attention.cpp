// softmax(scale q k + bias) v for one thread, forward and backward, with the gradient of the bias.
//
// One head of one example at a time: its keys and values (transposed too) stay in the caches, logits and weights exist
// for a block of queries only, and keys beyond `reach` of a block's last query are never touched. The backward pass
// recomputes the weights from the logarithm of their sum.
//
// HEAD is the width of a head. NUMBER is what queries, keys, values and their gradients are: float, or Half for bf16.
// Logits, weights, sums and the bias are fp32. For products of bf16 the weights and the gradients of the logits are
// rounded; queries, keys and values are bf16 as they come.
#include "products.h"

constexpr int D = HEAD;
constexpr int N = D % WIDEST == 0 ? WIDEST : 8;
typedef NUMBER Number;
typedef Kind<Number, N> K;
typedef K::Word Word;
typedef Vectors<N>::Float V;
constexpr bool PAIRS = K::PAIRS;
constexpr int PER = K::PER;
constexpr int WORDS = D / PER;  // of a row
constexpr int BLOCK = 12;       // queries whose weights exist at a time
constexpr int GROUP = 4;        // examples whose heads follow each other
static_assert(BLOCK % TILE == 0, "whole tiles");

struct Place {  // an example and a head
  long b, h;
};

template <typename T> struct Rows {  // (1 or B, 1 or H, T, D or Tk) in memory; the step is 0 where all share one
  T *start;
  long example, head, token;
  T *row(Place at, long t) const { return start + at.b * example + at.h * head + t * token; }
};

struct Problem {
  Rows<Number> q, k, v;
  Rows<float> bias;
  float *log_sums;  // (B, H, Tq)
  const long *reach;  // (Tq): how many keys may matter to each query, never fewer than to the one before
  long heads, queries, keys;
  float scale;
  Rows<Number> out;  // forward only
  Rows<Number> d_out, d_q, d_k, d_v;  // backward only, and the next
  Rows<float> d_bias;  // added to; nothing if it starts nowhere
  float *log_sum(Place at, long query) const { return log_sums + (at.b * heads + at.h) * queries + query; }
};

// `count` rows as they are, words along a row; zeros up to `room` rows
static void copy(const Rows<Number> &from, Place at, long first, long count, long room, Word *rows) {
  for (long t = 0; t < count; t++) std::memcpy(rows + t * WORDS, from.row(at, first + t), D * sizeof(Number));
  std::memset(rows + count * WORDS, 0, (room - count) * WORDS * sizeof(Word));
}

// scale * products + bias, where there are keys; minus infinity beyond
static inline V logits(const float *products, const float *bias, float scale, long j, long n) {
  const V added = j + N <= n ? load<V>(bias + j) : load_first<N>(bias + j, n - j, -INFINITY);
  return load<V>(products + j) * scale + added;
}

// Products of a query become weights that are still to be divided by their sum, in words along the keys. Returns the
// sum, and writes the logarithm from which the backward pass finds the weights again.
static float weigh(float *products, const float *bias, float scale, long n, Word *words, float *log_sum) {
  V top = logits(products, bias, scale, 0, n);
  store(products, top);
  for (long j = N; j < n; j += N) {
    const V x = logits(products, bias, scale, j, n);
    store(products + j, x);
    top = x > top ? x : top;
  }
  const float highest = max_of<N>(top);
  V total = {};
  for (long j = 0; j < n; j += N) {
    const V x = exp_of<N>(load<V>(products + j) - highest);
    put<N>((Number *)words + j, x);
    total += x;
  }
  const float sum = sum_of<N>(total);
  *log_sum = highest + std::log(sum);
  return sum;
}

struct Query {  // in the backward pass
  float *weights, *slopes;  // at first its products with the keys, and those of its d_out with the values
  const float *bias;
  float *d_bias;  // nothing if nobody wants it
  float log_sum;  // infinite if there is no such query
  Word *slopes_along_keys;
};

// Finds the weights of two queries again, and the gradients of their logits; in words along the keys and, for pairs,
// along the two queries.
static void weigh_back(const Query (&two)[2], float scale, long n, Word *weight_pairs, Word *slope_pairs) {
  float delta[2];
  for (int r = 0; r < 2; r++) {
    V along = {};
    for (long j = 0; j < n; j += N) {
      const V x = exp_of<N>(logits(two[r].weights, two[r].bias, scale, j, n) - two[r].log_sum);
      store(two[r].weights + j, x);
      along += x * load<V>(two[r].slopes + j);
    }
    delta[r] = sum_of<N>(along);
  }
  for (long j = 0; j < n; j += N) {
    V weight[2], slope[2];
#pragma GCC unroll 2
    for (int r = 0; r < 2; r++) {
      weight[r] = load<V>(two[r].weights + j);
      slope[r] = (load<V>(two[r].slopes + j) - delta[r]) * weight[r];
      put<N>((Number *)two[r].slopes_along_keys + j, slope[r]);
      if (float *d_bias = two[r].d_bias) {
        if (j + N <= n) store(d_bias + j, load<V>(d_bias + j) + slope[r]);
        else for (long m = 0; j + m < n; m++) d_bias[j + m] += slope[r][m];
      }
    }
    if constexpr (PAIRS) {
      store(weight_pairs + j, paired<N>(weight[0], weight[1]));
      store(slope_pairs + j, paired<N>(slope[0], slope[1]));
    }
  }
  for (long j = up_to(N, n); j < up_to(TILE, n); j++)  // which `add_products` takes along
    if constexpr (PAIRS) weight_pairs[j] = slope_pairs[j] = 0;
    else for (const Query &one : two) one.weights[j] = one.slopes_along_keys[j] = 0;
}

// a row of numbers, times a factor
static void put_row(Number *to, const float *from, float factor) {
  for (int d = 0; d < D; d += N) put<N>(to + d, load<V>(from + d) * factor);
}

// What products need of keys, values, queries or d_out: as they are, with words across them, transposed.
struct Side {
  std::vector<Word> plain, pairs, panels;
  const Word *crossed = nullptr;
  explicit Side(long room) : plain(room * WORDS), pairs(PAIRS ? room * WORDS : 0), panels(room * WORDS) {}
  void gather(const Rows<Number> &from, Place at, long first, long count, long room) {
    copy(from, at, first, count, room, plain.data());
  }
  void cross(long room) { crossed = across((const Number *)plain.data(), room, D, pairs.data()); }
  void turn(long count) { transpose<N>(plain.data(), WORDS, count, panels.data()); }
};

// Asks for rows that the next head will need. Inlined: GCC drops calls of a function that does nothing but ask.
__attribute__((always_inline)) static inline void ask(const Rows<Number> &from, Place next, long first, long last) {
  for (long t = first; t < last; t++)
    for (int d = 0; d < D; d += 64 / sizeof(Number)) __builtin_prefetch(from.row(next, t) + d, 0, 2);
}

// the same for all that it needs, as many of its keys as there are queries in a block
__attribute__((always_inline)) static inline void ask(const Problem *p, Place next, long query, long count) {
  const long first = p->keys * query / p->queries, last = p->keys * (query + count) / p->queries;
  ask(p->q, next, query, query + count);
  ask(p->k, next, first, last);
  ask(p->v, next, first, last);
}

// Every head of every example. Heads of a few examples follow each other: one head's bias serves all of them, and the
// rows of all heads lie close together.
static std::vector<Place> all_heads(Place first, Place last) {
  std::vector<Place> places;
  for (long group = first.b; group < last.b; group += GROUP)
    for (long h = first.h; h < last.h; h++)
      for (long b = group; b < last.b && b < group + GROUP; b++) places.push_back({b, h});
  return places;
}

extern "C" void forward(const Problem *p, long first_example, long last_example, long first_head, long last_head) {
  const long width = up_to(2 * N, p->keys + TILE);
  Side keys(width), values(width);
  std::vector<float> products(BLOCK * width);
  std::vector<Word> weights(BLOCK * width / PER);
  Word rows[BLOCK * WORDS];
  float mixed[BLOCK * D], sums[BLOCK];
  const auto places = all_heads({first_example, first_head}, {last_example, last_head});
  for (size_t at = 0; at < places.size(); at++) {
    const Place here = places[at];
    keys.gather(p->k, here, 0, p->keys, width);
    keys.turn(p->keys);
    values.gather(p->v, here, 0, p->keys, width);
    values.cross(width);
    for (long i = 0; i < p->queries; i += BLOCK) {
      const long count = p->queries - i < BLOCK ? p->queries - i : BLOCK, n = p->reach[i + count - 1];
      if (at + 1 < places.size()) ask(p, places[at + 1], i, count);
      copy(p->q, here, i, count, BLOCK, rows);
      multiply<Number, N>(rows, WORDS, WORDS, keys.panels.data(), n, BLOCK, products.data(), width);
      for (long r = 0; r < count; r++)
        sums[r] = weigh(products.data() + r * width, p->bias.row(here, i + r), p->scale, n,
                        weights.data() + r * width / PER, p->log_sum(here, i + r));
      multiply_plain<Number, N>(weights.data(), width / PER, (n + PER - 1) / PER, values.crossed, D, BLOCK, mixed);
      for (long r = 0; r < count; r++) put_row(p->out.row(here, i + r), mixed + r * D, 1 / sums[r]);
    }
  }
}

extern "C" void backward(const Problem *p, long first_example, long last_example, long first_head, long last_head) {
  const long width = up_to(2 * N, p->keys + TILE);
  Side keys(width), values(width), queries(BLOCK), d_out(BLOCK);
  std::vector<float> d_keys(width * D), d_values(width * D), weights(BLOCK * width), slopes(BLOCK * width);
  std::vector<Word> slopes_along_keys(BLOCK * width / PER);
  std::vector<Word> weight_pairs(PAIRS ? BLOCK / 2 * width : 0), slope_pairs(PAIRS ? BLOCK / 2 * width : 0);
  const Word *weights_along_queries = PAIRS ? weight_pairs.data() : (const Word *)weights.data();
  const Word *slopes_along_queries = PAIRS ? slope_pairs.data() : slopes_along_keys.data();
  float mixed[BLOCK * D];
  const auto places = all_heads({first_example, first_head}, {last_example, last_head});
  for (size_t at = 0; at < places.size(); at++) {
    const Place here = places[at];
    keys.gather(p->k, here, 0, p->keys, width);
    keys.turn(p->keys);
    keys.cross(width);
    values.gather(p->v, here, 0, p->keys, width);
    values.turn(p->keys);
    std::memset(d_keys.data(), 0, width * D * sizeof(float));
    std::memset(d_values.data(), 0, width * D * sizeof(float));
    for (long i = 0; i < p->queries; i += BLOCK) {
      const long count = p->queries - i < BLOCK ? p->queries - i : BLOCK, n = p->reach[i + count - 1];
      if (at + 1 < places.size()) {
        ask(p, places[at + 1], i, count);
        ask(p->d_out, places[at + 1], i, i + count);
      }
      queries.gather(p->q, here, i, count, BLOCK);
      queries.cross(BLOCK);
      d_out.gather(p->d_out, here, i, count, BLOCK);
      d_out.cross(BLOCK);
      multiply<Number, N>(queries.plain.data(), WORDS, WORDS, keys.panels.data(), n, BLOCK, weights.data(), width);
      multiply<Number, N>(d_out.plain.data(), WORDS, WORDS, values.panels.data(), n, BLOCK, slopes.data(), width);
      for (long r = 0; r < BLOCK; r += 2) {
        Query two[2];
        for (long m = 0; m < 2; m++) {
          const bool exists = r + m < count;
          const long query = i + (exists ? r + m : 0);
          two[m] = {weights.data() + (r + m) * width,
                    slopes.data() + (r + m) * width,
                    p->bias.row(here, query),
                    exists && p->d_bias.start ? p->d_bias.row(here, query) : nullptr,
                    exists ? *p->log_sum(here, query) : INFINITY,
                    slopes_along_keys.data() + (r + m) * width / PER};
        }
        weigh_back(two, p->scale, n, weight_pairs.data() + r / 2 * width, slope_pairs.data() + r / 2 * width);
      }
      multiply_plain<Number, N>(slopes_along_keys.data(), width / PER, (n + PER - 1) / PER, keys.crossed, D, BLOCK,
                                mixed);
      add_products<Number, N>(weights_along_queries, width, d_out.crossed, BLOCK / PER, n, d_values.data(), D);
      add_products<Number, N>(slopes_along_queries, width, queries.crossed, BLOCK / PER, n, d_keys.data(), D);
      for (long r = 0; r < count; r++) put_row(p->d_q.row(here, i + r), mixed + r * D, p->scale);
    }
    for (long t = 0; t < p->keys; t++) {
      put_row(p->d_k.row(here, t), d_keys.data() + t * D, p->scale);
      put_row(p->d_v.row(here, t), d_values.data() + t * D, 1);
    }
  }
}
