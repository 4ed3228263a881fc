// A source of an answer: its text with the cited sentence marked.
import { around, button, make } from "./parts.js";

/** Mark the answers in a text, where they stand as whole words. */
export const marked = (text, answers) => {
  if (!answers?.length) return [text];
  const any = answers.map(answer => answer.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const parts = text.split(new RegExp(`(?<![\\p{L}\\p{N}_])(${any})(?![\\p{L}\\p{N}_])`, "gu"));
  return parts.map((part, place) => (place % 2 ? make("b", { text: part }) : part));
};

/** Mark the sentences of a quotation that stand in a text apart from each other. */
const markedParts = (text, quote) => {
  const parts = [];
  let end = 0;
  for (const piece of (quote || "").split(/\s*…\s*|\n+|(?<=[.!?])\s+/).filter(piece => piece.length > 3)) {
    const found = text.indexOf(piece, end);
    if (found < 0) continue;
    parts.push(text.slice(end, found), make("mark", { class: "sentence", text: piece }));
    end = found + piece.length;
  }
  return [...parts, text.slice(end)];
};

/** Draw a source: where it stands, its text with the cited sentence marked, and its file. */
export const drawSource = (one, { shut, link, answers, move }) => {
  const [before, quote, behind] = typeof one.start === "number" ? around(one.text, one.start, one.end) : [one.text, "", ""];
  const parts = quote ? [before, make("mark", { class: "sentence", text: quote }), behind] : markedParts(one.text, one.quote);
  const mark = parts.find(part => part instanceof Element);
  for (const sentence of parts.filter(part => part instanceof Element)) sentence.replaceChildren(...marked(sentence.textContent, answers));
  const body = make("p", { class: "passage", dir: "auto" }, parts);
  const where = [one.heading, one.page ? `page ${one.page}` : "", one.title ? one.name || one.source : ""].filter(Boolean).join(" · ");
  const head = make("header", {}, make("h2", { dir: "auto", text: one.title || one.name || one.source }), button("✕", shut, { class: "plain", "aria-label": "Close the source" }), make("p", { class: "where", dir: "auto", text: where }));
  const lost = one.quote && !mark ? make("p", { class: "empty", text: "The cited words do not stand in the passage word for word." }) : "";
  const beside = [["before", "◂ Passage before"], ["after", "Passage after ▸"]].map(([name, text]) => (one[name] ? button(text, () => move(one[name]), { class: "plain" }) : ""));
  return { parts: [head, body, make("div", { class: "row" }, beside), one.file ? make("p", { class: "file" }, link) : "", lost].filter(Boolean), mark };
};
