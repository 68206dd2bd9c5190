// Attention maps of one model and one sum: all heads small, one of them large, the position bias beside it.

import { el, percent } from "./dom.js";

const [SMALLEST, LARGEST] = [11, 17]; // pixels of a cell in the large map, where there is room for the tokens' names
const MARGIN = 22;

export class Maps {
  /** `onChoose(layer, head)` hears which map is open. */
  constructor(container, onChoose = () => {}) {
    this.container = container;
    this.onChoose = onChoose;
  }

  /** Opens a head, or if none is named the one that looks most sharply. */
  show(title, attention, layer, head) {
    this.attention = attention;
    const named = layer != null && head != null;
    this.open = named ? [Math.min(Number(layer) || 0, attention.layers - 1), Math.min(Number(head) || 0, attention.heads - 1)] : this.#sharpest();
    const right = attention.written.every((token, index) => token === attention.due[index]);
    this.buttons = [];
    const grid = el("div", { class: "heads", role: "group", "aria-label": "Attention heads" }, el("span"));
    grid.style.setProperty("--heads", attention.heads);
    for (let h = 0; h < attention.heads; h++) grid.append(el("span", { class: "name" }, `head ${h + 1}`));
    for (let l = 0; l < attention.layers; l++) {
      grid.append(el("span", { class: "name" }, `layer ${l + 1}`));
      for (let h = 0; h < attention.heads; h++) grid.append(this.#small(l, h));
    }
    this.large = el("div", { class: "large" });
    this.container.replaceChildren(
      el("h3", {}, title),
      el("p", { class: "small" }, "It wrote ", el("span", { class: `sum-line ${right ? "" : "wrong"}` }, attention.written.join("")), right ? ", which is right." : `, where ${attention.due.join("")} is right.`),
      grid, this.large,
    );
    this.#openLarge();
  }

  /** The layer and head whose largest weight is highest, in the mean over the written tokens. */
  #sharpest() {
    const { data, layers, heads, written, keys } = this.attention;
    const sizes = Array.from({ length: layers * heads }, (_, map) =>
      written.reduce((sum, _, row) => sum + data.subarray((map * written.length + row) * keys.length, (map * written.length + row + 1) * keys.length).reduce((x, y) => Math.max(x, y), 0), 0));
    const found = sizes.indexOf(Math.max(...sizes));
    return [Math.floor(found / heads), found % heads];
  }

  #small(layer, head) {
    const { written, keys } = this.attention;
    const canvas = el("canvas", { width: keys.length, height: written.length, "aria-hidden": "true" });
    paint(canvas.getContext("2d"), (row, key) => this.#weight(layer, head, row, key), written.length, keys.length, 1);
    const button = el("button", {
      type: "button", "aria-label": `Layer ${layer + 1}, head ${head + 1}`, "aria-pressed": "false",
      onclick: () => {
        this.open = [layer, head];
        this.#openLarge();
        this.onChoose(layer, head);
      },
    }, canvas);
    this.buttons.push(button);
    return button;
  }

