// The tree of a question: a card for each branch.
import { button, make, many, meter, sureness } from "./parts.js";

/** The confidence below which an answer should be checked. */
export const LOW = 0.5;
const UNSURE = "less sure than an answer should be";
/** Frequent notes of branches in plain words; the note itself stands with the values. */
const PLAIN = [
  [/(?:confidence [\d.]+, )?not above tau [\d.]+(?:, calibrated for [^;,]+)?/g, UNSURE],
  [/filled with ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*") from ([\d.]+)(?:, nothing surer)?(?:, confidence [\d.]+)?/g, "with $1, the answer of step $2"],
  [/pair scored ([\d.]+) of 5/g, "these steps were judged $1 of 5"],
  [/carried over from ([\d.]+)/g, "kept from step $1"],
];
const plain = note => PLAIN.reduce((text, [pattern, words]) => text.replace(pattern, words), note);
/** Notes that say no more of a question that was not split than stands beside its answer. */
const QUIET = /^(?:(?:^|; )(?:simple: asks for one fact|less sure than an answer should be))*$/;
/** The step that an answer is least sure of; null where it was not split, or no step is unsure. */
export const weakest = tree => {
  const steps = (tree || []).filter(one => one.path !== "0" && typeof one.confidence === "number" && one.answer && one.answer !== "Unknown" && !DROPPED.has(one.status));
  return steps.filter(one => one.confidence < LOW).sort((one, other) => one.confidence - other.confidence)[0] || null;
};
const DROPPED = new Set(["pruned", "failed"]);
export const surety = value => (value >= 0.8 ? "sure" : value >= LOW ? "fairly sure" : "unsure");
const WORKING = new Set(["open", "waiting", "answered"]);
const byPath = (one, other) => one.split(".").map(Number).reduce((order, part, place) => order || part - Number(other.split(".")[place]), 0);

/** The tree of a question, which grows: a card a branch, nested as the branches are. `has(id)` tells whether a passage can be opened. */
export class Tree {
  constructor(open, has, edit) {
    this.open = open;
    this.has = has;
    this.edit = edit;
    this.editable = false;
    this.weak = null;
    /** The quoted sentence of each cited passage, once the answer is there. */
    this.quotes = new Map();
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
  /** Say that nothing more comes; a question that was not split, of which nothing is remarked, has no tree to look at. */
  end() {
    this.ended = true;
    this.take([], {});
    this.root.open = this.found.size !== 1 || [...this.found.values()].some(({ branch }) => !QUIET.test(plain(branch.note || "")));
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
    const asked = branch.kind === "entity" ? `about ${branch.question}` : branch.kind === "batch" ? "a batch of reports"
      : branch.awaits ? branch.question.replaceAll("{1}", `[answer of step ${branch.awaits}]`) : branch.question;
    card.replaceChildren(
      make("div", { class: "head" }, make("span", { class: "path", text: branch.path }), make("span", { class: "status", text: doing ? `${doing} …` : branch.status })),
      make("p", { class: "question", dir: "auto", text: asked }),
      ...(branch.answer === null || branch.answer === undefined ? [] : [make("p", { class: "answer", dir: "auto" }, make("b", { text: branch.answer || "(nothing)" }))]),
      ...(branch.status === "inner" || !branch.answer ? [] : branch.cited || []).filter(id => this.quotes.get(id)?.includes(branch.answer)).slice(0, 1).map(id => make("p", { class: "said", dir: "auto", text: `“${this.quotes.get(id)}”` })),
      ...(branch.note || told.length ? [make("p", { class: "note", dir: "auto", text: [told[0]?.[0] === "confidence" && !plain(branch.note || "").includes(UNSURE) ? surety(told[0][1]) : "", branch.note ? plain(branch.note) : ""].filter(Boolean).join("; ") })] : []),
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
    const item = (id, text) => (this.has(id) ? button(text, event => this.open({ id }, event.currentTarget), { "aria-expanded": "false", "aria-controls": "source" }) : text);
    const items = evidence.map(id => make("li", { dir: "auto" }, item(id, cited?.includes(id) ? `${id} · cited` : id)));
    return make("details", { class: "evidence" }, make("summary", { text: `${many(evidence.length, "passage")} found` }), make("ul", {}, items));
  }
}
