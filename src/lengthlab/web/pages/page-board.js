// Board: the tracks with their places, and every row opened to all its seeds.

import { lineChart } from "./chart.js";
import { address, ask, complain, el, find, percent } from "./dom.js";

const state = { open: "", ...address.read() };
const number = (value) => value.toLocaleString("en");
const given = (record) => record.aids.filter(({ question }) => question !== "outside").map(({ sentence }) => sentence);
const seeds = (record) => `${record.seeds[0].seed}–${record.seeds.at(-1).seed}`;
const minutes = (record) => `${record.seeds.every(({ timing }) => timing === "processor time") ? "" : "at most "}${record.core_minutes.toFixed(1)}`;
const unique = (values) => [...new Set(values)].join(", ");

function track({ title, rule, places }, records) {
  const heads = ["", "recipe", "record", "seeds", "core-minutes", "parameters", "given to it"];
  const lines = places.map(({ place, name, value }) => {
    const record = records.get(name);
    const cells = [String(place), el("a", { href: `#${name}`, onclick: () => show(name) }, name), value, seeds(record)];
    const costs = [minutes(record), number(record.parameters)];
    return el("tr", { class: place === 1 ? "first" : null },
      ...cells.map((cell) => el("td", {}, cell)), ...costs.map((cost) => el("td", { class: "n" }, cost)),
      el("td", { class: "given" }, given(record).join("; ") || "nothing"));
  });
  const numeric = new Set(["core-minutes", "parameters"]);
  const table = el("table", { class: "track" },
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { class: numeric.has(head) ? "n" : null }, head || el("span", { class: "off-screen" }, "place"))))),
    el("tbody", {}, ...lines));
  return el("section", {}, el("h2", {}, title), el("p", { class: "small quiet" }, `${rule[0].toUpperCase()}${rule.slice(1)}.`),
    lines.length ? el("div", { class: "scroll" }, table) : el("p", { class: "small" }, "No record yet."));
}

function row(record) {
  const chart = el("div", {});
  const facts = [
    ["Given to it", given(record).join("; ") || "nothing"],
    ["Core-minutes a seed", `${minutes(record)} (${unique(record.seeds.map(({ timing }) => timing))})`],
    ["Trained on", `1–${record.trained_digits} digits, ${number(record.seeds[0].examples)} sums, ${number(record.seeds[0].steps)} steps`],
    ["Machine", unique(record.seeds.map(({ machine, precision }) => `${machine}, ${precision}`))],
    ["Commit", unique(record.seeds.map(({ commit }) => (commit ?? "unknown").slice(0, 12)))],
    ["Runs", record.seeds.map(({ seed, run }) => `${seed}: ${run}`).join(", ")],
  ];
  const details = el("details", { class: "card row-of-board", id: record.name, open: record.name === state.open },
    el("summary", {}, el("strong", {}, record.name), el("span", {}, `${number(record.reach)} digits${record.open_end ? " or more" : ""}, ${number(record.reach / record.trained_digits)}× the training length`), el("span", { class: "quiet small" }, `${record.seeds.length} seeds, ${number(record.parameters)} parameters`)),
    chart,
    el("ul", { class: "small" }, ...facts.map(([name, text]) => el("li", {}, `${name}: ${text}`))),
    el("p", { class: "small quiet mono hash" }, `SHA-256 ${record.sha256}`));
  const draw = () => lineChart(chart, record.seeds.map(({ seed, scores }, index) => ({ name: `seed ${seed}`, index, points: scores.map(({ digits, examples, right }) => [digits, right / examples]) })), { shade: record.trained_digits, xLabel: "digits", format: percent, top: 1 });
  if (details.open) draw();
  details.addEventListener("toggle", () => {
    if (details.open) draw();
    if (details.open) state.open = record.name;
    else if (state.open === record.name) state.open = "";
    address.write(state);
  });
  return details;
}

function show(name) {
  document.getElementById(name).open = true;
}

async function start() {
  const { tracks, records, problems, folder } = await ask("board");
  const byName = new Map(records.map((record) => [record.name, record]));
  find("#tracks").replaceChildren(...tracks.map((one) => track(one, byName)));
  find("#rows").replaceChildren(...records.map(row));
  find("#rows-title").hidden = !records.length;
  if (!records.length) find("#summary").textContent = `There are no rows in ${folder} yet: lengthlab board run coupling-relative-robust makes one.`;
  if (problems.length) complain(problems.join(" "));
  if (state.open) document.getElementById(state.open)?.scrollIntoView();
}

start().catch(complain);
