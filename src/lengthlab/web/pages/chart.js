// A line chart in plain SVG: every series, values under the pointer or the arrow keys, the range of training shaded.

import { el, svg } from "./dom.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [560, 258, 44, 38, 10];
export const seriesColour = (index) => `var(--s${index % 8})`;

/** series: [{name, points: [[x, y]]}]; options: {shade: x, x: label, format, log: y on a log scale}. */
export function lineChart(container, series, { shade = null, xLabel = "", format = String, log = false, top = null } = {}) {
  const shown = series.filter(({ points }) => points.length);
  if (!shown.length) return container.replaceChildren(el("p", { class: "quiet small" }, "Nothing to draw yet."));
  const all = shown.flatMap(({ points }) => points);
  const xs = [...new Set(all.map(([x]) => x))].sort((a, b) => a - b);
  const [x0, x1] = [xs[0], xs.at(-1)];
  const value = (y) => (log ? Math.log10(Math.max(y, 1e-9)) : y);
  const ys = all.map(([, y]) => value(y));
  const [y0, y1] = log ? [Math.floor(Math.min(...ys)), Math.ceil(Math.max(...ys))] : [0, top ?? Math.max(...ys)];
  const atX = (x) => LEFT + ((WIDTH - LEFT - 8) * (x - x0)) / (x1 - x0 || 1);
  const atY = (y) => TOP + ((HEIGHT - TOP - BOTTOM) * (y1 - value(y))) / (y1 - y0 || 1);
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": shown.map(({ name, points }) => `${name}: ${points.length} points, ending at ${format(points.at(-1)[1])}`).join("; ") });
  if (shade != null) drawing.append(svg("rect", { class: "trained", x: LEFT, y: TOP, width: Math.max(0, atX(Math.min(shade, x1)) - LEFT), height: HEIGHT - TOP - BOTTOM }), svg("text", { x: LEFT + 5, y: HEIGHT - BOTTOM - 6 }, "trained"));
  const ticks = log ? Array.from({ length: y1 - y0 + 1 }, (_, i) => 10 ** (y0 + i)).filter((_, i) => y1 - y0 < 5 || i % 2 === 0) : [0, 0.25, 0.5, 0.75, 1].map((share) => share * y1);
  for (const tick of ticks) drawing.append(svg("line", { class: "axis", x1: LEFT, x2: WIDTH - 8, y1: atY(tick), y2: atY(tick) }), svg("text", { x: LEFT - 7, y: atY(tick) + 4, "text-anchor": "end" }, format(tick)));
  for (const tick of roundTicks(x0, x1, shade)) drawing.append(svg("text", { x: atX(tick), y: HEIGHT - BOTTOM + 17, "text-anchor": "middle" }, tick.toLocaleString("en")));
  drawing.append(svg("text", { x: WIDTH - 8, y: HEIGHT - 2, "text-anchor": "end" }, xLabel));
  shown.forEach(({ points, index }, order) => drawing.append(svg("path", { class: "series", stroke: seriesColour(index ?? order), d: `M${points.map(([x, y]) => `${atX(x)},${atY(y)}`).join("L")}` })));
  const cross = svg("line", { class: "cross", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" });
  drawing.append(cross);
  const tip = el("div", { class: "tip", role: "status", hidden: true });
  const chart = el("div", { class: "chart", tabindex: 0, role: "group", "aria-label": "Chart; arrow keys move along it" }, drawing, tip);
  let near = x0;
  const show = () => {
    const box = drawing.getBoundingClientRect();
    cross.setAttribute("visibility", "visible");
    cross.setAttribute("x1", atX(near));
    cross.setAttribute("x2", atX(near));
    const lines = shown.flatMap(({ name, points }) => points.filter(([px]) => px === near).map(([, y]) => el("div", {}, `${name}: ${format(y)}`)));
    tip.replaceChildren(el("strong", {}, `${near.toLocaleString("en")} ${xLabel}`), ...lines.slice(0, 12));
    tip.hidden = false;
    const beside = ((atX(near) / WIDTH) * box.width);
    tip.style.left = beside > box.width / 2 ? "" : `${beside + 10}px`;
    tip.style.right = beside > box.width / 2 ? `${box.width - beside + 10}px` : "";
    tip.style.top = "8px";
  };
  const hide = () => { tip.hidden = true; cross.setAttribute("visibility", "hidden"); };
  chart.addEventListener("mousemove", (event) => {
    const box = drawing.getBoundingClientRect();
    const x = x0 + (((event.clientX - box.left) * WIDTH) / box.width - LEFT) * ((x1 - x0) / (WIDTH - LEFT - 8));
    near = xs.reduce((best, other) => (Math.abs(other - x) < Math.abs(best - x) ? other : best));
    show();
  });
  chart.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1, Home: -xs.length, End: xs.length }[event.key];
    if (!move) return;
    event.preventDefault();
    near = xs[Math.max(0, Math.min(xs.length - 1, xs.indexOf(near) + move))];
    show();
  });
  chart.addEventListener("mouseleave", hide);
  chart.addEventListener("blur", hide);
  container.replaceChildren(chart, legend(shown));
}

function legend(series) {
  return el("div", { class: "legend" }, ...series.map(({ name, index }, order) => {
    const dash = el("i");
    dash.style.background = seriesColour(index ?? order);
    return el("span", {}, dash, name);
  }));
}

/** Round numbers between two, about five of them, with the last one and `wanted` in place of those that are near. */
function roundTicks(low, high, wanted = null) {
  const rough = (high - low) / 5 || 1;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].find((factor) => factor * size >= rough) * size);
  const kept = [high];
  if (wanted != null && wanted >= low && high - wanted > 0.6 * step) kept.push(wanted);
  const near = 0.6 * step;
  for (let tick = Math.ceil(low / step) * step; tick < high; tick += step) if (kept.every((other) => Math.abs(other - tick) > near)) kept.push(tick);
  return kept;
}

/** Seeds as dots on one line for each group: [{name, values}], each value between 0 and 1. */
export function dotPlot(container, groups, format) {
  const height = 34 * groups.length + 26;
  const at = (value) => 10 + (WIDTH - 20) * value;
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": groups.map(({ name, values }) => `${name}: ${values.map(format).join(", ")}`).join("; ") });
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) drawing.append(svg("line", { class: "axis", x1: at(tick), x2: at(tick), y1: 4, y2: height - 20 }), svg("text", { x: at(tick), y: height - 5, "text-anchor": "middle" }, format(tick)));
  groups.forEach(({ values }, index) => {
    const y = 20 + 34 * index;
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    drawing.append(svg("line", { x1: at(mean), x2: at(mean), y1: y - 12, y2: y + 12, stroke: seriesColour(index), "stroke-width": 2 }));
    values.forEach((value) => drawing.append(svg("circle", { cx: at(value), cy: y, r: 5, fill: seriesColour(index), "fill-opacity": 0.55 }, svg("title", {}, format(value)))));
  });
  container.replaceChildren(el("div", { class: "chart dots" }, drawing), legend(groups));
}
