// The forward pass of lengthlab's Transformer in plain JavaScript, one token at a time with cached keys and values.
// Norms before and after, GeGLU, softmax attention. Each (position ids, encoding) pair has a bias: clipped or FIRE.

/** A safetensors file: the length of its head, the head as JSON, then the numbers. */
export function readSafetensors(buffer) {
  const size = Number(new DataView(buffer).getBigUint64(0, true));
  const { __metadata__: metadata, ...entries } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const tensors = {};
  for (const [name, { shape, data_offsets: [start, end] }] of Object.entries(entries))
    tensors[name] = { shape, data: new Float32Array(buffer.slice(8 + size + start, 8 + size + end)) };
  return { tensors, config: JSON.parse(metadata.config), vocabulary: JSON.parse(metadata.vocabulary) };
}

export class Model {
  constructor({ tensors, config, vocabulary }) {
    [this.tensors, this.config, this.vocabulary] = [tensors, config, vocabulary];
    this.encodings = [config, ...config.also].map(({ encoding }) => encoding); // of each pair, the main one first
    const { width, heads, logit_factor: factor, logit_factor_at_test: atTest } = config.model;
    [this.width, this.heads, this.each, this.factor] = [width, heads, width / heads, atTest ?? factor];
    this.start();
  }

  weights(name) {
    return this.tensors[name].data;
  }

  /** Of an encoding that layers share, or of this layer's own. */
  encodingWeights(pair, layer, name) {
    const own = `blocks.${layer}.attention.encodings.${pair}.${name}`;
    return this.weights(own in this.tensors ? own : `encodings.${pair}.${name}`);
  }

  /** Forget everything: the next token is the first. */
  start() {
    this.ids = this.encodings.map(() => []); // of all tokens so far, for each pair
    this.cache = Array.from({ length: this.config.model.layers }, () => ({ keys: [], values: [] }));
  }

  /** Logits of the token after this one, given its id for each pair.
   *  `record(layer, head, weights)` hears every head's attention. */
  step(token, ids, record = null) {
    this.ids.forEach((soFar, pair) => soFar.push(ids[pair]));
    let x = Float64Array.from(this.weights("embedding.weight").subarray(token * this.width, (token + 1) * this.width));
    for (let layer = 0; layer < this.config.model.layers; layer++) {
      const norm = (values, index) => rmsNorm(values, this.weights(`blocks.${layer}.norms.${index}.weight`));
      x = sum(x, norm(this.attend(norm(x, 0), layer, record), 1));
      x = sum(x, norm(this.feed(norm(x, 2), layer), 3));
    }
    const tied = this.config.model.tied;
    const last = rmsNorm(x, this.weights("norm.weight"));
    const logits = product(this.weights(tied ? "embedding.weight" : "output.weight"), last);
    return tied ? logits.map((logit) => logit / Math.sqrt(this.width)) : logits;
  }

  attend(x, layer, record) {
    const place = `blocks.${layer}.attention`, { keys, values } = this.cache[layer];
    const query = product(this.weights(`${place}.q.weight`), x);
    keys.push(product(this.weights(`${place}.k.weight`), x));
    values.push(product(this.weights(`${place}.v.weight`), x));
    const biases = this.encodings.map((_, pair) => this.bias(pair, layer));
    const attended = new Float64Array(this.width), scale = 1 / Math.sqrt(this.each);
    for (let head = 0; head < this.heads; head++) {
      const from = head * this.each, to = from + this.each;
      const weights = new Float64Array(keys.length);
      let largest = -Infinity;
      for (let key = 0; key < keys.length; key++) {
        let dot = 0, added = 0;
        const other = keys[key];
        for (let index = from; index < to; index++) dot += query[index] * other[index];
        for (const bias of biases) added += bias(head, key);
        weights[key] = (dot * scale + added) * this.factor;
        if (weights[key] > largest) largest = weights[key];
      }
      let total = 0;
      for (let key = 0; key < keys.length; key++) total += weights[key] = Math.exp(weights[key] - largest);
      for (let key = 0; key < keys.length; key++) {
        const share = (weights[key] /= total);
        if (share < 1e-12) continue;
        const value = values[key];
        for (let index = from; index < to; index++) attended[index] += share * value[index];
      }
      record?.(layer, head, weights);
    }
    return product(this.weights(`${place}.out.weight`), attended);
  }

  feed(x, layer) {
    const place = `blocks.${layer}.feedforward`;
    const gate = product(this.weights(`${place}.gate.weight`), x), up = product(this.weights(`${place}.up.weight`), x);
    for (let index = 0; index < gate.length; index++) gate[index] = gelu(gate[index]) * up[index];
    return product(this.weights(`${place}.down.weight`), gate);
  }

  /** What a pair's ids add to the logit of each head and key, for the last token. */
  bias(pair, layer) {
    const options = this.encodings[pair], ids = this.ids[pair], id = ids.at(-1);
    const weight = (name) => this.encodingWeights(pair, layer, name);
    if (options.kind === "clipped") {
      const table = weight("table"), { reach, scale } = options;
      return (head, key) => scale * table[head * (2 * reach + 1) + Math.max(-reach, Math.min(reach, id - ids[key])) + reach];
    }
    if (options.kind === "fire") {
      const found = fire(options, weight, id, ids);
      return (head, key) => found[key][head];
    }
    return () => 0;
  }
}

/** f(psi(i - j) / psi(max(L, i))) with psi(x) = log(c x + 1) (encodings/fire.py), for each key j and head. */
function fire(options, weight, id, ids) {
  const c = Math.abs(weight("c")[0]), threshold = Math.abs(weight("threshold")[0] * options.threshold);
  const inner = weight("hidden.weight"), shift = weight("hidden.bias"), outer = weight("output.weight"), offset = weight("output.bias");
  const longest = Math.log1p(c * Math.max(id, threshold)) + 1e-6;
  return ids.map((other) => {
    const share = Math.log1p(c * Math.abs(id - other)) / longest;
    return Array.from(offset, (total, head) => {
      for (let unit = 0; unit < inner.length; unit++) total += outer[head * inner.length + unit] * Math.max(0, inner[unit] * share + shift[unit]);
      return total;
    });
  });
}

/** A matrix (rows, columns) times a vector (columns). */
function product(matrix, x) {
  const columns = x.length, found = new Float64Array(matrix.length / columns);
  for (let row = 0, at = 0; row < found.length; row++) {
    let total = 0;
    for (let column = 0; column < columns; column++) total += matrix[at++] * x[column];
    found[row] = total;
  }
  return found;
}

function rmsNorm(x, gain) {
  let square = 0;
  for (const value of x) square += value * value;
  const scale = 1 / Math.sqrt(square / x.length + 1e-6);
  return x.map((value, index) => value * scale * gain[index]);
}

const sum = (x, y) => x.map((value, index) => value + y[index]);
const gelu = (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
