"use strict";
/* The question browser: the address after # says what is shown, so every figure of the report can point here. */
const AT_ONCE = 200;
const WON = { "": "any", first: "only the first right", second: "only the second right", both: "both right", neither: "neither right" };
/* Text from documents, models and data sets only ever becomes text here; what came of a line is drawn already, with all text escaped. */
const make = (name, options = {}, ...children) => {
  const { class: kind, text, on, ...attributes } = options;
  const node = document.createElement(name);
  if (kind) node.className = kind;
  if (text !== undefined && text !== null) node.textContent = String(text);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined && value !== null) node.setAttribute(key, value);
  for (const [event, handler] of Object.entries(on || {})) node.addEventListener(event, handler);
  node.append(...children.filter(Boolean));
  return node;
};
const many = (count, thing) => `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
/* Never all where something is missing. */
const share = value => (value === null || value === undefined ? "–" : value < 1 ? Math.min(value, 0.99).toFixed(2) : "1.00");

/* The lines of a run, and one question of them: what was asked, what was wanted, and what each strategy made of it. */
const INDEX = JSON.parse(document.getElementById("index").textContent);
const LINES = INDEX.lines.map(([question, variant, outcome, number, answer, f1], place) => {
  const [dataset, id, asked, gold, aliases, type, hops] = INDEX.questions[question];
  const [strategy, change] = INDEX.variants[variant];
  return {
    place, question, number, answer, f1, id, asked, gold, aliases, hops,
    dataset: INDEX.datasets[dataset], type: INDEX.types[type], outcome: INDEX.outcomes[outcome],
    variant: `${strategy}|${change}`, name: change ? `${strategy}, ${change}` : strategy,
  };
});
const BY_QUESTION = new Map();
for (const line of LINES) BY_QUESTION.set(line.question, [...(BY_QUESTION.get(line.question) || []), line]);

const packs = new Map();
const unpack = number => {
  if (!packs.has(number)) {
    const bytes = Uint8Array.from(atob(document.getElementById(`pack-${number}`).textContent), char => char.charCodeAt(0));
    packs.set(number, new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json());
  }
  return packs.get(number);
};
const drawnOf = async line => {
  const column = make("article", { class: "run" });
  column.innerHTML = (await unpack(Math.floor(line.place / INDEX.together)))[line.place % INDEX.together];
  return column;
};

const badge = outcome => make("span", { class: `outcome ${outcome}`, text: outcome });

const questionOf = line =>
  make("header", {},
    make("p", { class: "made", text: [line.dataset, line.type, line.id].filter(Boolean).join(" · ") }),
    make("h3", { dir: "auto", text: line.asked }),
    make("p", { class: "gold", dir: "auto" }, make("span", { text: "Gold answer " }), make("b", { text: line.gold || "(none)" }),
      line.aliases.length ? make("small", { text: ` also ${line.aliases.join(", ")}` }) : null),
  );

const othersOf = (line, shown, choose) => {
  const rows = BY_QUESTION.get(line.question).filter(other => !shown.includes(other)).map(other =>
    make("tr", {},
      make("th", { scope: "row" }, make("button", { type: "button", class: "plain", text: other.name, on: { click: () => choose(other) } })),
      make("td", {}, badge(other.outcome)), make("td", { dir: "auto", text: other.answer || "–" }), make("td", { text: share(other.f1) })));
  if (!rows.length) return null;
  const head = make("tr", {}, ...["strategy", "outcome", "answer", "F1"].map(text => make("th", { scope: "col", text })));
  return make("details", { class: "others" }, make("summary", { text: `The same question, answered by ${many(rows.length, "other")}` }),
    make("div", { class: "wide" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows))));
};

const view = { dataset: "", first: "", second: "", type: "", hops: "", outcome: "", won: "", find: "", line: "" };
const browser = document.getElementById("lines");
const fields = {};
let shown = [], listed = 0, request = 0;

const nameOf = key => { const place = key.indexOf("|"), change = key.slice(place + 1); return change ? `${key.slice(0, place)}, ${change}` : key.slice(0, place); };
const choice = (name, label, options) => {
  const none = name === "type" ? [["*", "all"]] : [];
  fields[name] = make("select", { on: { change: () => change({ [name]: fields[name].value }) } }, ...[...none, ...options].map(([value, text]) => make("option", { value, text })));
  return make("label", {}, make("span", { text: label }), fields[name]);
};

const build = () => {
  const variants = INDEX.variants.map(([strategy, change]) => [`${strategy}|${change}`, change ? `${strategy}, ${change}` : strategy]);
  let typing;
  fields.find = make("input", { type: "search", placeholder: "in questions, answers, ids", on: { input: () => { clearTimeout(typing); typing = setTimeout(() => change({ find: fields.find.value }), 150); } } });
  const bar = make("form", { class: "bar", on: { submit: event => event.preventDefault() } },
    choice("dataset", "Data set", [["", "all"], ...INDEX.datasets.map(name => [name, name])]),
    choice("first", "Strategy", [["", "all"], ...variants]),
    choice("second", "Beside", [["", "none"], ...variants]),
    choice("won", "Where", Object.entries(WON)),
    choice("outcome", "Outcome", ["", ...INDEX.outcomes].map(name => [name, name || "all"])),
    choice("type", "Type", INDEX.types.map(name => [name, name || "no type"])),
    choice("hops", "Hops", [["", "all"], ...[...new Set(LINES.map(line => line.hops))].sort((a, b) => a - b).map(hops => [String(hops), hops || "unknown"])]),
    make("label", {}, make("span", { text: "Find" }), fields.find),
    make("button", { type: "button", text: "Show all", on: { click: () => change({ dataset: "", first: "", second: "", type: "*", hops: "", outcome: "", won: "", find: "" }) } }));
  fields.count = make("p", { class: "made", role: "status" });
  fields.list = make("ol", { class: "list", "aria-label": "Questions", on: { keydown: step } });
  fields.detail = make("div", { class: "detail", tabindex: "-1" });
  browser.append(bar, fields.count, make("div", { class: "panes" }, fields.list, fields.detail));
};

const matching = () => {
  const words = view.find.toLowerCase().split(/\s+/).filter(Boolean);
  const seconds = view.second && view.first ? new Map(LINES.filter(line => line.variant === view.second).map(line => [line.question, line])) : null;
  return LINES.filter(line => {
    if ((view.dataset && line.dataset !== view.dataset) || (view.first && line.variant !== view.first)) return false;
    if ((view.type !== "*" && line.type !== view.type) || (view.hops && String(line.hops) !== view.hops) || (view.outcome && line.outcome !== view.outcome)) return false;
    if (seconds && !(seconds.has(line.question) && relation(line, seconds.get(line.question)))) return false;
    const text = words.length ? `${line.asked} ${line.answer} ${line.gold} ${line.id}`.toLowerCase() : "";
    return words.every(word => text.includes(word));
  });
};
const relation = (line, other) => {
  const pair = (line.outcome === "right" ? 1 : 0) + (other.outcome === "right" ? 2 : 0);
  return !view.won || view.won === ["neither", "first", "second", "both"][pair];
};

const list = () => {
  shown = matching();
  listed = 0;
  fields.list.replaceChildren();
  more();
  const questions = new Set(shown.map(line => line.question)).size;
  const beside = view.second && view.first ? `, ${nameOf(view.first)} beside ${nameOf(view.second)}` : "";
  fields.count.textContent = shown.length ? `${many(shown.length, "line")} on ${many(questions, "question")}${beside}` : "No line is like that; choose less, or “Show all”.";
};
const more = () => {
  fields.list.querySelector(".more")?.remove();
  fields.list.append(...shown.slice(listed, listed + AT_ONCE).map(itemOf));
  listed = Math.min(listed + AT_ONCE, shown.length);
  if (listed < shown.length) fields.list.append(make("li", { class: "more" }, make("button", { type: "button", text: `Show ${Math.min(AT_ONCE, shown.length - listed)} more of ${shown.length - listed}`, on: { click: more } })));
};
const itemOf = line =>
  make("li", {}, make("button", { type: "button", class: "item", "data-line": line.number, on: { click: () => change({ line: String(line.number) }) } },
    make("span", { class: "asked", dir: "auto", text: line.asked }),
    make("span", { class: "made" }, badge(line.outcome), view.first ? "" : make("span", { text: line.name }), view.dataset ? "" : make("span", { text: line.dataset }), make("span", { dir: "auto", text: `→ ${line.answer || "–"}` }))));

const step = event => {
  const move = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (!move) return;
  event.preventDefault();
  const items = [...fields.list.querySelectorAll("button")];
  const next = items[items.indexOf(document.activeElement) + move];
  if (next) { next.focus(); if (next.dataset.line) change({ line: next.dataset.line }); }
};

const detail = async () => {
  const turn = ++request;
  const line = LINES.find(one => String(one.number) === view.line) || shown[0];
  for (const item of fields.list.querySelectorAll(".item")) item.ariaCurrent = line && item.dataset.line === String(line.number) ? "true" : null;
  if (!line) return fields.detail.replaceChildren();
  const other = view.second ? BY_QUESTION.get(line.question).find(one => one.variant === view.second && one !== line) : null;
  const lines = [line, other].filter(Boolean);
  const told = await Promise.all(lines.map(drawnOf)).catch(error => error);
  if (turn !== request) return;
  if (told instanceof Error) return fields.detail.replaceChildren(questionOf(line), make("p", { class: "warning", text: `This browser cannot unpack the line (${told.message}): read the line ${line.number} of results.jsonl.` }));
  const columns = make("div", { class: other ? "runs two" : "runs" }, ...told);
  fields.detail.replaceChildren(questionOf(line), othersOf(line, lines, one => change({ line: String(one.number) })) || "", columns);
};

const change = asked => {
  const before = { ...view };
  if (!("line" in asked)) view.line = "";
  Object.assign(view, asked);
  const told = new URLSearchParams(Object.entries(view).filter(([name, value]) => (name === "type" ? value !== "*" : value)));
  history.replaceState(null, "", `#lines?${told}`);
  show(before);
};
const show = before => {
  for (const name of ["dataset", "first", "second", "type", "hops", "outcome", "won", "find"]) if (fields[name].value !== view[name]) fields[name].value = view[name];
  fields.won.disabled = !(view.first && view.second);
  if (!before || Object.keys(view).some(name => name !== "line" && view[name] !== before[name])) list();
  detail();
};
const read = () => {
  const [place, told] = location.hash.slice(1).split("?");
  if (place !== "lines") return false;
  const given = new URLSearchParams(told || "");
  for (const name of Object.keys(view)) view[name] = given.get(name) ?? (name === "type" ? "*" : "");
  return true;
};
const follow = () => { if (read()) { show(); browser.scrollIntoView(); } };

build();
view.type = "*";
view.dataset = INDEX.datasets[0] || "";
const answering = new Set(LINES.filter(line => line.outcome !== "searched").map(line => line.variant));
view.first = INDEX.variants.filter(([, change]) => !change).map(one => one.join("|")).filter(one => answering.has(one)).pop() || "";
const asked = read();
show();
if (asked) browser.scrollIntoView();
addEventListener("hashchange", follow);
document.documentElement.dataset.ready = "yes";
