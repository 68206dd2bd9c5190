// Compare: two conditions, one length, the sentence that the statistics give, and every seed as a dot.

import { address, ask, complain, el, find, percent, turns } from "./dom.js";
import { dotPlot } from "./chart.js";

const state = { a: "", b: "", digits: "20", ...address.read() };
const comparing = turns();

async function compare() {
  complain(null);
  find("#result").hidden = true;
  for (const name of ["a", "b", "digits"]) state[name] = find(`#${name}`).value.trim();
  address.write(state);
  const newest = comparing();
  if (!state.a || !state.b) return complain("Say which runs each group has, such as encoding = 'fire'.");
  try {
    const { sentence, groups, notes } = await ask("compare", state);
    if (!newest()) return;
    find("#sentence").textContent = sentence;
    dotPlot(find("#dots"), groups.map(({ name, scores }) => ({ name, values: Object.values(scores) })), percent);
    find("#groups").replaceChildren(...groups.map(({ name, condition, sentence: words, runs }) =>
      el("p", { class: "small" }, el("strong", {}, name), `: ${words} `, el("a", { href: `/runs?${new URLSearchParams({ condition, chosen: runs.slice(0, 8).join(",") })}` }, `${runs.length} run${runs.length === 1 ? "" : "s"}`))));
    find("#notes").replaceChildren(...notes.map((note) => el("p", {}, note)));
    find("#result").hidden = false;
  } catch (error) {
    if (newest()) complain(error);
  }
}

async function suggest() {
  const { runs } = await ask("runs");
  const conditions = new Set(runs.flatMap((run) => [`encoding = '${run.encoding}'`, `positions = '${run.positions}'`, `setting = '${run.setting}'`]));
  find("#settings").replaceChildren(...[...conditions].slice(0, 200).map((value) => el("option", { value })));
  if (!runs.length) complain("No runs here yet: lengthlab train makes some.");
}

for (const name of ["a", "b", "digits"]) find(`#${name}`).value = state[name];
find("#ask").addEventListener("submit", (event) => {
  event.preventDefault();
  compare();
});
suggest().catch(complain);
if (state.a && state.b) compare();
