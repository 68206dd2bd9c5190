// The Try page. `source` answers: the server, or a model that runs in the browser.

import { address, complain, el, find, percent } from "./dom.js";
import { Longhand } from "./longhand.js";
import { clean, digitsOf, longhand, placeName, randomNumber, stops } from "./numbers.js";
import { drawReach } from "./reach.js";

const PACE = 55; // milliseconds between digits, so that they can be seen to appear
const LONGEST_SHOW = 1600; // of all of them together

export async function startTry(source) {
  const page = new Try(source);
  try {
    await page.start();
  } catch (error) {
    complain(error);
  }
}

class Try {
  constructor(source) {
    this.source = source;
    this.sum = new Longhand(find("#sum"), (column, stays) => this.look(column, stays));
    this.turn = 0; // which sum is on the page; an older one that still arrives is ignored
  }

  async start() {
    const models = await this.source.models();
    const wanted = address.read();
    find("#model").append(...models.map((model) => el("option", { value: model.name, selected: model.name === wanted.model }, model.title)));
    find("#choose").hidden = models.length < 2;
    this.listen();
    await this.choose();
    if ([...find("#head").options].some(({ value }) => value === wanted.head)) find("#head").value = wanted.head;
    const ran = this.run(clean(wanted.a ?? "") || "31415926", clean(wanted.b ?? "") || "27182818");
    if (wanted.model && wanted.model !== this.model.name) complain(`There is no model ${wanted.model} here; this is ${this.model.title}.`);
    const turn = this.turn;
    await ran;
    if (turn === this.turn && wanted.place) this.sum.moveTo(Number(wanted.place));
  }

  listen() {
    const again = () => this.random();
    find("#model").addEventListener("change", () => this.choose().then(() => this.run(find("#a").value, find("#b").value)).catch(complain));
    find("#ask").addEventListener("submit", (event) => {
      event.preventDefault();
      this.run(find("#a").value, find("#b").value);
    });
    find("#digits").addEventListener("input", () => this.mark());
    find("#digits").addEventListener("change", again);
    find("#random").addEventListener("click", again);
    find("#chain").addEventListener("click", () => this.run("9".repeat(this.count()), "1"));
    find("#head").addEventListener("change", () => {
      this.keep();
      this.look(this.last ?? null);
    });
  }

  async choose() {
    this.model = await this.source.details(find("#model").value);
    this.stops = stops(this.model.longest);
    const { trained_digits: trained, layers, heads, parameters, recipe, chosen, readable } = this.model;
    find("#digits").max = this.stops.length - 1;
    find("#about").textContent = `${cap(this.model.title)} learned from sums of up to ${digitsOf(trained)} and reads up to ${readable.toLocaleString("en")}. How long can they get before it breaks?`;
    find("#told").replaceChildren(...this.model.told.map((sentence) => el("li", {}, sentence)));
    find("#facts").textContent = `${parameters.toLocaleString("en")} parameters, ${layers} layers of ${heads} heads; recipe: ${recipe}. ${chosen}`;
    const names = [["all", "all heads together"]];
    for (let layer = 0; layer < layers; layer++) for (let head = 0; head < heads; head++) names.push([`${layer}.${head}`, `layer ${layer + 1}, head ${head + 1}`]);
    find("#head").replaceChildren(...names.map(([value, text]) => el("option", { value }, text)));
  }

  count() {
    return this.stops[find("#digits").value] ?? 8;
  }

  random() {
    this.run(randomNumber(this.count()), randomNumber(this.count()));
  }

  mark() {
    find("#count").textContent = digitsOf(this.count());
    find("#digits").setAttribute("aria-valuetext", digitsOf(this.count()));
    drawReach(find("#reach"), this.model, this.stops, Number(find("#digits").value));
  }

  async run(typedA, typedB) {
    const [a, b] = [clean(typedA), clean(typedB)];
    const turn = ++this.turn;
    [find("#a").value, find("#b").value] = [a, b];
    complain(null);
    if (!a || !b) return complain("Type two whole numbers.");
    const digits = Math.max(a.length, b.length), most = Math.min(this.model.readable, this.source.longest);
    if (digits > most) return complain(`${cap(this.model.title)} reads numbers of at most ${digitsOf(most)} here, and one of these has ${digits}.`);
    find("#digits").value = this.stops.findIndex((stop) => stop >= digits) < 0 ? this.stops.length - 1 : this.stops.findIndex((stop) => stop >= digits);
    this.mark();
    [this.a, this.b, this.place, this.last] = [a, b, null, null];
    this.keep();
    find("#verdict").textContent = "";
    this.attention = null;
    this.tokens = new Map();
    this.done = null;
    const arrived = [];
    try {
      const asked = this.source.ask(this.model.name, a, b, (kind, event) => turn === this.turn && arrived.push([kind, event]));
      await this.play(turn, arrived, asked);
    } catch (error) {
      if (turn === this.turn) complain(error);
    }
  }

  /** What the page shows, as a link. */
  keep() {
    const head = find("#head").value;
    address.write({ model: this.model.name, a: this.a, b: this.b, head: head === "all" ? "" : head, place: this.place });
  }

