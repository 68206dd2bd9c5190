// softmax(scale q k + bias) v for one thread, forward and backward, with the gradient of the bias.
//
// One head of one example at a time: its keys and values (transposed too) stay in the caches, logits and weights exist
// for a block of queries only, and keys beyond `reach` of a block's last query are never touched. The backward pass
// recomputes the weights from the logarithm of their sum. All in fp32. HEAD is the width of a head.
#include "vectors.h"
#include <vector>

constexpr int N = HEAD % WIDEST == 0 ? WIDEST : 8;
typedef Vectors<N>::Float V;
constexpr int D = HEAD;
constexpr int CHUNK = D / N % 2 ? 1 : 2;   // vectors of a row that are summed up at once
constexpr int ROWS = 12 / CHUNK;             // rows at once: twelve of the sixteen registers hold sums
constexpr int TILE = 6, WIDE = 2 * N;        // queries x keys whose logits are computed at once, for the same reason
constexpr int BLOCK = 24;                    // queries whose weights exist at a time
static_assert(D % (CHUNK * N) == 0 && BLOCK % TILE == 0 && BLOCK % ROWS == 0, "sizes that divide each other");

struct Rows {  // (B, H, T, D) somewhere in memory; steps in floats, rows are contiguous
  float *start;
  long example, head, token;
  float *row(long b, long h, long t) const { return start + b * example + h * head + t * token; }
};

struct Bias {  // (1 or B, 1 or H, Tq, Tk); the step is 0 where all share one
  float *start;
  long example, head, token;
  float *row(long b, long h, long t) const { return start + b * example + h * head + t * token; }
};

struct Problem {
  Rows q, k, v, out;
  Bias bias;
  float *log_sums;  // (B, H, Tq)
  const long *reach;  // (Tq): how many keys may matter to each query, never fewer than to the one before
  long heads, queries, keys;
  float scale;
  // backward only
  Rows d_out, d_q, d_k, d_v;
  Bias d_bias;  // added to; nothing if it starts nowhere
};

static long padded(long n) { return (n + WIDE - 1) / WIDE * WIDE; }

// the first `count` rows of `from` side by side, zeros up to `width`; and transposed, in panels (D, WIDE)
static void gather(const Rows &from, long b, long h, long count, long width, float *rows, float *transposed) {
  for (long t = 0; t < count; t++) std::memcpy(rows + t * D, from.row(b, h, t), D * sizeof(float));
  std::memset(rows + count * D, 0, (width - count) * D * sizeof(float));
  if (!transposed) return;
  for (long t = 0; t < padded(count); t += WIDE)
    for (int d = 0; d < D; d++)
      for (int j = 0; j < WIDE; j++) transposed[t * D + d * WIDE + j] = rows[(t + j) * D + d];
}

// products (BLOCK, keys) = rows (BLOCK, D) times transposed rows (keys, D), for the first `n` keys
static void multiply(const float *rows, const float *transposed, long width, long n, float *products) {
  for (long j = 0; j < n; j += WIDE)
    for (int r = 0; r < BLOCK; r += TILE) {
      V sums[TILE][2] = {};
      const float *column = transposed + j * D;
      for (int d = 0; d < D; d++, column += WIDE) {
        const V left = load<V>(column), right = load<V>(column + N);
#pragma GCC unroll 6
        for (int i = 0; i < TILE; i++) {
          const float x = rows[(r + i) * D + d];
          sums[i][0] += left * x;
          sums[i][1] += right * x;
        }
      }
#pragma GCC unroll 6
      for (int i = 0; i < TILE; i++) {
        store(products + (r + i) * width + j, sums[i][0]);
        store(products + (r + i) * width + j + N, sums[i][1]);
      }
    }
}

