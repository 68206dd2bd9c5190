// Whole numbers as strings of digits: exact at any length.

/** a + b as places from the units up: [{a, b, carry, digit}], one place more than the longer number. */
export function longhand(a, b) {
  const places = [];
  let carry = 0;
  for (let place = 0; place <= Math.max(a.length, b.length); place++) {
    const [x, y] = [a, b].map((number) => Number(number[number.length - 1 - place] ?? 0));
    const total = x + y + carry;
    places.push({ a: x, b: y, carry, digit: total % 10 });
    carry = total >= 10 ? 1 : 0;
  }
  return places;
}

/** A random number of exactly so many digits. */
export function randomNumber(digits) {
  const bytes = crypto.getRandomValues(new Uint32Array(digits));
  return Array.from(bytes, (value, index) => (index === 0 && digits > 1 ? 1 + (value % 9) : value % 10)).join("");
}

/** Only the digits of what was typed, without leading zeros. */
export function clean(text) {
  return text.replace(/\D/g, "").replace(/^0+(?=\d)/, "");
}

/** Lengths that a slider offers: each up to 20, then in wider and wider steps. */
export function stops(longest) {
  const found = [];
  for (let digits = 1; digits <= longest; digits += digits < 20 ? 1 : digits < 50 ? 5 : digits < 100 ? 10 : digits < 300 ? 50 : 100)
    found.push(digits);
  if (found.at(-1) !== longest) found.push(longest);
  return found;
}

/** 1 digit, 2 digits, 1,000 digits. */
export const digitsOf = (count) => `${count.toLocaleString("en")} digit${count === 1 ? "" : "s"}`;

/** The name of a place: units, tens, ... then powers. */
export function placeName(place) {
  const names = ["units", "tens", "hundreds", "thousands", "ten thousands", "hundred thousands", "millions"];
  return names[place] ?? `10${[...String(place)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")} place`;
}
