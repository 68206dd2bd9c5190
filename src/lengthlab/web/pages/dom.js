// Small helpers that every page uses: elements, the server, the address as the page's state.

const SVG = "http://www.w3.org/2000/svg";

/** An element: el("p", {class: "quiet", onclick}, "text", child). Properties that are functions become listeners. */
export function el(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** The same for drawings. */
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

/** JSON from the server; a problem becomes an Error with its sentence. */
export async function ask(path, query = {}) {
  let answer;
  try {
    answer = await fetch(`/api/${path}?${new URLSearchParams(query)}`);
  } catch {
    throw new Error("The server does not answer. Is lengthlab serve still running?");
  }
  const body = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
  if (!answer.ok) throw new Error(body.error);
  return body;
}

/** What the address says, and a way to say it there: every state of a page has a link. A file has it after #. */
export const address = {
  read: () => Object.fromEntries(new URLSearchParams(location.search || location.hash.slice(1))),
  write(state) {
    const kept = Object.entries(state).filter(([, value]) => value !== "" && value != null);
    const query = new URLSearchParams(kept).toString();
    const mark = location.protocol.startsWith("http") ? "?" : "#";
    if (location.protocol !== "about:") history.replaceState(null, "", query ? mark + query : location.pathname);
  },
};

export const percent = (share) => {
  const text = (100 * share).toFixed(share > 0.0005 && share < 0.9995 ? 1 : 0);
  return `${text.replace(".0", "")}%`;
};

export const find = (selector) => document.querySelector(selector);

/** Show a problem where the page has room for it; an empty one hides it. */
export function complain(error) {
  const place = find("#problem");
  place.textContent = error ? error.message ?? error : "";
  place.hidden = !error;
}

/** Answers may come in another order than the questions: `const newest = turn()`, and `newest()` tells if one still counts. */
export function turns() {
  let last = 0;
  return () => {
    const mine = ++last;
    return () => mine === last;
  };
}

/** Wait for a quiet moment before acting on what is typed. */
export function quietly(action, milliseconds = 300) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), milliseconds);
  };
}
