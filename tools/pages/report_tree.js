/* A tree as `ask --html` shows it: the same cards in the same style. They are made here, because most lines are never looked at. */
const SETTLED = ["leaf", "inner", "split", "pruned", "failed"];
const LONGEST = 300; /* characters of a question that are shown */
const brief = text => { const all = [...String(text)]; return all.length <= LONGEST ? text : `${all.slice(0, LONGEST - 1).join("").trimEnd()}…`; };

const treeOf = (branches, legend = {}) => {
  const below = new Map();
  for (const branch of branches) {
    const parent = branch.path.includes(".") ? branch.path.slice(0, branch.path.lastIndexOf(".")) : "";
    below.set(parent, [...(below.get(parent) || []), branch]);
  }
  const grow = branch => make("li", {}, cardOf(branch), foldOf(branch));
  const foldOf = branch => {
    const children = below.get(branch.path);
    if (!children) return null;
    const count = branches.filter(other => other.path.startsWith(`${branch.path}.`)).length;
    const summary = make("summary", { text: `${count} ${count === 1 ? "branch" : "branches"} below` });
    return make("details", { class: "below", open: "" }, summary, make("ol", { class: "branches" }, ...children.map(grow)));
  };
  return branches.length ? make("div", { class: "ramify" }, make("ol", { class: "branches root" }, ...(below.get("") || []).map(grow)), legendOf(legend)) : null;
};

const legendOf = legend => {
  const told = Object.entries(legend).flatMap(([word, meaning]) => [make("dt", { text: word }), make("dd", { text: meaning })]);
  return told.length ? make("dl", { class: "legend" }, ...told) : null;
};

const cardOf = branch => {
  const tone = SETTLED.includes(branch.status) ? branch.status : "working";
  const card = make("article", { class: `card ${tone}` });
  const words = (branch.words || []).map(word => make("span", { class: "word", title: branch.noted, text: word }));
  card.append(
    make("div", { class: "head" }, make("span", { class: "path", text: branch.path }), make("span", { class: "status", text: branch.status }), ...words),
    make("p", { class: "question", dir: "auto", text: brief(branch.kind === "entity" ? `about ${branch.question}` : branch.question) }),
  );
  if (branch.answer !== undefined) card.append(make("p", { class: "answer", dir: "auto" }, make("b", { text: branch.answer || "(nothing)" })));
  const told = [["confidence", branch.confidence], ["judged", branch.score]].filter(([, value]) => value !== undefined);
  if (told.length) card.append(make("div", { class: "measures" }, ...told.map(([name, value]) => measureOf(name, value))));
  if (branch.note) card.append(make("p", { class: "note", dir: "auto", text: brief(branch.note) }));
  if (branch.evidence) card.append(evidenceOf(branch));
  return card;
};

const measureOf = (name, value) =>
  make("span", { class: "measure" }, `${name} `, make("meter", { min: 0, max: 1, value: Number(value).toFixed(3), "aria-label": name }), ` ${figure(value)}`);

const evidenceOf = branch => {
  const cited = new Set(branch.cited || []);
  const items = branch.evidence.map(id => make("li", { class: "passage" }, make("span", { class: "source", text: id }), " ", cited.has(id) ? make("span", { class: "cited", text: "cited" }) : null));
  return make("details", { class: "evidence" }, make("summary", { text: many(items.length, "passage") + " found" }), make("ul", { class: "passages" }, ...items));
};