  #weight(layer, head, row, key) {
    const { data, heads, written, keys } = this.attention;
    return data[((layer * heads + head) * written.length + row) * keys.length + key] / 255;
  }

  #bias(layer, head, row, key) {
    const { bias, heads, written, keys } = this.attention;
    const one = bias.layers === 1 ? 0 : layer;
    return bias.data[((one * heads + head) * written.length + row) * keys.length + key] / 255;
  }

  #openLarge() {
    const [layer, head] = this.open;
    this.buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(index === layer * this.attention.heads + head)));
    const says = el("p", { class: "says small quiet", role: "status" }, "Point at a cell, or use the arrow keys.");
    const parts = [el("h3", {}, `Layer ${layer + 1}, head ${head + 1}`), el("div", { class: "scroll" }, this.#map((row, key) => this.#weight(layer, head, row, key), says, "attention")), says];
    if (this.attention.bias) {
      const { low, high } = this.attention.bias;
      parts.push(el("h3", {}, "What the position bias adds to its logits"),
        el("p", { class: "small quiet" }, `From ${low.toFixed(1)} (faint) to ${high.toFixed(1)} (strong).`),
        el("div", { class: "scroll" }, this.#map((row, key) => this.#bias(layer, head, row, key), says, "bias")));
    }
    this.large.replaceChildren(...parts);
  }

  /** A map with tokens on its axes; pointing or arrow keys say what a cell is. */
  #map(value, says, kind) {
    const { written, keys, due } = this.attention;
    const [rows, columns] = [written.length, keys.length];
    const named = columns <= 120;
    const room = Math.floor((this.large.clientWidth - MARGIN) / columns); // on a phone all of it is to be seen
    const cell = named ? Math.max(SMALLEST, Math.min(LARGEST, room)) : 6;
    const left = named ? MARGIN : 0;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [left + columns * cell, left + rows * cell];
    const canvas = el("canvas", { width: width * ratio, height: height * ratio, tabindex: 0, role: "img", "aria-label": `${kind === "bias" ? "Position bias" : "Attention"}: ${rows} written tokens by ${columns} tokens` });
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    let at = null;
    const draw = () => {
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, width, height);
      pen.translate(left, left);
      paint(pen, value, rows, columns, cell);
      const [ink, quiet, wrong, accent] = ["--ink", "--quiet", "--wrong", "--carry"].map(colour);
      pen.font = `${0.7 * cell}px ${colour("--mono")}`;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      if (named) {
        keys.forEach((text, key) => { pen.fillStyle = key === at?.[1] ? ink : quiet; pen.fillText(short(text), (key + 0.5) * cell, -9); });
        written.forEach((text, row) => { pen.fillStyle = text === due[row] ? (row === at?.[0] ? ink : quiet) : wrong; pen.fillText(short(text), -10, (row + 0.5) * cell); });
      }
      if (at) { pen.strokeStyle = accent; pen.lineWidth = 1.5; pen.strokeRect(at[1] * cell, at[0] * cell, cell, cell); }
    };
    const point = (row, key) => {
      at = [Math.max(0, Math.min(rows - 1, row)), Math.max(0, Math.min(columns - 1, key))];
      const share = value(...at);
      const { low, high } = this.attention.bias ?? {};
      const number = kind === "bias" ? `a bias of ${(low + share * (high - low)).toFixed(1)}` : percent(share);
      says.textContent = `Writing ${written[at[0]]} (number ${at[0] + 1} of its answer): ${number} on ${keys[at[1]]}, token ${at[1] + 1} of what it read.`;
      draw();
    };
    canvas.addEventListener("mousemove", (event) => {
      const box = canvas.getBoundingClientRect();
      point(Math.floor((event.clientY - box.top - left) / cell), Math.floor((event.clientX - box.left - left) / cell));
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      point((at?.[0] ?? 0) + (at ? step[0] : 0), (at?.[1] ?? 0) + (at ? step[1] : 0));
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    draw();
    return canvas;
  }
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A hint after the first 26 in the room of a cell: a, a₁, a₂ for a, a', a''. */
const short = (text) => text.replace(/'+$/, (marks) => String.fromCharCode(0x2080 + Math.min(marks.length, 9)));

/** Cells from the colour of paper (0) to that of ink (1). */
function paint(pen, value, rows, columns, cell) {
  pen.fillStyle = colour("--shade");
  pen.fillRect(0, 0, columns * cell, rows * cell);
  pen.fillStyle = colour("--accent");
  for (let row = 0; row < rows; row++)
    for (let key = 0; key < columns; key++) {
      const share = value(row, key);
      if (share < 0.004) continue;
      pen.globalAlpha = Math.sqrt(share); // so that small weights can be seen
      pen.fillRect(key * cell, row * cell, cell > 2 ? cell - 0.5 : cell, cell > 2 ? cell - 0.5 : cell);
    }
  pen.globalAlpha = 1;
}
