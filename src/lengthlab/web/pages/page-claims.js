// Claims: the paper's sentences with what the tables say to them, the figure and the runs behind each.

import { address, ask, complain, el, find } from "./dom.js";

const SYMBOLS = { holds: "✓", "does not hold": "✗", "not enough evidence": "?", "not run": "–" };
const CLASSES = { holds: "holds", "does not hold": "not", "not enough evidence": "", "not run": "" };
const state = { show: "", open: "", ...address.read() };
let all = [];

function draw() {
  const findings = [...new Set(all.map((claim) => claim.finding))];
  find("#filters").replaceChildren(...["", ...findings].map((finding) => {
    const count = all.filter((claim) => !finding || claim.finding === finding).length;
    const press = () => {
      state.show = finding;
      address.write(state);
      draw();
    };
    return el("button", { type: "button", "aria-pressed": String(state.show === finding), onclick: press }, `${finding || "all"} (${count})`);
  }));
  find("#claims").replaceChildren(...all.filter((claim) => !state.show || claim.finding === state.show).map(shown));
}

function shown(claim) {
  const body = el("div", {},
    el("p", { class: "quiet small" }, `${claim.question} The rule: ${claim.rule}.`),
    el("ul", { class: "small" }, ...claim.parts.map((part) => el("li", {}, part.line))),
    claim.figure && el("img", { src: `/api/figure?name=${claim.figure}`, alt: `Figure of the experiment ${claim.experiment}`, loading: "lazy" }),
    el("p", { class: "small quiet runs" }, claim.runs.length ? `${claim.runs.length} runs of the experiment ${claim.experiment}: ` : `No runs of the experiment ${claim.experiment} yet: lengthlab reproduce ${claim.experiment} makes them.`,
      el("span", { class: "mono" }, claim.runs.join(" "))));
  const details = el("details", { class: "card claim", id: claim.id, open: claim.id === state.open },
    el("summary", {}, el("span", { class: `state ${CLASSES[claim.finding]}` }, `${SYMBOLS[claim.finding]} ${claim.finding}`), el("span", {}, claim.sentence)), body);
  details.addEventListener("toggle", () => {
    if (details.open) state.open = claim.id;
    else if (state.open === claim.id) state.open = "";
    address.write(state);
  });
  return details;
}

async function start() {
  find("#summary").textContent = "Reading the tables and judging every claim…";
  const { claims, folder, note } = await ask("claims");
  all = claims;
  find("#summary").textContent = note ?? `${claims.length} claims, each judged from the tables in ${folder}: numbers, seeds, 95% intervals.`;
  draw();
  document.getElementById(state.open)?.scrollIntoView();
}

start().catch(complain);
