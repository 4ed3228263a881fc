// What the page of `ramify serve` is drawn with: elements whose texts are never markup, requests to the server, and an answer.

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
const sureness = value => Math.min(value, 0.99);
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
const title = one => [one.title || one.name || one.source, one.heading, one.page ? `page ${one.page}` : ""].filter(Boolean).join(" · ");
const file = one => [one.collection, one.title ? one.name || one.source : ""].filter(Boolean).join(": ");
const UNSURE = "no cited passage says this";
const ORIGINS = { logprobs: "from log probabilities", stated: "as the model states it", reader: "from the embedded reader" };
/** Frequent notes of branches in plain words; the note itself stands with the values. */
const PLAIN = [
  [/(?:confidence [\d.]+, )?not above tau [\d.]+(?:, calibrated for [^;,]+)?/g, "less sure than an answer should be"],
  [/filled with ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*") from ([\d.]+)(?:, nothing surer)?(?:, confidence [\d.]+)?/g, "with $1, the answer of step $2"],
  [/pair scored ([\d.]+) of 5/g, "these steps were judged $1 of 5"],
];
const plain = note => PLAIN.reduce((text, [pattern, words]) => text.replace(pattern, words), note);
/** The step that an answer is least sure of; null where it was not split, or no step is unsure. */
const weakest = tree => {
  const steps = (tree || []).filter(one => one.path !== "0" && typeof one.confidence === "number" && one.answer && one.answer !== "Unknown" && !DROPPED.has(one.status));
  return steps.filter(one => one.confidence < LOW).sort((one, other) => one.confidence - other.confidence)[0] || null;
};
const DROPPED = new Set(["pruned", "failed"]);
const LOW = 0.5;
const level = value => (value >= 0.8 ? "high" : value >= LOW ? "medium" : "low: check this");
const surety = value => (value >= 0.8 ? "sure" : value >= LOW ? "fairly sure" : "unsure");
const WORKING = new Set(["open", "waiting", "answered"]);
const byPath = (one, other) => one.split(".").map(Number).reduce((order, part, place) => order || part - Number(other.split(".")[place]), 0);

const meter = (name, value) => {
  const drawn = make("meter", { min: 0, max: 1, value: value.toFixed(3), "aria-label": name });
  return make("span", { class: "measure" }, `${name} `, drawn, figure(value));
};

/** The tree of a question, which grows: a card a branch, nested as the branches are. */
class Tree {
  constructor(open, edit) {
    this.open = open;
    this.edit = edit;
    this.editable = false;
    this.weak = null;
    this.opened = new Set();
    this.summary = make("summary", { text: "How it is found" });
    this.list = make("ol", { class: "branches root" });
    this.root = make("details", { class: "tree", open: true, hidden: true }, this.summary, this.list);
    this.found = new Map();
    this.doing = {};
  }
  take(branches, doing) {
    const touched = new Set([...branches.map(branch => branch.path), ...Object.keys(doing), ...Object.keys(this.doing)]);
    this.doing = doing;
    for (const branch of [...branches].sort((one, other) => one.path.split(".").length - other.path.split(".").length || byPath(one.path, other.path))) this.place(branch);
    for (const path of touched) if (this.found.has(path)) this.draw(this.found.get(path));
    this.root.hidden = !this.found.size;
    this.summary.textContent = `How it ${this.ended ? "was" : "is"} found · ${many(this.found.size, "branch", "branches")}`;
  }
  clear() {
    this.found.clear();
    this.list.replaceChildren();
    this.doing = {};
    this.ended = false;
  }
  /** Say whether its branches can be edited: those of the last question of a conversation, once it has ended. */
  allow(editable) {
    this.editable = editable;
    for (const known of this.found.values()) this.draw(known);
  }
  place(branch) {
    const known = this.found.get(branch.path);
    if (known) { known.branch = { ...known.branch, ...branch }; return; }
    const card = make("article", { class: "card" });
    const made = { branch, card, item: make("li", {}, card) };
    const above = branch.path.includes(".") ? this.found.get(branch.path.slice(0, branch.path.lastIndexOf("."))) : null;
    if (above && !above.below) {
      above.below = make("ol", { class: "branches" });
      above.count = make("summary");
      above.item.append(make("details", { class: "below", open: true }, above.count, above.below));
    }
    (above ? above.below : this.list).append(made.item);
    if (above) above.count.textContent = `${many(above.below.childElementCount, "branch", "branches")} below`;
    this.found.set(branch.path, made);
  }
  draw({ branch, card }) {
    const doing = this.doing[branch.path];
    const tone = doing || WORKING.has(branch.status) ? "working" : branch.status;
    card.className = `card ${tone}${doing ? " busy" : ""}${branch.path === this.weak ? " weak" : ""}`;
    const told = [["confidence", branch.answer === "Unknown" || typeof branch.confidence !== "number" ? null : sureness(branch.confidence)], ["judged", branch.score]].filter(([, value]) => typeof value === "number");
    const asked = branch.kind === "entity" ? `about ${branch.question}` : branch.kind === "batch" ? "a batch of reports" : branch.question;
    card.replaceChildren(
      make("div", { class: "head" }, make("span", { class: "path", text: branch.path }), make("span", { class: "status", text: doing ? `${doing} …` : branch.status })),
      make("p", { class: "question", dir: "auto", text: asked }),
      ...(branch.answer === null || branch.answer === undefined ? [] : [make("p", { class: "answer", dir: "auto" }, make("b", { text: branch.answer || "(nothing)" }))]),
      ...(branch.note || told.length ? [make("p", { class: "note", dir: "auto", text: [told[0]?.[0] === "confidence" ? surety(told[0][1]) : "", branch.note ? plain(branch.note) : ""].filter(Boolean).join("; ") })] : []),
      ...(told.length ? [this.values(branch, told)] : []),
      ...(branch.evidence?.length && branch.kind !== "batch" ? [this.evidence(branch)] : []),
      ...(this.editable && branch.path !== "0" && branch.kind !== "batch" ? [this.acts(branch, card)] : []));
  }
  /** Draw the values of a branch, which are shut at first, and its note as it was written. */
  values(branch, told) {
    const rewritten = branch.note && plain(branch.note) !== branch.note;
    const root = make("details", { class: "values", open: this.opened.has(branch.path), on: { toggle: () => { if (root.open) this.opened.add(branch.path); else this.opened.delete(branch.path); } } },
      make("summary", { text: "values" }), make("div", { class: "measures" }, told.map(([name, value]) => meter(name, value))), rewritten ? make("p", { class: "note", dir: "auto", text: branch.note }) : "");
    return root;
  }
  /** Show a branch: open what it stands in, and move there. */
  show(path) {
    const known = this.found.get(path);
    for (let above = known?.card.parentElement; above; above = above.parentElement.closest("details")) if (above.tagName === "DETAILS") above.open = true;
    known?.card.setAttribute("tabindex", "-1");
    known?.card.focus({ preventScroll: true });
    known?.card.scrollIntoView({ block: "center" });
  }
  acts(branch, card) {
    const acts = make("div", { class: "acts" },
      button("Edit", () => acts.replaceWith(this.editor(branch, card)), { "aria-label": `Edit branch ${branch.path}` }),
      button("Drop", () => this.edit(branch.path), { "aria-label": `Drop branch ${branch.path}` }));
    return acts;
  }
  /** A form with the branch's question: what is sent is asked instead. */
  editor(branch, card) {
    const id = `edit-${branch.path}`;
    const box = make("textarea", { id, rows: 2, maxlength: 20000, dir: "auto", required: true });
    const shut = () => { this.draw({ branch, card }); card.querySelector(".acts button").focus(); };
    const form = make("form", { class: "editor", on: {
      submit: event => { event.preventDefault(); if (box.value.trim()) this.edit(branch.path, box.value.trim()); },
      keydown: event => {
        if (event.key === "Escape") { event.stopPropagation(); shut(); }
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target === box) { event.preventDefault(); form.requestSubmit(); }
      } } },
      make("label", { for: id, text: `Ask in branch ${branch.path} instead` }), box,
      make("div", { class: "acts" }, make("button", { type: "submit", class: "primary", text: "Run on" }), button("Cancel", shut)));
    box.value = branch.question;
    requestAnimationFrame(() => { box.focus(); box.select(); });
    return form;
  }
  evidence({ evidence, cited }) {
    const items = evidence.map(id => make("li", {}, button(cited?.includes(id) ? `${id} · cited` : id, event => this.open({ id }, event.currentTarget))));
    return make("details", { class: "evidence" }, make("summary", { text: `${many(evidence.length, "passage")} found` }), make("ul", {}, items));
  }
}

