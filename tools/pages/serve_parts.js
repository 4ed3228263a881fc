// What the page of `ramify serve` is drawn with: elements whose texts are never markup, and requests to the server.

const API = "ramify/v1";
const INVISIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
const NEEDED = { "\u00ad": /[\p{L}\p{M}]$/u, "\u200c": /[\p{L}\p{M}]$/u, "\u200d": /[\p{L}\p{M}\p{So}\p{Sk}\ufe0f]$/u };

/** Write out the characters that a reader would not see, as all pages of ramify do; those that a word or an emoji needs stay. */
export const reveal = text => text.replace(INVISIBLE, (found, place) => {
  const before = text.slice(0, place);
  const needed = /[\ufe00-\ufe0f]/u.test(found) ? /\S$/u.test(before) : NEEDED[found]?.test(before);
  return needed ? found : `⟨U+${found.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
});

/** Make an element. A text is set as text, whatever is in it. */
export const make = (name, given = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "text") made.textContent = reveal(String(value));
    else if (key === "on") for (const [event, heard] of Object.entries(value)) made.addEventListener(event, heard);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter(child => child || child === 0).map(child => (child instanceof Node ? child : reveal(String(child)))));
  return made;
};
export const button = (text, click, given = {}) => make("button", { type: "button", text, on: { click }, ...given });
export const many = (count, one, several = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : several}`;
/** The highest confidence shown, because nothing is certain. */
export const sureness = value => Math.min(value, 0.99);
export const figure = value => (Math.floor(value * 100 + 1e-9) / 100).toFixed(2);

/** Why a request failed: a kind for the script, a message for people. */
export class Failure extends Error {
  constructor(kind, message, status = 0) { super(message); this.kind = kind; this.status = status; }
}
export const access = { token: sessionStorage.getItem("ramify.token") || "", wanted: null };

/** Send a request; ask for a token where the server wants one. */
export const call = async (path, { method = "GET", body, signal } = {}) => {
  const headers = { ...(access.token && { Authorization: `Bearer ${access.token}` }), ...(body !== undefined && { "Content-Type": "application/json" }) };
  let response;
  try {
    response = await fetch(API + path, { method, signal, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("lost", "The server does not answer. Is `ramify serve` still running?");
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  if (response.status === 401 && access.wanted) {
    await access.wanted(access.token ? told.error?.message : "");
    return call(path, { method, body, signal });
  }
  throw new Failure(told.error?.kind || "other", told.error?.message || told.detail || `The server replied with status ${response.status}.`, response.status);
};
export const read = async (path, given) => (await call(path, given)).json();

/** Read server-sent events as they come. */
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch(() => { throw new Failure("lost", "The connection to the server broke off."); });
    if (done) return;
    rest += value;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const block = rest.slice(0, end);
      rest = rest.slice(end + 2);
      const name = /^event: (.*)$/m.exec(block)?.[1];
      if (name) yield { name, data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] || "{}") };
    }
  }
}

export const failed = ({ message }) => {
  const [what, ...remedy] = message.split(" — ");
  return make("section", { class: "error", role: "alert" }, make("p", { text: sentence(what) }), remedy.length ? make("p", { class: "remedy", text: sentence(remedy.join(" — ")) }) : "");
};
export const sentence = told => `${told.charAt(0).toUpperCase()}${told.slice(1).replace(/\.$/, "")}${/[?!]$/.test(told) ? "" : "."}`;

/** Cut a text at places that are counted in characters, as the server counts them. */
export const around = (text, start, end) => {
  const characters = Array.from(text);
  return [characters.slice(0, start), characters.slice(start, end), characters.slice(end)].map(part => part.join(""));
};
/** Draw a value between 0 and 1. */
export const meter = (name, value) => {
  const drawn = make("meter", { min: 0, max: 1, value: value.toFixed(3), "aria-label": name });
  return make("span", { class: "measure" }, `${name} `, drawn, figure(value));
};
