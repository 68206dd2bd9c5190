// Answers from lengthlab serve: JSON, and a sum's tokens as server-sent events.

import { ask } from "./dom.js";

let leave = () => {}; // ends the sum that is being computed

export const server = {
  longest: 1000, // digits that it takes (models.py)
  models: () => ask("models"),
  details: (name) => ask("model", { name }),

  /** Ask for a sum; `hear(kind, event)` is called for question, each token, and done. One that is still being computed ends. */
  async ask(model, a, b, hear) {
    leave();
    const query = new URLSearchParams({ model, a, b });
    await new Promise((resolve, reject) => {
      const stream = new EventSource(`/api/events?${query}`);
      const end = () => {
        stream.close();
        resolve();
      };
      leave = end;
      for (const kind of ["question", "token", "done"])
        stream.addEventListener(kind, ({ data }) => {
          hear(kind, JSON.parse(data));
          if (kind === "done") end();
        });
      stream.addEventListener("problem", ({ data }) => {
        stream.close();
        reject(new Error(JSON.parse(data).error));
      });
      stream.onerror = async () => {
        stream.close(); // an EventSource tells no reason; the same question without a stream does
        await ask("sum", { model, a, b }).then(() => reject(new Error("The answer was cut off; ask again.")), reject);
      };
    });
  },

  async attention(model, a, b) {
    const answer = await ask("attention", { model, a, b });
    return { ...answer, data: bytes(answer.data), bias: answer.bias && { ...answer.bias, data: bytes(answer.bias.data) } };
  },
};

function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
