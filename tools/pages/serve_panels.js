// The drawers of the page of `ramify serve`: settings and collections; and what asks for a token, or whether something is meant.
import { button, failed, make, many, sentence } from "./parts.js";
import { access, call, read } from "./serve_requests.js";
import { addDocuments, build, follow, isFollowing, told } from "./serve_upload.js";

/** Models that quote instead of writing. */
const QUOTING = new Set(["extractive", "extractive:large"]);
const at = id => document.getElementById(id);
const shown = value => (value === null || value === undefined ? "not given" : typeof value === "object" ? JSON.stringify(value) : String(value));
const head = (id, text, dialog) => make("header", {}, make("h2", { id, text }), button("✕", () => dialog.close(), { class: "plain", "aria-label": "Close" }));

/** Ask whether something is meant; true where it is. */
export const confirmed = (title, what, told, yes) => new Promise(settle => {
  const dialog = at("confirm");
  const answer = value => { settle(value); dialog.close(); };
  dialog.replaceChildren(make("h2", { id: "confirm-head", text: title }), what ? make("p", { dir: "auto", text: `“${what}”` }) : "", make("p", { class: "empty", text: told }),
    make("div", { class: "row end" }, button("Cancel", () => answer(false), { autofocus: true }), button(yes, () => answer(true), { class: "danger" })));
  dialog.onclose = () => settle(false);
  dialog.showModal();
});

/** Choose several collections; their names, or null where fewer than two are chosen. */
export const chooseSeveral = (names, before) => new Promise(settle => {
  const dialog = at("several");
  const boxes = names.map((name, place) => make("input", { type: "checkbox", id: `several-${place}`, value: name, checked: before.includes(name) }));
  const go = make("button", { type: "submit", class: "primary", text: "Choose" });
  const chosen = () => boxes.filter(box => box.checked).map(box => box.value);
  const check = () => { go.disabled = chosen().length < 2; };
  const form = make("form", { on: { change: check, submit: event => { event.preventDefault(); settle(chosen()); dialog.close(); } } },
    make("h2", { id: "several-head", text: "Ask several collections" }), make("p", { class: "empty", text: "Each part of a question goes to the collections that it fits. Citations say which one they are from." }),
    make("ul", { class: "boxes" }, boxes.map((box, place) => make("li", {}, make("label", { for: box.id }, box, " ", make("span", { dir: "auto", text: names[place] }))))),
    make("div", { class: "row end" }, button("Cancel", () => dialog.close()), go));
  dialog.replaceChildren(form);
  dialog.onclose = () => settle(null);
  check();
  dialog.showModal();
});

/** Ask for the token, once for all requests that wait for it; it is kept until the tab is closed. */
let asking = null;
export const askForToken = wrong => asking ||= new Promise(settle => {
  const dialog = at("confirm");
  const box = make("input", { type: "password", id: "token", autocomplete: "off", required: true, "aria-describedby": "token-told" });
  const form = make("form", { on: { submit: event => { event.preventDefault(); access.token = box.value.trim(); sessionStorage.setItem("ramify.token", access.token); dialog.oncancel = null; asking = null; dialog.close(); settle(); } } },
    make("h2", { id: "confirm-head", text: "Token" }), make("p", { id: "token-told", class: wrong ? "warning" : "empty", text: wrong ? "The token is not known here." : "This server asks for a token. It is kept in this tab only." }),
    make("div", { class: "row" }, make("label", { class: "unseen", for: "token", text: "Token" }), box, make("button", { type: "submit", class: "primary", text: "Continue" })));
  dialog.replaceChildren(form);
  dialog.oncancel = event => event.preventDefault();
  dialog.onclose = null;
  dialog.showModal();
  box.focus();
});

/** What may be spent on a question: settings of a strategy that has them. */
const SPEND = {
  quick: one => ({ k: 3, ...(one.max_depth && { max_depth: 1 }) }),
  balanced: () => ({}),
  thorough: one => ({ k: 10, ...(one.max_depth && { max_depth: one.max_depth + 1 }) }),
};
const SPEND_TOLD = "quick: fewer passages, and split at most once; balanced: as the server is set; thorough: more passages, and split once more.";

