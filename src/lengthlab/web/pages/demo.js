// The Try page as one file: the model's weights lie in the page, and the sums are computed here.

import { Model, readSafetensors } from "./model.js";
import { longhand } from "./numbers.js";
import { END, writeQuestion } from "./question.js";
import { startTry } from "./try.js";

const SHOWN = 5, AT_ONCE = 12; // milliseconds of computing before the page may breathe
const MOST = 4e6; // attention weights that are kept
const details = JSON.parse(document.getElementById("details").textContent);
const letters = atob(document.getElementById("weights").textContent.trim());
const model = new Model(readSafetensors(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)).buffer));
let turn = 0;
let last = null; // the attention of the sum that was written last

const browser = {
  longest: details.longest,
  models: async () => [details],
  details: async () => details,
  attention: async (_, a, b) => {
    if (last?.sum !== `${a}+${b}` || !last.data) throw new Error("This sum is too long for its attention to be shown; try fewer digits.");
    return last;
  },

  async ask(name, a, b, hear) {
    const mine = ++turn;
    const { tokens, ids, columns, answer } = question(a, b);
    hear("question", { model: name, a, b, columns, answer, trained_digits: details.trained_digits });
    const kept = keeper(columns, answer);
    model.start();
    let logits, breath = performance.now();
    const rest = async () => {
      if (performance.now() - breath < AT_ONCE) return;
      await new Promise((resolve) => setTimeout(resolve));
      breath = performance.now();
    };
    for (const [index, token] of tokens.entries()) {
      logits = model.step(token, ids[index], index === answer - 1 ? kept.record(0) : null);
      await rest();
      if (mine !== turn) return;
    }
    const produced = [];
    while (true) {
      const shares = softmax(logits), likeliest = [...shares.keys()].sort((x, y) => shares[y] - shares[x]).slice(0, SHOWN);
      const token = likeliest[0], column = answer + produced.length;
      produced.push(token);
      hear("token", { column, text: model.vocabulary[token], right: token === columns[column].token, top: likeliest.map((t) => [model.vocabulary[t], shares[t]]) });
      if (token === END || column + 1 === columns.length) break;
      logits = model.step(token, ids[column], kept.record(produced.length));
      await rest();
      if (mine !== turn) return;
    }
    last = kept.finish(`${a}+${b}`, produced, columns, answer);
    const correct = produced.length === columns.length - answer && produced.every((token, index) => token === columns[answer + index].token);
    hear("done", { correct });
  },
};

function question(a, b) {
  return writeQuestion(model.config, model.vocabulary, a, b, longhand(a, b).map(({ digit }) => digit));
}

/** Keeps the attention of every written token, as bytes, unless it is too much. */
function keeper(columns, answer) {
  const { layers, heads } = model.config.model;
  const small = layers * heads * (columns.length - answer) * columns.length <= MOST;
  const rows = [];
  return {
    record: (row) => (small ? (layer, head, weights) => ((rows[row] ??= [])[layer * heads + head] = weights) : null),
    finish(sum, produced, all, first) {
      const keys = [...all.slice(0, first).map(({ text }) => text), ...produced.slice(0, -1).map((token) => model.vocabulary[token])];
      const written = produced.map((token) => model.vocabulary[token]);
      if (!small) return { sum };
      const data = new Uint8Array(layers * heads * written.length * keys.length);
      rows.forEach((maps, row) => maps.forEach((weights, map) => weights.forEach((weight, key) => (data[(map * written.length + row) * keys.length + key] = Math.round(255 * weight)))));
      return { sum, data, layers, heads, keys, written };
    },
  };
}

function softmax(logits) {
  const largest = Math.max(...logits), powers = Array.from(logits, (logit) => Math.exp(logit - largest));
  const total = powers.reduce((x, y) => x + y);
  return powers.map((power) => power / total);
}

/** For whoever wants to compare: a sum as it is written here, and the logits after every one of these tokens. */
globalThis.lengthlab = {
  question,
  logits(tokens, ids) {
    model.start();
    return tokens.map((token, index) => Array.from(model.step(token, ids[index])));
  },
};

startTry(browser);
