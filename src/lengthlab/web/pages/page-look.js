// Look inside: the attention of one model, or of two side by side, for the same sum.

import { address, complain, el, find } from "./dom.js";
import { Maps } from "./maps.js";
import { clean } from "./numbers.js";
import { server } from "./server.js";

const state = { a: "583", b: "672", layer: null, head: null, ...address.read() };

async function start() {
  const models = await server.models();
  const names = models.map((model) => model.name);
  state.model = names.includes(state.model) ? state.model : names[0];
  state.other ??= names[1] ?? "";
  const options = (chosen) => models.map((model) => el("option", { value: model.name, selected: model.name === chosen }, model.title));
  find("#model").append(...options(state.model));
  find("#other").append(el("option", { value: "none" }, "nothing"), ...options(state.other));
  find("#ask").addEventListener("submit", (event) => {
    event.preventDefault();
    look();
  });
  for (const id of ["#model", "#other"]) find(id).addEventListener("change", look);
  [find("#a").value, find("#b").value] = [state.a, state.b];
  await look();
}

async function look() {
  complain(null);
  [state.a, state.b] = [clean(find("#a").value), clean(find("#b").value)];
  [state.model, state.other] = [find("#model").value, find("#other").value];
  if (!state.a || !state.b) return complain("Type two whole numbers.");
  address.write(state);
  const chosen = [find("#model"), find("#other")].filter((select) => select.value !== "none");
  const cards = chosen.map((select) => [select, el("section", { class: "card inside", "aria-busy": "true" }, el("p", { class: "quiet" }, "Looking…"))]);
  find("#pair").replaceChildren(...cards.map(([, card]) => card));
  await Promise.all(cards.map(async ([select, card]) => {
    try {
      const attention = await server.attention(select.value, state.a, state.b);
      const maps = new Maps(card, (layer, head) => {
        [state.layer, state.head] = [layer, head];
        address.write(state);
      });
      maps.show(select.selectedOptions[0].textContent, attention, state.layer, state.head);
    } catch (error) {
      card.replaceChildren(el("p", { class: "problem" }, error.message));
    }
    card.removeAttribute("aria-busy");
  }));
}

start().catch(complain);