/** The strategy, the model and the settings of the next question; those that differ from the server's are sent. */
export const settings = {
  strategies: [], models: [], strategy: "", model: "", preset: "", changed: {}, defaults: {},
  async load(about) {
    this.strategies = (await read("/strategies")).strategies;
    this.models = about.models;
    this.resolved = about.model;
    this.defaults = about.default;
    const kept = JSON.parse(sessionStorage.getItem("ramify.settings") || "{}");
    this.strategy = this.strategies.some(one => one.name === kept.strategy) ? kept.strategy : about.default.strategy;
    this.model = about.models.includes(kept.model) ? kept.model : about.default.model;
    this.preset = this.chosen.presets.includes(kept.preset) ? kept.preset : "";
    const names = new Set(this.chosen.settings.map(one => one.name));
    this.changed = Object.fromEntries(Object.entries(kept.changed || {}).filter(([name]) => names.has(name)));
  },
  get chosen() { return this.strategies.find(one => one.name === this.strategy); },
  given() { return { strategy: this.strategy, model: this.model, settings: { ...this.changed, ...(this.preset && { preset: this.preset }) } }; },
  spending(name) { return SPEND[name](Object.fromEntries(this.chosen.settings.map(one => [one.name, one.default]))); },
  /** The level whose settings are the ones that are set; "own" where there is none. */
  get spend() {
    const set = ["k", "max_depth"].map(name => this.changed[name]);
    return Object.keys(SPEND).find(name => { const wanted = this.spending(name); return set[0] === wanted.k && set[1] === wanted.max_depth; }) || "own";
  },
  set spend(name) {
    delete this.changed.k;
    delete this.changed.max_depth;
    Object.assign(this.changed, this.spending(name));
  },
  /** Say in words how the next question is answered. */
  line() {
    const others = Object.keys(this.changed).filter(name => !["k", "max_depth"].includes(name)).length + (this.preset ? 1 : 0);
    const model = this.model === "auto" ? this.resolved || "auto" : this.model;
    return `${this.strategy}, ${this.spend === "own" ? "own settings" : this.spend}, ${QUOTING.has(model) ? "no language model" : model}${others ? `, ${many(others, "setting")} changed` : ""}`;
  },
  /** Whether what is asked next is answered by a language model. */
  get writes() {
    const model = this.model === "auto" ? this.resolved : this.model;
    return Boolean(model) && !QUOTING.has(model);
  },
  /** Say what there is instead of a language model, and how to get one; nothing where one is used. */
  advice(open) {
    return QUOTING.has(this.model === "auto" ? this.resolved : this.model) ? ["Answers are quoted from the documents, without a language model. ", button("Use a language model …", open)] : [];
  },
  keep() { sessionStorage.setItem("ramify.settings", JSON.stringify({ strategy: this.strategy, model: this.model, preset: this.preset, changed: this.changed })); },
};

/** Open the drawer of settings; `then` is called with each change. */
export const openSettings = (then, how = false) => {
  const dialog = at("settings");
  const change = () => { settings.keep(); then(); };
  const draw = focus => {
    const one = settings.chosen;
    const own = one.settings.filter(setting => !setting.common), common = one.settings.filter(setting => setting.common);
    const before = [...dialog.querySelectorAll("details.more")].map(each => each.open), opened = place => before[place];
    const changed = setting => setting.name in settings.changed && !["k", "max_depth"].includes(setting.name);
    const count = Object.keys(settings.changed).length + (settings.preset ? 1 : 0);
    const fields = list => list.map(setting => field(setting, change, draw));
    dialog.replaceChildren(head("settings-head", "Settings", dialog),
      choice("model", "Model", settings.models, settings.model, value => { settings.model = value; change(); }, "What reads the passages and writes the answer."), howToGetOne(),
      choice("strategy", "Strategy", settings.strategies.map(each => each.name), settings.strategy, value => { Object.assign(settings, { strategy: value, preset: "", changed: {} }); change(); draw("strategy"); },
        `${one.description}${one.paper ? ` (${one.paper})` : ""}`), whatEachDoes(settings.strategies),
      choice("spend", "How much to spend", [...Object.keys(SPEND), ...(settings.spend === "own" ? ["own"] : [])], settings.spend, value => { if (value !== "own") settings.spend = value; change(); draw("spend"); }, SPEND_TOLD),
      one.presets.length ? choice("preset", "Preset", ["", ...one.presets], settings.preset, value => { settings.preset = value; change(); draw("preset"); }, "Several settings at once, such as those of the paper.") : "",
      count ? make("div", { class: "row" }, make("span", { class: "empty", text: `${many(count, "setting")} changed` }), button("Reset all", () => { Object.assign(settings, { preset: "", changed: {} }); change(); draw(); })) : "",
      make("details", { class: "more", open: opened(0) || own.some(changed) }, make("summary", {}, make("h3", { text: `More: settings of ${one.name}` })), ...fields(own)),
      make("details", { class: "more", open: opened(1) || common.some(changed) }, make("summary", {}, make("h3", { text: "More: settings of every strategy" })), ...fields(common)));
    if (focus) at(`set-${focus}`)?.focus();
  };
  draw();
  dialog.querySelector(".how").open = how;
  dialog.showModal();
};