// mixed (BLOCK, D) = weights (BLOCK, keys) times rows (keys, D), of the first `n` keys
static void mix(const float *weights, const float *rows, long width, long n, float *mixed) {
  for (int r = 0; r < BLOCK; r += ROWS)
    for (int c = 0; c < D; c += CHUNK * N) {
      V sums[ROWS][CHUNK] = {};
      for (long j = 0; j < n; j++) {
        V part[CHUNK];
#pragma GCC unroll 2
        for (int m = 0; m < CHUNK; m++) part[m] = load<V>(rows + j * D + c + m * N);
#pragma GCC unroll 12
        for (int i = 0; i < ROWS; i++) {
          const float w = weights[(r + i) * width + j];
#pragma GCC unroll 2
          for (int m = 0; m < CHUNK; m++) sums[i][m] += part[m] * w;
        }
      }
#pragma GCC unroll 12
      for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 2
        for (int m = 0; m < CHUNK; m++) store(mixed + (r + i) * D + c + m * N, sums[i][m]);
    }
}

// sums (keys, D) += weights (BLOCK, keys) transposed times rows (BLOCK, D), for the first `n` keys
static void mix_back(const float *weights, const float *rows, long width, long n, float *sums) {
  for (long j = 0; j < n; j += ROWS)  // the arrays have room for a few keys beyond the last, whose weights are 0
    for (int c = 0; c < D; c += CHUNK * N) {
      V total[ROWS][CHUNK];
#pragma GCC unroll 12
      for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 2
        for (int m = 0; m < CHUNK; m++) total[i][m] = load<V>(sums + (j + i) * D + c + m * N);
      for (int r = 0; r < BLOCK; r++) {
        V part[CHUNK];
#pragma GCC unroll 2
        for (int m = 0; m < CHUNK; m++) part[m] = load<V>(rows + r * D + c + m * N);
#pragma GCC unroll 12
        for (int i = 0; i < ROWS; i++) {
          const float w = weights[r * width + j + i];
#pragma GCC unroll 2
          for (int m = 0; m < CHUNK; m++) total[i][m] += part[m] * w;
        }
      }
#pragma GCC unroll 12
      for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 2
        for (int m = 0; m < CHUNK; m++) store(sums + (j + i) * D + c + m * N, total[i][m]);
    }
}

// scale * products + bias, where there are keys; minus infinity beyond
static void add_bias(float *logits, const float *bias, float scale, long n, long end) {
  long j = 0;
  for (; j + N <= n; j += N) store(logits + j, load<V>(logits + j) * scale + load<V>(bias + j));
  for (; j < n; j++) logits[j] = logits[j] * scale + bias[j];
  for (; j < end; j++) logits[j] = -INFINITY;
}

extern "C" void forward(const Problem *p, long first_example, long last_example, long first_head, long last_head) {
  const long width = padded(p->keys) + ROWS * 4;
  std::vector<float> keys(width * D), transposed(width * D), values(width * D), weights(BLOCK * width);
  float rows[BLOCK * D], mixed[BLOCK * D];
  for (long h = first_head; h < last_head; h++)
    for (long b = first_example; b < last_example; b++) {
      gather(p->k, b, h, p->keys, width, keys.data(), transposed.data());
      gather(p->v, b, h, p->keys, width, values.data(), nullptr);
      for (long i = 0; i < p->queries; i += BLOCK) {
        const long count = p->queries - i < BLOCK ? p->queries - i : BLOCK;
        const long n = p->reach[i + count - 1], end = padded(n);
        std::memset(rows, 0, sizeof(rows));
        for (long r = 0; r < count; r++) std::memcpy(rows + r * D, p->q.row(b, h, i + r), D * sizeof(float));
        multiply(rows, transposed.data(), width, n, weights.data());
        float inverse[BLOCK];
        for (long r = 0; r < count; r++) {
          float *w = weights.data() + r * width;
          add_bias(w, p->bias.row(b, h, i + r), p->scale, n, end);
          V top = load<V>(w);
          for (long j = N; j < end; j += N) {
            const V x = load<V>(w + j);
            top = x > top ? x : top;
          }
          const float highest = max_of<N>(top);
          V total = {};
          for (long j = 0; j < end; j += N) {
            const V x = exp_of<N>(load<V>(w + j) - highest);
            store(w + j, x);
            total += x;
          }
          const float sum = sum_of<N>(total);
          inverse[r] = 1 / sum;
          p->log_sums[(b * p->heads + h) * p->queries + i + r] = highest + std::log(sum);
        }
        mix(weights.data(), values.data(), width, n, mixed);
        for (long r = 0; r < count; r++) {
          float *out = p->out.row(b, h, i + r);
          for (int d = 0; d < D; d++) out[d] = mixed[r * D + d] * inverse[r];
        }
      }
    }
}

