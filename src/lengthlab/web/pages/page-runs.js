// Runs: a table that follows active runs, and charts of the runs that are chosen.

import { address, ask, complain, el, find, percent, quietly, turns } from "./dom.js";
import { lineChart } from "./chart.js";

const EVERY = 3000; // milliseconds between looks at active runs
const SHOWN = 3; // commands that resume
const MOST = 8; // runs on one chart
const state = { condition: "", search: "", sort: "-started", chosen: "", ...address.read() };
const chosen = new Set(state.chosen.split(",").filter(Boolean));
const [loading, drawing] = [turns(), turns()];
let table = { runs: [], total: 0 };

const best = (run, length) => run.scores[length];
const COLUMNS = [
  ["", null],
  ["run", (run) => run.id],
  ["state", (run) => run.state],
  ["setting", (run) => run.title],
  ["seed", (run) => run.seed],
  ["progress", (run) => run.step / run.steps],
  ["trained", (run) => run.trained_digits],
  ["at trained", (run) => best(run, run.trained_digits)],
  ["reach", (run) => reach(run)],
  ["loss", (run) => run.loss],
  ["started", (run) => run.started],
];

/** The longest length with nine answers of ten right, all shorter ones too. */
function reach(run) {
  let longest = 0;
  for (const [digits, score] of Object.entries(run.scores).sort(([a], [b]) => a - b)) {
    if (score < 0.9) break;
    longest = Number(digits);
  }
  return longest;
}

async function load() {
  const newest = loading();
  const found = await ask("runs", { condition: state.condition });
  if (!newest()) return;
  table = found;
  complain(null);
  draw();
}

function save() {
  address.write({ ...state, chosen: [...chosen].join(","), sort: state.sort === "-started" ? "" : state.sort });
}

function draw() {
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = table.runs.filter((run) => words.every((word) => `${run.id} ${run.state} ${run.title} seed ${run.seed}`.toLowerCase().includes(word)));
  const down = state.sort.startsWith("-");
  const by = COLUMNS.find(([name]) => name === state.sort.replace("-", ""))?.[1] ?? COLUMNS.at(-1)[1];
  matching.sort((x, y) => compare(by(x), by(y)) * (down ? -1 : 1));
  find("#head").replaceChildren(el("tr", {}, ...COLUMNS.map(([name, value]) => header(name, value, down))));
  find("#rows").replaceChildren(...matching.slice(0, 500).map(row));
  const running = table.runs.filter((run) => run.state === "running").length;
  find("#summary").textContent = table.total ? `${matching.length} of ${table.total} runs${running ? `, ${running} active` : ""}. Tick some to draw them.` : "No runs here yet: lengthlab train zhou2024-mini makes one.";
  const cut = matching.filter((run) => run.resume);
  find("#resume").replaceChildren(...cut.slice(0, SHOWN).map((run) => el("p", {}, "To resume: ", el("code", {}, run.resume))), cut.length > SHOWN ? el("p", {}, `and ${cut.length - SHOWN} more like that`) : "");
  find("#note").textContent = table.note ?? "";
}

function header(name, value, down) {
  if (!value) return el("th", {}, el("span", { class: "off-screen" }, "drawn"));
  const sorted = state.sort.replace("-", "") === name;
  const sort = () => {
    state.sort = sorted && !down ? `-${name}` : name;
    save();
    draw();
  };
  return el("th", { "aria-sort": sorted ? (down ? "descending" : "ascending") : null }, el("button", { class: "plain", onclick: sort }, `${name}${sorted ? (down ? " ↓" : " ↑") : ""}`));
}

function row(run) {
  const box = el("input", { type: "checkbox", "aria-label": `Draw run ${run.id}`, onchange: () => choose(run.id, box.checked) });
  box.checked = chosen.has(run.id);
  const live = run.state === "running" ? el("progress", { max: run.steps, value: run.step, "aria-label": "steps done" }) : null;
  const cells = [
    box,
    run.asks ? el("a", { class: "mono", href: `/try?model=${run.id}`, title: "Try it" }, run.id) : el("span", { class: "mono" }, run.id),
    el("span", { class: `state ${run.state}`, title: run.resume ?? run.message ?? "" }, run.state), run.title, run.seed,
    el("span", {}, live, live ? " " : "", `${run.step.toLocaleString("en")} / ${run.steps.toLocaleString("en")}`),
    `1–${run.trained_digits}`, best(run, run.trained_digits) == null ? "" : percent(best(run, run.trained_digits)), reach(run) ? `${reach(run)} digits` : "",
    run.loss == null ? "" : run.loss.toPrecision(2), run.started?.slice(0, 16) ?? "",
  ];
  return el("tr", {}, ...cells.map((cell, column) => el("td", { class: COLUMNS[column][0] === "setting" && "wrap" }, cell)));
}

const compare = (x, y) => (x == null ? -1 : y == null ? 1 : typeof x === "number" ? x - y : String(x).localeCompare(String(y)));

async function choose(id, on) {
  if (on && chosen.size >= MOST) return complain(`At most ${MOST} runs fit on one chart.`);
  chosen[on ? "add" : "delete"](id);
  save();
  await charts();
}

async function charts() {
  const newest = drawing();
  find("#charts").hidden = !chosen.size;
  const found = (await Promise.allSettled([...chosen].map((run) => ask("curves", { run })))).flatMap(({ value }) => value ?? []);
  if (!newest() || !found.length) return;
  const named = found.map((run, index) => ({ ...run, index, name: `${run.title}, seed ${run.seed}` }));
  lineChart(find("#match"), named.map(matches), { shade: Math.max(...found.map((run) => run.trained_digits)), xLabel: "digits", format: percent, top: 1 });
  lineChart(find("#loss"), named.map(({ name, index, loss }) => ({ name, index, points: loss })), { xLabel: "steps", format: (loss) => (loss < 0.01 ? loss.toExponential(loss < 1e-7 ? 0 : 1).replace(".0", "") : String(Number(loss.toPrecision(2)))), log: true });
}

/** Exact match by length: as tested in the end or, for an active run, at its latest evaluation. */
function matches({ name, index, scores, progress }) {
  if (scores.length) return { name, index, points: scores.map((score) => [score.digits, score.exact_match]) };
  const latest = Object.entries(progress).map(([digits, tests]) => [Number(digits), tests.at(-1)[1]]);
  return { name: `${name}, so far`, index, points: latest.sort(([x], [y]) => x - y) };
}

async function follow() {
  if (document.visibilityState === "visible" && table.runs.some((run) => run.state === "running")) {
    await load().catch(complain);
    if (table.runs.some((run) => run.state === "running" && chosen.has(run.id))) await charts();
  }
  setTimeout(follow, EVERY);
}

find("#condition").value = state.condition;
find("#search").value = state.search;
find("#filter").addEventListener("submit", (event) => {
  event.preventDefault();
  state.condition = find("#condition").value;
  save();
  load().catch(complain);
});
find("#search").addEventListener("input", quietly(() => {
  state.search = find("#search").value;
  save();
  draw();
}, 120));
load().then(charts).catch(complain).finally(() => setTimeout(follow, EVERY));