const whatEachDoes = strategies => make("details", { class: "field" }, make("summary", { text: "What each strategy does" }),
  make("dl", {}, strategies.flatMap(each => [make("dt", { text: each.name }), make("dd", { text: each.description })])));
/** How to get a language model: what to run, with what this server can use then. */
const howToGetOne = () => make("details", { class: "field how" }, make("summary", { text: "How to get a language model" }),
  make("p", { text: "With Ollama on this machine: run the command, and ask again." }), make("pre", { text: "ollama pull llama3.1:8b" }),
  make("p", { text: "Without Ollama: download a small one, and start the server with it, in the environment where this one runs (if `ramify` is not found, `.venv/bin/ramify`)." }), make("pre", { text: "ramify download qwen2.5-coder-1.5b\nramify serve --model gguf:qwen2.5-coder-1.5b" }));
const row = (name, label, control, told, changed, extra = "") =>
  make("div", { class: `field${changed ? " changed" : ""}` }, make("label", { for: `set-${name}`, text: label }), make("div", { class: "value" }, control, extra), make("p", { class: "told", id: `told-${name}`, text: told }));
const picker = (name, values, value, chosen) => {
  const drawn = make("select", { id: `set-${name}`, "aria-describedby": `told-${name}`, on: { change: () => chosen(drawn.value) } }, values.map(one => make("option", { value: one, text: one || "none" })));
  drawn.value = value;
  return drawn;
};
const choice = (name, label, values, value, chosen, told) => row(name, label, picker(name, values, value, chosen), told, false);

/** A setting as a field of its type; what is left empty is the default. */
const field = (setting, change, draw) => {
  const { name, schema, description } = setting;
  const types = (schema.anyOf || [schema]).filter(one => one.type !== "null");
  const [kind] = types, values = kind.enum || (kind.type === "boolean" ? [true, false] : null);
  const changed = name in settings.changed;
  const put = value => {
    if (value === undefined) delete settings.changed[name]; else settings.changed[name] = value;
    change();
    draw(name);
  };
  let control;
  if (values && types.length === 1) {
    control = picker(name, ["", ...values.map(String)], changed ? shown(settings.changed[name]) : "", told => put(values.find(value => String(value) === told)));
    control.options[0].textContent = `default: ${shown(setting.default)}`;
  } else {
    const number = types.length === 1 && ["integer", "number"].includes(kind.type);
    control = make("input", {
      id: `set-${name}`, type: number ? "number" : "text", min: kind.minimum ?? kind.exclusiveMinimum, max: kind.maximum, step: kind.type === "integer" ? 1 : number ? "any" : null, "aria-describedby": `told-${name}`,
      placeholder: shown(setting.default), on: { change: () => { if (control.checkValidity()) put(parsed(control.value, types)); else control.reportValidity(); } },
    });
    control.value = changed ? shown(settings.changed[name]) : "";
  }
  const reset = changed ? button("Reset", () => put(undefined), { "aria-label": `Reset ${name}` }) : "";
  return row(name, name, control, `${description}${changed ? ` Default: ${shown(setting.default)}.` : ""}`, changed, reset);
};
const parsed = (text, types) => {
  if (!text.trim()) return undefined;
  if (types.some(one => one.type === "string")) return text;
  try { return JSON.parse(text); } catch { return text; }
};

/* Collections. */
/** Open the drawer of collections; `then` is called with a name when there is a new one, and without when one is gone. */
export const openCollections = then => {
  const dialog = at("collections"), list = make("ul", { class: "list" });
  const draw = async () => {
    const { collections, folders = [], writable } = await read("/collections");
    list.replaceChildren(...collections.map(one => item(one, { draw, then, list })));
    const shown = [head("collections-head", "Collections", dialog), list, told, writable ? addDocuments(folders, { draw, then }, "collection") : ""];
    dialog.replaceChildren(...shown.filter(Boolean));
    followTests(list, collections);
    const running = collections.find(one => one.building);
    if (running && !isFollowing()) follow(running.name, { draw, then }).catch(error => told.replaceChildren(failed(error)));
  };
  dialog.replaceChildren(head("collections-head", "Collections", dialog));
  dialog.onclose = () => at("adding").append(told);
  draw().catch(error => dialog.append(failed(error)));
  dialog.showModal();
};

