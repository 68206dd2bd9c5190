// A sum written by hand: carries, two numbers, a rule, and the answer as it appears. Wrong digits have the right one above.

import { el, svg } from "./dom.js";
import { longhand, placeName } from "./numbers.js";

export class Longhand {
  /** `onLook(column, stays)` hears which written token somebody points at, or has moved to and stays; null when none. */
  constructor(container, onLook = () => {}) {
    this.container = container;
    this.onLook = onLook;
    new ResizeObserver(() => this.question && this.#layout() !== this.layout && this.#redraw()).observe(container);
  }

  /** Write the question; nothing of the answer is there yet. */
  begin(question) {
    this.question = question;
    this.tokens = [];
    this.#redraw();
  }

  /** One token that the model wrote. */
  write(token) {
    this.tokens.push(token);
    this.#show(token);
  }

  /** Places that should have been written and were not. */
  finish() {
    const written = this.tokens.length;
    this.question.columns.slice(this.question.answer + written).forEach((column, index) => {
      if (column.role === "digit" && column.number === 2)
        this.#show({ column: this.question.answer + written + index, text: "·", right: false });
    });
  }

  #width() {
    const cell = this.#cell();
    const room = this.container.clientWidth - 2 * 20 - 1.5 * cell;
    return Math.min(this.places.length, Math.max(3, 3 * Math.floor(room / (3.42 * cell))));
  }