extern "C" void backward(const Problem *p, long first_example, long last_example, long first_head, long last_head) {
  const long width = padded(p->keys) + ROWS * 4;
  std::vector<float> keys(width * D), values(width * D), k_transposed(width * D), v_transposed(width * D);
  std::vector<float> d_keys(width * D), d_values(width * D), weights(BLOCK * width), slopes(BLOCK * width);
  float rows[BLOCK * D], d_rows[BLOCK * D], mixed[BLOCK * D];
  for (long h = first_head; h < last_head; h++)
    for (long b = first_example; b < last_example; b++) {
      gather(p->k, b, h, p->keys, width, keys.data(), k_transposed.data());
      gather(p->v, b, h, p->keys, width, values.data(), v_transposed.data());
      std::memset(d_keys.data(), 0, width * D * sizeof(float));
      std::memset(d_values.data(), 0, width * D * sizeof(float));
      for (long i = 0; i < p->queries; i += BLOCK) {
        const long count = p->queries - i < BLOCK ? p->queries - i : BLOCK;
        const long n = p->reach[i + count - 1], end = padded(n), room = end + ROWS;
        std::memset(rows, 0, sizeof(rows));
        std::memset(d_rows, 0, sizeof(d_rows));
        for (long r = 0; r < count; r++) {
          std::memcpy(rows + r * D, p->q.row(b, h, i + r), D * sizeof(float));
          std::memcpy(d_rows + r * D, p->d_out.row(b, h, i + r), D * sizeof(float));
        }
        multiply(rows, k_transposed.data(), width, n, weights.data());
        multiply(d_rows, v_transposed.data(), width, n, slopes.data());
        for (long r = 0; r < BLOCK; r++) {
          float *w = weights.data() + r * width, *s = slopes.data() + r * width;
          if (r >= count) {
            std::memset(w, 0, room * sizeof(float));
            std::memset(s, 0, room * sizeof(float));
            continue;
          }
          add_bias(w, p->bias.row(b, h, i + r), p->scale, n, end);
          const float log_sum = p->log_sums[(b * p->heads + h) * p->queries + i + r];
          const float *out = p->out.row(b, h, i + r);
          V along = {};
          for (int d = 0; d < D; d += N) along += load<V>(d_rows + r * D + d) * load<V>(out + d);
          const float delta = sum_of<N>(along);
          for (long j = 0; j < end; j += N) {
            const V x = exp_of<N>(load<V>(w + j) - log_sum);
            store(w + j, x);
            store(s + j, (load<V>(s + j) - delta) * x);
          }
          std::memset(w + end, 0, ROWS * sizeof(float));
          std::memset(s + end, 0, ROWS * sizeof(float));
          if (p->d_bias.start) {
            float *d_bias = p->d_bias.row(b, h, i + r);
            for (long j = 0; j < n; j++) d_bias[j] += s[j];
          }
        }
        mix(slopes.data(), keys.data(), width, n, mixed);
        for (long r = 0; r < count; r++) {
          float *d_q = p->d_q.row(b, h, i + r);
          for (int d = 0; d < D; d++) d_q[d] = mixed[r * D + d] * p->scale;
        }
        mix_back(weights.data(), d_rows, width, n, d_values.data());
        mix_back(slopes.data(), rows, width, n, d_keys.data());
      }
      for (long t = 0; t < p->keys; t++) {
        float *d_k = p->d_k.row(b, h, t);
        for (int d = 0; d < D; d++) d_k[d] = d_keys[t * D + d] * p->scale;
        std::memcpy(p->d_v.row(b, h, t), d_values.data() + t * D, D * sizeof(float));
      }
    }
}
