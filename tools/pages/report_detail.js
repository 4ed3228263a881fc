/* One question: what was asked, what was wanted, and what each chosen strategy made of it. */
const INDEX = JSON.parse(document.getElementById("index").textContent);
const LINES = INDEX.lines.map(([question, variant, outcome, number, answer, confidence, em, f1], place) => {
  const [dataset, id, asked, gold, aliases, type] = INDEX.questions[question];
  const [strategy, change] = INDEX.variants[variant];
  return {
    place, question, number, answer, confidence, em, f1, id, asked, gold, aliases, strategy, change,
    dataset: INDEX.datasets[dataset], type: INDEX.types[type], outcome: INDEX.outcomes[outcome],
    variant: `${strategy}|${change}`, name: change ? `${strategy}, ${change}` : strategy,
  };
});
const BY_QUESTION = new Map();
for (const line of LINES) BY_QUESTION.set(line.question, [...(BY_QUESTION.get(line.question) || []), line]);

const CUT = 300; /* characters of a citation that a line keeps */
const packs = new Map();
const unpack = number => {
  if (!packs.has(number)) {
    const bytes = Uint8Array.from(atob(document.getElementById(`pack-${number}`).textContent), char => char.charCodeAt(0));
    packs.set(number, new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json());
  }
  return packs.get(number);
};
const detailOf = async line => (await unpack(Math.floor(line.place / INDEX.together)))[line.place % INDEX.together];

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

const columnOf = (line, told) => {
  const column = make("article", { class: "run" });
  column.append(
    make("p", { class: "head" }, make("b", { text: line.name }), badge(line.outcome), make("span", { class: "made", text: `results.jsonl line ${line.number}` })),
    make("p", { class: "final", dir: "auto", text: line.outcome === "failed" ? "(no answer)" : line.answer || "(nothing)" }),
  );
  if (told.error) column.append(make("p", { class: "warning", dir: "auto", text: told.error }));
  if (line.outcome !== "failed") column.append(make("p", { class: "made", text: scoresOf(line, told) }));
  if (told.stopped_by && !["finished", "error"].includes(told.stopped_by)) column.append(make("p", { class: "warning", text: `stopped by ${told.stopped_by}` }));
  for (const notice of told.notices || []) column.append(make("p", { class: "note", dir: "auto", text: notice }));
  if (told.usage) column.append(make("p", { class: "made", text: costOf(told.usage) }));
  column.append(...[citationsOf(told), retrievedOf(told), treeOf(told.tree, told.legend)].filter(Boolean));
  return column;
};

const scoresOf = (line, told) => {
  const found = told.retrieval && told.retrieval["recall@10"];
  const source = { logprobs: ", from log probabilities", stated: ", as the model states it", reader: ", from the embedded reader" }[told.confidence_source] || "";
  return [`EM ${share(line.em)}`, `F1 ${share(line.f1)}`, `confidence ${figure(line.confidence)}${source}`,
    found === undefined || found === null ? "" : `recall@10 ${share(found)}`].filter(Boolean).join(" · ");
};

const costOf = usage =>
  [`${many(usage.llm_calls || 0, "model call")} (${usage.critical_path_calls || 0} in a row)`,
    `${(usage.prompt_tokens || 0).toLocaleString("en")} + ${(usage.completion_tokens || 0).toLocaleString("en")} tokens`,
    `${(usage.wall_s || 0).toFixed(1)} s`].join(" · ");

const citationsOf = told => {
  const cited = told.citations || [];
  if (!cited.length) return null;
  const items = cited.map(one => {
    const text = one.text ?? "";
    const mark = one.cited === false ? " (shown, not cited)" : "";
    return make("li", {}, make("p", { class: "source", text: `${one.id ?? ""} ${one.source ?? ""}${mark}` }), make("p", { dir: "auto", text: text.length < CUT ? text : `${text} …` }));
  });
  return make("details", {}, make("summary", { text: many(cited.length, cited[0].cited === false ? "passage" : "citation") }), make("ul", { class: "citations" }, ...items));
};

const retrievedOf = told => {
  const ids = told.retrieved || [];
  const gold = new Set(told.gold_documents || []);
  if (!ids.length && !gold.size) return null;
  const missed = [...gold].filter(id => !ids.includes(id));
  const items = [...ids.map(id => [id, gold.has(id) ? "gold" : ""]), ...missed.map(id => [id, "gold, not retrieved"])];
  const list = items.map(([id, mark]) => make("li", {}, make("code", { text: id }), mark ? make("span", { class: mark === "gold" ? "cited" : "missed", text: ` ${mark}` }) : null));
  const summary = make("summary", { text: `${many(ids.length, "document")} retrieved, ${gold.size - missed.length} of ${gold.size} gold` });
  return make("details", {}, summary, make("ul", { class: "ids" }, ...list));
};