  #layout() {
    return `${this.#cell()} ${this.#width()}`;
  }

  #cell() {
    const places = this.places.length;
    const narrow = this.container.clientWidth < 560;
    return places > 60 ? (narrow ? 12 : 15) : places > 24 ? (narrow ? 13 : 19) : places > 12 ? (narrow ? 17 : 30) : narrow ? 22 : 40;
  }

  #redraw() {
    const { a, b, columns, answer } = this.question;
    this.places = longhand(a, b);
    this.perLine = this.#width();
    this.layout = this.#layout();
    const visited = this.cells?.[2].indexOf(document.activeElement) ?? -1;
    this.cells = { 0: [], 1: [], 2: [], carry: [] };
    this.container.style.setProperty("--cell", `${this.#cell()}px`);
    this.overlay = svg("svg", { class: "lines", "aria-hidden": "true" });
    this.marks = {};
    const blocks = [];
    for (let first = 0; first < this.places.length; first += this.perLine)
      blocks.unshift(this.#block(first, Math.min(first + this.perLine, this.places.length)));
    this.container.replaceChildren(el("div", { class: "written" }, ...blocks), this.overlay);
    this.byColumn = columns.map((column) => this.#cellOf(column));
    this.cells[2].forEach((cell, place) => (cell.dataset.column = columns.findIndex(
      (column, index) => index >= answer && column.role === "digit" && column.number === 2 && column.place === place)));
    const written = this.tokens;
    this.tokens = [];
    written.forEach((token) => this.write(token));
    if (visited >= 0) this.moveTo(visited);
  }

  #block(first, end) {
    const last = end === this.places.length;
    const { a, b } = this.question;
    const row = (kind, make) => {
      const cells = [];
      for (let place = end - 1; place >= first; place--) cells.push(make(place));
      const sign = kind === "b" && last ? (this.marks["+"] = el("span", { class: "cell sign" }, "+")) : el("span", { class: "cell" });
      return el("div", { class: `row ${kind}` }, sign, ...cells);
    };
    const digit = (number, key) => (place) =>
      (this.cells[number][place] = el("span", { class: `cell ${third(place)} ${place >= key.length ? "pad" : ""}` }, String(this.places[place][number ? "b" : "a"])));
    const rule = el("div", { class: "rule" });
    if (last) this.marks["="] = rule;
    return el(
      "div",
      { class: "block" },
      el("div", { "aria-hidden": "true" },
        row("carries", (place) => (this.cells.carry[place] = el("span", { class: `cell ${third(place)}` }))),
        row("a", digit(0, a)), row("b", digit(1, b)), rule),
      row("answer", (place) => this.#answerCell(place)),
    );
  }

  #answerCell(place) {
    const cell = el("button", {
      type: "button", class: `cell ${third(place)} waiting`, tabindex: place === 0 ? 0 : -1,
      "aria-label": `${placeName(place)}: not written yet`,
      onfocus: () => this.#look(cell), onmouseenter: () => this.#look(cell),
      onmouseleave: () => this.#look(document.activeElement?.dataset?.column ? document.activeElement : null),
      onblur: () => this.#look(null),
      onkeydown: (event) => this.#move(event, place),
    }, el("span", { class: "wrote" }, "·"));
    return (this.cells[2][place] = cell);
  }

  #move(event, place) {
    const step = { ArrowLeft: 1, ArrowRight: -1, ArrowUp: this.perLine, ArrowDown: -this.perLine }[event.key];
    const target = event.key === "Home" ? this.cells[2].length - 1 : event.key === "End" ? 0 : place + step;
    if (!(target in this.cells[2])) return;
    event.preventDefault();
    this.moveTo(target);
  }

  /** Go to a place of the answer, as the arrow keys do. */
  moveTo(place) {
    const target = this.cells[2][place];
    if (!target) return;
    this.cells[2].forEach((cell) => (cell.tabIndex = -1));
    target.tabIndex = 0;
    target.focus();
  }

  #show(token) {
    const column = this.question.columns[token.column];
    const cell = this.cells[2][column.place];
    if (!cell || column.number !== 2) return;
    if (column.role === "hint") {
      cell.classList.toggle("hinted", !token.right);
      return;
    }
    if (column.role !== "digit") return;
    const pad = column.place >= this.places.length - 1 && token.right && token.text === "0";
    cell.className = `cell ${third(column.place)} ${token.right ? "" : "wrong"} ${pad ? "pad" : ""}`;
    cell.replaceChildren(...(token.right ? [] : [el("span", { class: "due" }, column.text)]), el("span", { class: "wrote" }, token.text));
    const says = token.right ? "right" : `wrong, it should be ${column.text}`;
    cell.setAttribute("aria-label", `${placeName(column.place)}: ${token.text}, ${says}`);
    const next = this.cells.carry[column.place + 1];
    if (next && this.places[column.place + 1].carry && !next.firstChild) next.append(el("span", {}, "1"));
  }

  #look(cell) {
    this.lines([]);
    this.onLook(cell ? Number(cell.dataset.column) : null, cell === document.activeElement);
  }

  #cellOf(column) {
    if (column.role === "digit" || column.role === "hint") return this.cells[column.number]?.[column.place];
    return this.marks[column.text];
  }

  /** Lines from a written token to what it looked at: [weight of each column]. */
  lines(weights, from = null) {
    this.overlay.replaceChildren();
    this.container.querySelectorAll(".seen, .looked-at").forEach((cell) => cell.classList.remove("seen", "looked-at"));
    const start = from == null ? null : this.byColumn[from];
    if (!start) return;
    start.classList.add("looked-at");
    const strength = new Map(); // a digit and its hint stand in one cell
    weights.forEach((weight, column) => {
      const cell = this.byColumn[column];
      if (cell) strength.set(cell, (strength.get(cell) ?? 0) + weight);
    });
    const middle = (cell, edge) => this.#middle(cell, edge);
    for (const [cell, weight] of strength) {
      if (weight < 0.02 || cell === start) continue;
      const beside = Math.abs(start.offsetTop - cell.offsetTop) < 4 && cell.parentNode === start.parentNode;
      const [x0, y0] = middle(start, "top"), [x1, y1] = middle(cell, beside ? "top" : "bottom");
      const bend = beside ? -this.#cell() * 0.45 : (y1 - y0) * 0.4;
      const path = `M${x0},${y0} C${x0},${y0 + bend} ${x1},${beside ? y1 + bend : y1 - bend} ${x1},${y1}`;
      this.overlay.append(svg("path", { d: path, "stroke-width": 1 + 5 * weight, "stroke-opacity": Math.min(1, 0.22 + 1.3 * weight) }));
      if (weight > 0.15 && cell.classList.contains("cell")) cell.classList.add("seen");
    }
  }

  #middle(cell, edge) {
    const outer = this.container.getBoundingClientRect(), inner = cell.getBoundingClientRect();
    const x = cell.classList.contains("rule") ? inner.left + 10 : inner.left + inner.width / 2;
    return [x - outer.left, (edge === "top" ? inner.top + 2 : inner.bottom - 3) - outer.top];
  }
}

const third = (place) => (place % 3 === 2 ? "third" : "");