const item = (one, tools) => {
  const files = make("div");
  const show = async from => {
    from.ariaExpanded = String(from.ariaExpanded !== "true");
    files.replaceChildren(...(from.ariaExpanded === "true" ? [await documents(one, tools)] : []));
  };
  const guarded = act => async event => { const from = event.currentTarget; if (!isFollowing()) told.replaceChildren(); try { await act(from); } catch (error) { told.replaceChildren(failed(error)); } };
  const acts = !one.changeable ? [] : [
    button("Index again", guarded(async () => build(one.name, tools))),
    button("Delete", guarded(async () => {
      if (!await confirmed("Delete this collection?", one.name, one.folder ? "Its index is deleted. The documents stay in their folder." : "Its index is deleted, and the documents that were uploaded.", "Delete")) return;
      await call(`/collections/${encodeURIComponent(one.name)}`, { method: "DELETE" });
      await tools.then();
      await tools.draw();
    }), { class: "danger" })];
  const held = one.error ? "cannot be opened" : one.documents === null ? "not indexed yet" : `${one.kind} · ${many(one.files, "file")} · ${many(one.passages, "passage")}`;
  const follows = one.watched ? [make("p", { class: "told", text: `follows the folder ${one.watched.folder}${one.watched.updated ? `, up to date since ${new Date(one.watched.updated).toLocaleString()}` : ""}` }),
    one.watched.problem ? failed({ message: one.watched.problem }) : ""] : "";
  return make("li", {}, make("span", { class: "name", dir: "auto", text: one.name }), make("p", { class: "told", text: `${held}${one.folder ? ` · ${one.folder}` : ""}` }), follows,
    one.tests ? tests(one, tools.list) : "", one.error ? failed({ message: one.error }) : "", one.description ? make("p", { class: "told", text: sentence(one.description) }) : "",
    make("div", { class: "row" }, button("Documents", guarded(show), { "aria-expanded": "false" }), acts), files);
};

/** Draw what came of a collection's tests, what did not hold or has moved, and a button that runs them. */
const tests = (one, list) => {
  const { file, running, summary, problem, tests: all } = one.tests;
  const run = async () => { try { await call(`/collections/${encodeURIComponent(one.name)}/tests`, { method: "POST" }); await redrawTests(list); } catch (error) { told.replaceChildren(failed(error)); } };
  const shown = all.filter(each => each.details.length);
  return make("div", { class: "tests", "data-of": one.name },
    make("p", { class: one.tests.passed || running ? "told" : "warning", text: `${file}: ${summary}${running ? " · running …" : ""}` }),
    problem ? failed({ message: problem }) : "",
    shown.length ? make("ul", {}, shown.map(each => make("li", {}, make("b", { text: each.status }), " ", make("span", { dir: "auto", text: each.question }), each.details.map(line => make("p", { class: "told", dir: "auto", text: line }))))) : "",
    make("div", { class: "row" }, button("Run the tests", run, { "aria-label": `Run the tests of ${one.name}` })));
};
/** While tests run, draw what came of them again and again, and nothing else of the drawer. */
const TESTS_POLL_MS = 1000;
let testsTimer = 0;
const followTests = (list, collections) => {
  clearTimeout(testsTimer);
  if (collections.some(one => one.tests?.running)) testsTimer = setTimeout(() => { if (at("collections").open) redrawTests(list).catch(() => {}); }, TESTS_POLL_MS);
};
const redrawTests = async list => {
  const { collections } = await read("/collections");
  for (const one of collections.filter(each => each.tests)) {
    const drawn = [...list.querySelectorAll(".tests")].find(each => each.dataset.of === one.name);
    const focused = drawn?.contains(document.activeElement), anew = tests(one, list);
    drawn?.replaceWith(anew);
    if (focused) anew.querySelector("button").focus();
  }
  followTests(list, collections);
};

const documents = async (one, tools) => {
  const { files, skipped, uploaded: sent } = await read(`/collections/${encodeURIComponent(one.name)}/documents`);
  const uploaded = sent && one.changeable;
  const state = file => (file.passages ? `indexed, ${many(file.passages, "passage")}` : "in the folder, not indexed");
  const drop = file => (uploaded ? button("✕", async () => {
    if (!await confirmed("Delete this document?", file.name, "It is deleted from the server, and the collection is indexed again.", "Delete")) return;
    await call(`/collections/${encodeURIComponent(one.name)}/documents?file=${encodeURIComponent(file.name)}`, { method: "DELETE" });
    await build(one.name, tools);
  }, { class: "plain", "aria-label": `Delete ${file.name}` }) : "");
  const rows = [...skipped.map(({ name, reason }) => make("li", {}, make("span", { class: "doc" }, name, make("span", { class: "skipped", text: `skipped: ${reason}` })), drop({ name }))),
    ...files.map(file => make("li", {}, make("span", { class: "doc", dir: "auto", text: file.name }), make("span", { class: "state", text: state(file) }), drop(file)))];
  return rows.length ? make("ul", { class: "files", tabindex: 0, "aria-label": `Documents of ${one.name}` }, rows) : make("p", { class: "empty", text: "There is no document yet." });
};
