// What pages are drawn with: elements whose texts are never markup.

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