  /** Show what arrives at a pace that eyes can follow. */
  async play(turn, arrived, asked) {
    let over = false, failed = null;
    asked.then(() => (over = true), (error) => { failed = error; over = true; });
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    let pace = PACE;
    while (turn === this.turn) {
      const next = arrived.shift();
      if (!next) {
        if (failed) throw failed;
        if (over) return;
        await new Promise((resolve) => setTimeout(resolve, 8));
        continue;
      }
      const [kind, event] = next;
      if (kind === "question") {
        this.question = event;
        this.sum.begin(event);
        const wanted = event.columns.length - event.answer;
        pace = still ? 0 : Math.min(PACE, LONGEST_SHOW / wanted);
      } else if (kind === "token") {
        this.tokens.set(event.column, event);
        this.sum.write(event);
        if (pace >= 4 && event.text.length) await new Promise((resolve) => setTimeout(resolve, pace));
        else if (event.column % 24 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      } else {
        this.sum.finish();
        this.finish(event);
      }
    }
  }

  finish(done) {
    this.done = done;
    const { a, b, columns, answer } = this.question;
    const digits = Math.max(a.length, b.length), trained = this.question.trained_digits;
    const wrong = columns.filter((column, index) => index >= answer && column.role === "digit" && column.number === 2 && !this.tokens.get(index)?.right);
    const beyond = digits > trained ? `${(digits / trained).toFixed(digits % trained ? 1 : 0)} times the length of its longest training sums` : "a length it was trained on";
    const length = `The numbers have ${digitsOf(digits)}, ${beyond}.`;
    const first = wrong.length && Math.min(...wrong.map((column) => column.place));
    const places = columns.filter((column, index) => index >= answer && column.role === "digit" && column.number === 2).length;
    const says = done.correct
      ? [`All ${places} digits are right. ${length}`]
      : [el("span", { class: "wrong" }, wrong.length ? `${wrong.length} of ${places} digits ${wrong.length === 1 ? "is" : "are"} wrong${this.tokens.size < columns.length - answer ? " or missing" : ""}` : "The digits are right, but the answer is not: a hint or its end is wrong"),
         wrong.length ? `, the first at the ${placeName(first)}. ${length}` : "."];
    find("#verdict").replaceChildren(...says);
  }

  /** Somebody points at a token: its shares, and lines to what it looked at. */
  async look(column, stays = false) {
    this.column = column;
    const token = column == null ? null : this.tokens?.get(column);
    if (!token) return;
    this.last = column;
    const { place } = this.question.columns[column];
    if (stays) {
      this.place = place;
      this.keep();
    }
    const { a, b, carry, digit } = longhand(this.question.a, this.question.b)[place];
    find("#digit-title").textContent = `The ${placeName(place)}: ${a} + ${b}${carry ? " + 1 carried" : ""}, so ${digit}`;
    const bars = token.top.flatMap(([text, share]) => {
      const bar = el("i", { class: text === String(digit) ? "" : "wrong" });
      bar.style.width = `${share < 0.0005 ? 0 : 100 * share}%`;
      return [el("span", { class: "mono" }, text), el("span", { class: "bar-of" }, bar), el("span", { class: "small quiet right" }, share < 0.0005 ? "0%" : percent(share))];
    });
    const looked = el("p", { class: "small quiet", id: "looked" }, this.done ? "" : "What it looked at is shown once the answer is complete.");
    find("#digit").replaceChildren(el("div", { class: "shares" }, ...bars), looked);
    if (this.done) await this.lines(column, looked).catch((error) => (looked.textContent = error.message));
  }

  async lines(column, words) {
    const turn = this.turn;
    this.attention ??= this.source.attention(this.model.name, this.question.a, this.question.b);
    const attention = await this.attention;
    if (turn !== this.turn || column !== this.column) return;
    const weights = attentionRow(attention, column - this.question.answer, find("#head").value);
    this.sum.lines(weights, column);
    const best = weights.map((weight, key) => [weight, key]).sort((x, y) => y[0] - x[0]).slice(0, 3).filter(([weight]) => weight >= 0.05);
    words.textContent = `It looked at ${best.map(([weight, key]) => `${this.describe(key)} (${percent(weight)})`).join(", ")}.`;
  }

  describe(key) {
    const { text, role, number, place } = this.question.columns[key];
    if (role !== "digit" && role !== "hint") return { "^": "the beginning" }[text] ?? text;
    const whose = ["the first number's", "the second number's", "its own"][number] ?? "its own";
    return `${whose} ${placeName(place)}${role === "hint" ? " hint" : ""}`;
  }
}

/** The weights of one written token over all keys: of one head, or the mean of all. */
export function attentionRow({ data, layers, heads, written, keys }, row, head) {
  const [rows, columns] = [written.length, keys.length];
  const chosen = [];
  for (let layer = 0; layer < layers; layer++)
    for (let h = 0; h < heads; h++) if (head === "all" || head === `${layer}.${h}`) chosen.push((layer * heads + h) * rows * columns + row * columns);
  return Array.from({ length: columns }, (_, key) => chosen.reduce((sum, start) => sum + data[start + key] / 255, 0) / chosen.length);
}

const cap = (text) => text[0].toUpperCase() + text.slice(1);
