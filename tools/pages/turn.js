// A question with what comes of it: its answer, its sources, its tree, and the answer as Markdown.
import { button, failed, figure, make, many, meter, reveal, sureness } from "./parts.js";
import { marked } from "./source.js";
import { LOW, Tree, surety, weakest } from "./tree.js";

const title = one => [one.title || one.name || one.source, one.heading, one.page ? `page ${one.page}` : ""].filter(Boolean).join(" · ");
const file = one => [one.collection, one.title ? one.name || one.source : ""].filter(Boolean).join(": ");
const UNSURE = "no cited passage says this";
const ORIGINS = { logprobs: "from log probabilities", stated: "as the model states it", reader: "from the embedded reader" };
const advice = value => (value < LOW ? "low: check this" : surety(value));

const WAITING = "waiting for the server …";

/**
 * A question with what comes of it. `open(citation, button)` shows a source; `has(id)` tells whether that of a passage can be shown.
 * Where there are none of these, nothing is offered: `save(kind, turn)` copies, stores or rates the answer, `edit(path, question)` runs on.
 */
export class Turn {
  constructor(asked, { open, has = () => true, save = null, edit = null, waiting = WAITING }) {
    this.asked = asked;
    this.open = (citation, from) => open(citation, from, this);
    this.save = save;
    this.tree = new Tree(this.open, has, (path, question) => edit(this, path, question));
    this.doing = make("p", { class: "doing", text: waiting });
    this.written = make("div", { class: "text", dir: "auto" });
    this.answer = make("div");
    this.root = make("article", { class: "turn", "aria-label": asked.slice(0, 80) }, make("h2", { dir: "auto", text: asked }), this.doing, this.answer, this.tree.root);
  }
  /** Make ready for another answer, which takes the place of this one. */
  again() {
    Object.assign(this, { result: null, failure: null, text: "", remarks: null, rating: null });
    this.tree.quotes.clear();
    this.doing.textContent = WAITING;
    this.root.querySelector("h2").after(this.doing);
    this.written.textContent = "";
    this.answer.replaceChildren();
    this.tree.clear();
  }
  take({ name, data }) {
    if (name === "waiting") this.doing.textContent = data.position ? `place ${data.position} in the queue …` : "its turn has come …";
    if (name === "tree") {
      this.tree.take(data.branches, data.doing);
      const [path, what] = Object.entries(data.doing).at(-1) || [];
      if (what) this.doing.textContent = `${what}${path === "0" ? "" : ` (branch ${path})`} …`;
    }
    if (name === "text") {
      this.text = data.anew ? data.delta : (this.text || "") + data.delta;
      this.written.textContent = reveal(this.text);
      if (!this.written.isConnected) this.answer.append(make("section", { class: "result" }, this.written));
    }
    if (name === "remarks") this.remarks = data;
    if (name === "result") this.show(data);
    if (name === "error") this.fail(data);
  }
  fail(failure) {
    this.failure = failure;
    this.doing.remove();
    this.tree.end();
    this.answer.replaceChildren(failure.again ? make("p", { class: "empty" }, "This question was not answered. ", button("Ask again", failure.again, { class: "plain" }))
      : failure.kind === "stopped" ? make("p", { class: "empty", text: failure.told || "Stopped. Ask again, or edit a branch to run on from there." }) : failed(failure));
  }
  show(told) {
    this.tree.quotes = new Map((told.citations || []).filter(one => one.quote).map(one => [one.id, one.quote.replace(/^…\s*|\s*…$/g, "")]));
    const result = this.result = { quoted: told.model === "extractive", confidence_source: told.tree?.[0]?.confidence_source, ...told };  // conversations do not keep these
    this.doing.remove();
    const paths = new Set((result.tree || []).map(branch => branch.path));
    if ([...this.tree.found.keys()].some(path => !paths.has(path))) this.tree.clear();  // a split that was rejected leaves no branches
    const weak = result.confidence < LOW ? weakest(result.tree) : null;
    this.tree.weak = weak?.path;
    this.tree.take(result.tree || [], {});
    this.tree.end();
    const said = this.remarks || {};
    const notices = (result.notices || []).filter(text => !this.told?.has(text));  // what stands above in the conversation is not repeated
    if (said.understood) this.root.querySelector(".understood")?.remove();
    if (said.understood) this.root.querySelector("h2").after(make("p", { class: "understood", dir: "auto", text: said.understood }));
    this.answer.replaceChildren(
      result.asked_back ? make("section", { class: "result" }, make("p", { class: "final long", dir: "auto", text: result.asked_back })) : this.drawn(result, said),
      ...(notices.length ? [make("aside", { class: "notices" }, notices.map(text => make("p", { dir: "auto", text })))] : []),
      ...(result.error ? [failed({ message: result.error })] : []),
      this.save ? this.actions() : "",
      ...this.sources(result));
  }
  drawn(result, said) {
    const text = linesOf(result), unknown = result.answer === "Unknown";
    const closest = result.citations?.some(one => one.closest);
    const behind = text.length ? [] : (result.citations || []).flatMap((one, place) => (one.cited ? [this.number(place + 1)] : []));
    return make("section", { class: "result" },
      isQuoted(result) ? "" : make("p", { class: `final${unknown ? " unknown" : `${result.answer.length > 120 ? " long" : ""}${result.confidence < LOW ? " low" : ""}`}` }, make("span", { dir: "auto", text: result.answer }), behind),
      text.length && (result.quoted || (unknown && closest)) ? make("p", { class: "note", text: unknown && closest ? "Closest passages, which may not hold the answer:" : "Quoted from the sources:" }) : "",
      text.length ? make("div", { class: `text${result.quoted ? " quoted" : ""}`, dir: "auto" }, text.map(line => make("p", {}, line.map(one => this.said(one))))) : "",
      typeof result.confidence === "number" ? make("div", { class: "measures" }, meter("confidence", sureness(result.confidence)), make("span", { text: [advice(result.confidence), ORIGINS[result.confidence_source]].filter(Boolean).join(", ") }), this.unsure(result)) : "",
      result.explanation && !result.notices?.includes(result.explanation) ? make("p", { dir: "auto", text: result.explanation }) : "",
      (said.notes || []).map(text => make("p", { class: "note", text })),
      unknown && this.given?.files ? make("p", { class: "note", text: `Only ${many(this.given.files.length, "file")} ${this.given.files.length === 1 ? "was" : "were"} asked: ask all files, or tick others.` }) : "",
      said.stopped ? make("p", { class: "warning", text: said.stopped }) : "",
      said.checked ? this.checks(said.checked) : "",
      said.cost ? make("details", { class: "cost" }, make("summary", { text: /[\d.,]+ s(?=,|$| ·)/.exec(said.cost)?.[0] || "cost" }), make("p", { text: said.cost })) : "");
  }
  /** Name the step that the answer is least sure of, with a button that leads to it. */
  unsure(result) {
    const weak = result.confidence < LOW ? weakest(result.tree) : null;
    return weak ? button(`Step ${weak.path} is unsure: ${weak.question}`, () => this.tree.show(weak.path), { class: "plain weak", dir: "auto" }) : "";
  }
  /** Draw what was checked of the answer without a model; what does not hold can be opened. */
  checks({ summary, holds, checks }) {
    const line = `${holds ? "The quotes stand in the files word for word. Whether they answer the question is not checked." : "Not everything here stands in the files as it is quoted."} (${summary})`;
    const kind = holds ? "checked" : "warning";
    if (!checks.length) return make("p", { class: kind, text: line });
    const item = one => make("li", {}, make("b", { text: one.verdict === "fails" ? "✗ " : "? ", title: one.verdict }), `${/^[\d.]+$/.test(one.where) ? `branch ${one.where}` : one.where}, ${one.what}: ${one.reason}`);
    return make("details", { class: `checks ${kind}` }, make("summary", { text: line }), make("ul", { dir: "auto" }, checks.map(item)));
  }
  said(one) {
    const unsure = one.supported === false;
    const words = make("span", { class: unsure ? "unsupported" : null }, this.result.quoted ? marked(one.text, this.remarks?.marked) : one.text);
    return make("span", {}, words, " ", one.citations.map(place => this.number(place)), unsure ? make("span", { class: "unsure", text: ` (${UNSURE}) ` }) : " ");
  }
  number(place) {
    const one = this.result.citations[place - 1];
    return one ? button(`[${place}]`, event => this.open(one, event.currentTarget), { class: "number", "aria-label": `Source ${place}: ${title(one)}`, "aria-expanded": "false", "aria-controls": "source" }) : "";
  }
  /** Draw what the answer rests on, and apart from it what only comes close to the question. */
  sources(result) {
    const numbered = (result.citations || []).map((one, place) => [one, place + 1]);
    const apart = result.answer !== "Unknown" && numbered.some(([one]) => one.closest);
    const lists = apart ? [["Rests on", numbered.filter(([one]) => !one.closest)], ["Also close", numbered.filter(([one]) => one.closest)]] : [["Sources", numbered]];
    return lists.filter(([, list]) => list.length).flatMap(([name, list]) => [make("h3", { text: name }), make("ol", { class: "sources" }, list.map(([one, place]) => this.source(one, place)))]);
  }
  source(one, place) {
    const above = this.result.quoted && one.quote && (this.result.sentences || []).some(said => said.citations.includes(place) && one.quote.includes(said.text));  // what is quoted above is not repeated
    const mark = one.cited === false ? (one.closest ? " (only close)" : " (not cited)") : "";
    const head = make("span", { class: "title", dir: "auto" }, title(one), file(one) || mark ? make("span", { class: "file", text: ` ${file(one)}${mark}` }) : "");
    return make("li", {}, make("button", { type: "button", "aria-expanded": "false", "aria-controls": "source", on: { click: event => this.open(one, event.currentTarget) } },
      make("span", { class: "place", text: `[${place}]` }), head, above ? "" : make("span", { class: "quote", dir: "auto" }, marked(one.quote || one.text, this.remarks?.marked))));
  }
  actions() {
    const acts = [["copy", "Copy as Markdown"], ["html", "Save as HTML"], ["json", "Save as JSON"]];
    const rates = this.result.asked_back ? [] : [["up", "✓ Right", "Right: rate this answer up"], ["down", "✗ Wrong", "Wrong: rate this answer down"]];
    return make("div", { class: "actions" },
      acts.map(([kind, text]) => button(text, event => this.save(kind, this, event.currentTarget))),
      rates.map(([kind, text, label]) => button(text, event => this.save(kind, this, event.currentTarget), { class: "plain", "aria-label": label, title: label, "aria-pressed": String(this.rating === kind) })));
  }
}

