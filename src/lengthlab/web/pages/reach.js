// Above the slider: how often the model was right at each length it was tested at, and where training ended.

import { percent, svg } from "./dom.js";
import { digitsOf } from "./numbers.js";

const THUMB = 8; // half of a slider's thumb: its middle never reaches the ends

export function drawReach(container, model, stops, now) {
  const width = Math.max(120, container.clientWidth), height = 54, top = 14;
  const at = (digits) => {
    let index = stops.findIndex((stop) => stop >= digits);
    if (index < 0) index = stops.length - 1;
    const before = stops[index - 1] ?? stops[index];
    const share = stops[index] === before ? 0 : (digits - before) / (stops[index] - before) - 1;
    return THUMB + ((width - 2 * THUMB) * (index + share)) / Math.max(1, stops.length - 1);
  };
  const high = (score) => top + (1 - score) * (height - top - 4);
  const scores = model.scores.filter((score) => score.digits <= stops.at(-1));
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spoken(model, scores) });
  const end = at(Math.min(model.trained_digits, stops.at(-1)));
  drawing.append(svg("rect", { class: "trained", x: 0, y: top - 4, width: end, height: height - top + 4, rx: 5 }));
  drawing.append(svg("text", { x: Math.max(end - 6, 60), y: height - 5, "text-anchor": "end" }, "trained"));
  if (scores.length > 1) drawing.append(svg("path", { class: "curve", d: `M${scores.map((score) => `${at(score.digits)},${high(score.exact_match)}`).join("L")}` }));
  for (const score of scores)
    drawing.append(svg("circle", { class: "dot", cx: at(score.digits), cy: high(score.exact_match), r: 2.6 },
      svg("title", {}, `${digitsOf(score.digits)}: ${percent(score.exact_match)} of ${score.examples} sums right`)));
  const x = at(stops[now]);
  drawing.append(svg("line", { class: "now", x1: x, x2: x, y1: top - 4, y2: height }));
  drawing.append(svg("text", { class: "says", x: width, y: 9, "text-anchor": "end" }, scores.length ? "share of sums right, by length" : "not tested yet"));
  container.replaceChildren(drawing);
}

function spoken(model, scores) {
  const last = scores.at(-1);
  return last ? `Trained on up to ${digitsOf(model.trained_digits)}. ${scores.map((score) => `${digitsOf(score.digits)}: ${percent(score.exact_match)}`).join(", ")}.` : "Not tested yet.";
}