/** A question with what comes of it. `open(citation, button)` shows a source, `save(kind, turn)` copies or stores the answer, `edit(path, question)` runs on. */
export class Turn {
  constructor(asked, { open, save, edit }) {
    this.asked = asked;
    this.open = (citation, from) => open(citation, from, this);
    this.save = save;
    this.tree = new Tree(this.open, (path, question) => edit(this, path, question));
    this.doing = make("p", { class: "doing", text: "waiting for the server …" });
    this.written = make("div", { class: "text", dir: "auto" });
    this.answer = make("div");
    this.root = make("article", { class: "turn", "aria-label": asked.slice(0, 80) }, make("h2", { dir: "auto", text: asked }), this.doing, this.answer, this.tree.root);
  }
  /** Make ready for another answer, which takes the place of this one. */
  again() {
    Object.assign(this, { result: null, failure: null, text: "", remarks: null, rating: null });
    this.doing.textContent = "waiting for the server …";
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
    this.tree.ended = true;
    this.tree.take([], {});
    this.answer.replaceChildren(failure.kind === "stopped" ? make("p", { class: "empty", text: "Stopped. Ask again, or edit a branch to run on from there." }) : failed(failure));
  }
  show(told) {
    const result = this.result = { quoted: told.model === "extractive", confidence_source: told.tree?.[0]?.confidence_source, ...told };  // conversations do not keep these
    this.doing.remove();
    const paths = new Set((result.tree || []).map(branch => branch.path));
    if ([...this.tree.found.keys()].some(path => !paths.has(path))) this.tree.clear();  // a split that was rejected leaves no branches
    this.tree.ended = true;
    const weak = result.confidence < LOW ? weakest(result.tree) : null;
    this.tree.weak = weak?.path;
    this.tree.take(result.tree || [], {});
    const said = this.remarks || {};
    const notices = (result.notices || []).filter(text => !this.told?.has(text));  // what stands above in the conversation is not repeated
    if (said.understood) this.root.querySelector(".understood")?.remove();
    if (said.understood) this.root.querySelector("h2").after(make("p", { class: "understood", dir: "auto", text: said.understood }));
    this.answer.replaceChildren(
      result.asked_back ? make("section", { class: "result" }, make("p", { class: "final long", dir: "auto", text: result.asked_back })) : this.drawn(result, said),
      ...(notices.length ? [make("aside", { class: "notices" }, notices.map(text => make("p", { dir: "auto", text })))] : []),
      ...(result.error ? [failed({ message: result.error })] : []),
      this.actions(),
      ...this.sources(result));
  }
  drawn(result, said) {
    const text = linesOf(result), unknown = result.answer === "Unknown";
    const closest = result.citations?.some(one => one.closest);
    const behind = text.length ? [] : (result.citations || []).flatMap((one, place) => (one.cited ? [this.number(place + 1)] : []));
    return make("section", { class: "result" },
      isQuoted(result) ? "" : make("p", { class: `final${unknown ? " unknown" : result.answer.length > 120 ? " long" : ""}` }, make("span", { dir: "auto", text: result.answer }), behind),
      text.length && (result.quoted || (unknown && closest)) ? make("p", { class: "note", text: unknown && closest ? "Closest passages, which may not hold the answer:" : "Quoted from the sources:" }) : "",
      text.length ? make("div", { class: `text${result.quoted ? " quoted" : ""}`, dir: "auto" }, text.map(line => make("p", {}, line.map(one => this.said(one))))) : "",
      typeof result.confidence === "number" ? make("div", { class: "measures" }, meter("confidence", sureness(result.confidence)), make("span", { text: [level(result.confidence), ORIGINS[result.confidence_source]].filter(Boolean).join(", ") }), this.unsure(result)) : "",
      result.explanation && !result.notices?.includes(result.explanation) ? make("p", { dir: "auto", text: result.explanation }) : "",
      (said.notes || []).map(text => make("p", { class: "note", text })),
      said.stopped ? make("p", { class: "warning", text: said.stopped }) : "",
      said.checked ? this.checks(said.checked) : "",
      said.cost ? make("p", { class: "cost", text: said.cost }) : "");
  }
  /** Name the step that the answer is least sure of, with a button that leads to it. */
  unsure(result) {
    const weak = result.confidence < LOW ? weakest(result.tree) : null;
    return weak ? button(`Step ${weak.path} is unsure: ${weak.question}`, () => this.tree.show(weak.path), { class: "plain weak", dir: "auto" }) : "";
  }
  /** Draw what was checked of the answer without a model; what does not hold can be opened. */
  checks({ summary, holds, checks }) {
    const line = `Checked: ${summary}; that the quotes answer the question is not checked`, kind = holds ? "checked" : "warning";
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
    const mark = one.cited === false ? (one.closest ? " (only close)" : " (not cited)") : "";
    const head = make("span", { class: "title", dir: "auto" }, title(one), file(one) || mark ? make("span", { class: "file", text: ` ${file(one)}${mark}` }) : "");
    return make("li", {}, make("button", { type: "button", "aria-expanded": "false", "aria-controls": "source", on: { click: event => this.open(one, event.currentTarget) } },
      make("span", { class: "place", text: `[${place}]` }), head, make("span", { class: "quote", dir: "auto" }, marked(one.quote || one.text, this.remarks?.marked))));
  }
  actions() {
    const acts = [["copy", "Copy as Markdown"], ["html", "Save as HTML"], ["json", "Save as JSON"]];
    const rates = this.result.asked_back ? [] : [["up", "👍", "Right: rate this answer up"], ["down", "👎", "Wrong: rate this answer down"]];
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
  const sure = typeof result.confidence === "number" ? `Confidence ${figure(sureness(result.confidence))} (${level(result.confidence)})` : "";
  return `${[`## ${plain(asked)}`, isQuoted(result) ? "" : `**${plain(result.asked_back || result.answer)}**`, ...lines, sure, sources.length ? "### Sources" : "", sources.join("\n")].filter(Boolean).join("\n\n")}\n`;
};

/** Mark the answers in a text, where they stand as whole words. */
const marked = (text, answers) => {
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
export const drawSource = (one, { shut, link, answers }) => {
  const [before, quote, behind] = typeof one.start === "number" ? around(one.text, one.start, one.end) : [one.text, "", ""];
  const parts = quote ? [before, make("mark", { class: "sentence", text: quote }), behind] : markedParts(one.text, one.quote);
  const mark = parts.find(part => part instanceof Element);
  for (const sentence of parts.filter(part => part instanceof Element)) sentence.replaceChildren(...marked(sentence.textContent, answers));
  const body = make("p", { class: "passage", dir: "auto" }, parts);
  const where = [one.heading, one.page ? `page ${one.page}` : "", one.title ? one.name || one.source : ""].filter(Boolean).join(" · ");
  const head = make("header", {}, make("h2", { dir: "auto", text: one.title || one.name || one.source }), button("✕", shut, { class: "plain", "aria-label": "Close the source" }), make("p", { class: "where", dir: "auto", text: where }));
  const lost = one.quote && !mark ? make("p", { class: "empty", text: "The cited words do not stand in the passage word for word." }) : "";
  return { parts: [head, body, one.file ? make("p", { class: "file" }, link) : "", lost].filter(Boolean), mark };
};