/** Tell whether the quoted sentences are the answer: steps, a list, an explanation. They are shown once. */
const isQuoted = result => result.quoted && (result.sentences || []).map(one => one.text).join("\n") === result.answer;

/** Group sentences by the lines of the text; none where the text says no more than the answer. */
const linesOf = result => {
  const said = result.sentences || [];
  if (!result.quoted && said.length === 1 && said[0].text.replace(/[ .]+$/, "") === result.answer.replace(/[ .]+$/, "") && said[0].supported !== false) return [];
  const lines = [];
  let place = 0, line = -1;
  for (const one of said) {
    const found = (result.text || "").indexOf(one.text, place);
    const begin = found < 0 ? place : found;
    const row = (result.text || "").slice(0, begin).split("\n").length;
    if (row !== line || !lines.length) lines.push([]);
    lines.at(-1).push(one);
    line = row;
    place = begin + (found < 0 ? 0 : one.text.length);
    line += one.text.split("\n").length - 1;
  }
  return lines;
};

/** Write an answer as Markdown with its sources; what documents say begins no link, picture or element. */
export const markdown = (asked, result) => {
  const plain = text => reveal(text || "").replace(/[\\`]|~(?=~)|<(?=[A-Za-z/!?])|(?<=\])[(:[]|!(?=\[)|\[(?=\^)/g, "\\$&").replace(/\s*\n\s*/g, " ").trim();
  const lines = linesOf(result).map(line => line.map(one => `${plain(one.text)}${one.citations.map(place => ` [${place}]`).join("")}${one.supported === false ? ` *(${UNSURE})*` : ""}`).join(" "));
  const sources = (result.citations || []).map((one, place) => `${place + 1}. ${plain(title(one))}${file(one) ? `, ${plain(file(one))}` : ""}: ${plain(one.quote || one.text)}`);
  const sure = typeof result.confidence === "number" ? `Confidence ${figure(sureness(result.confidence))} (${advice(result.confidence)})` : "";
  return `${[`## ${plain(asked)}`, isQuoted(result) ? "" : `**${plain(result.asked_back || result.answer)}**`, ...lines, sure, sources.length ? "### Sources" : "", sources.join("\n")].filter(Boolean).join("\n\n")}\n`;
};
