// A sum as tokens, columns and position ids, as lengthlab writes it (formats/equation.py, positions/).

const BEGIN = 11;
export const END = 12;

/** {tokens, ids, columns, answer}: the columns hold the right answer too, the tokens only the question.
 *  Every column has an id for each (position ids, encoding) pair. */
export function writeQuestion(config, vocabulary, a, b, due) {
  const { hints, order, hints_at_test: begin, hint_order: hintOrder } = config.format;
  const places = due.length; // room for the carry in every number
  const random = generator(`${a}+${b}`);
  const starts = hintOrder === "ring" ? hints : hints - places + 1; // in a ring the first follows the last
  const start = begin === "random" ? Math.floor(random() * starts) : 0;
  const hint = (rank) => vocabulary.length - hints + (start + rank) % hints;
  const up = [...Array(places).keys()], down = [...up].reverse();
  const unitsFirst = order === "reversed";
  const columns = [column(vocabulary, BEGIN, "begin", 0, -1)];
  const digits = (number, source, listed) => listed.forEach((place) => {
    if (hints) columns.push(column(vocabulary, hint(unitsFirst ? place : places - 1 - place), "hint", number, place));
    columns.push(column(vocabulary, source(place), "digit", number, place));
  });
  const of = (text) => (place) => Number(text[text.length - 1 - place] ?? 0);
  digits(0, of(a), unitsFirst ? up : down);
  columns.push(column(vocabulary, vocabulary.indexOf("+"), "separator", 1, -1));
  digits(1, of(b), unitsFirst ? up : down);
  columns.push(column(vocabulary, vocabulary.indexOf("="), "separator", 2, -1));
  const answer = columns.length;
  digits(2, (place) => due[place], order === "standard" ? down : up);
  columns.push(column(vocabulary, END, "end", 2, -1));
  const ofPairs = [config, ...config.also].map(({ positions }) => positionIds(positions, columns, random));
  const ids = columns.map((_, index) => ofPairs.map((found) => found[index]));
  return { columns, answer, tokens: columns.slice(0, answer).map(({ token }) => token), ids };
}

const column = (vocabulary, token, role, number, place) => ({ token, text: vocabulary[token], role, number, place });

/** The ids of all columns at test. */
export function positionIds(options, columns, random) {
  const count = columns.length;
  if (options.kind === "coupled") {
    const { symbols } = options, units = symbols === "after" ? 1 : 2;
    const top = Math.max(...columns.map(({ place }) => place)) + units + 1;
    const lower = { before: { "+": 1, "=": 1, end: 0 }, after: {}, around: { "=": 1 } }[symbols];
    const others = { begin: 0, "+": top, "=": top, end: top, ...lower };
    return columns.map(({ role, place, text }) => (place >= 0 ? place + units : others[role === "separator" ? text : role]));
  }
  if (options.kind === "randomized" && options.at_test) {
    const all = [...Array(options.maximum).keys()];
    for (let index = 0; index < count; index++) { // the first of a shuffle, then in order
      const other = index + Math.floor(random() * (all.length - index));
      [all[index], all[other]] = [all[other], all[index]];
    }
    return all.slice(0, count).sort((x, y) => x - y);
  }
  return [...Array(count).keys()];
}

/** Random numbers that depend on a text alone (mulberry32), so that a link shows the same sum again. */
function generator(text) {
  let state = 2166136261;
  for (const letter of text) state = Math.imul(state ^ letter.charCodeAt(0), 16777619);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
