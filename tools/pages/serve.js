// The page of `ramify serve`: conversations, the question box, and a source beside the answer.
import { button, failed, make, many } from "./parts.js";
import { Failure, access, call, events, read } from "./serve_requests.js";
import { Review } from "./serve_review.js";
import { Files } from "./serve_sources.js";
import { drawSource } from "./source.js";
import { Turn, markdown } from "./turn.js";
import { addDocuments, follow as followBuild, isFollowing, told } from "./serve_upload.js";
import { askForToken, chooseSeveral, confirmed, openCollections, openSettings, settings } from "./serve_panels.js";

const EXAMPLES = ["In which city was the inventor of the ballpoint pen born?", "In which year was the director of Solaris born?", "Who is older, Nikola Tesla or Thomas Edison?"];
const DEMO = "demo";
const at = id => document.getElementById(id);
const AND = "+";
const LAST_EVENTS = new Set(["remarks", "result", "error"]);
const STOP_MS = 5000;  // within this time, the server ends a question that is stopped
const state = { about: null, collections: [], collection: "", thread: null, running: null, opener: null, last: null };
const narrow = matchMedia("(max-width: 760px)");
const say = text => { at("live").textContent = text; };

access.wanted = askForToken;

/* What there is to choose from. */
const load = async () => {
  state.about = await read("/about");
  await settings.load(state.about);
  await loadCollections();
  await listThreads();
  const running = state.collections.find(one => one.building && one.changeable);
  if (running) followBuild(running.name, adding).catch(showFailure);
  const asked = decodeURIComponent(location.hash.slice(1));
  if (asked) await openThread(asked); else welcome();
  if (!narrow.matches && at("add").hidden) at("question").focus({ preventScroll: true });
  document.documentElement.dataset.ready = "yes";
};
const loadCollections = async wanted => {
  const { collections, folders = [], writable } = await read("/collections");
  Object.assign(state, { collections, folders, writable });
  const names = state.collections.map(one => one.name), before = wanted || state.collection || localStorage.getItem("ramify.collection") || "";
  offer(before.split(AND).every(name => names.includes(name)) ? before : state.about.default.collection);
};
/** Offer the collections, and where there are two, several of them at once. */
const offer = chosen => {
  const names = state.collections.map(one => one.name);
  const options = names.map(name => make("option", { value: name, text: name }));
  if (chosen.includes(AND)) options.push(make("option", { value: chosen, text: chosen.split(AND).join(" + ") }));
  at("several-open").hidden = names.length < 2;
  at("collection").replaceChildren(...options);
  at("collection").value = state.collection = chosen;
  state.suggested = [];
  files.show(chosen.includes(AND) || isDemo(chosen) ? "" : chosen);
  welcome();
};
const isDemo = name => state.collections.find(one => one.name === name)?.path === DEMO;
const files = new Files((citation, from, collection) => openSource(citation, from, { collection }), () => {
  at("only").textContent = `${files.line()} ✕`;
  at("only").hidden = !files.picked.size;
  suggest(state.collection);
});
const chosenFiles = () => files.chosen.map(name => `file=${encodeURIComponent(name)}`).join("&");
/** Offer questions that the documents answer, or the files that are asked alone. */
const suggest = async chosen => {
  state.suggested = isDemo(chosen) ? EXAMPLES : [];
  if (isDemo(chosen) || chosen.includes(AND)) return;
  const only = chosenFiles();
  const { questions } = await read(`/collections/${encodeURIComponent(chosen)}/questions${only && "?"}${only}`).catch(() => ({ questions: [] }));  // as where it is not indexed yet
  if (chosen !== state.collection || only !== chosenFiles()) return;
  state.suggested = questions;
  welcome();
};
/** Offer what the language model would ask instead, once a person wants that: it takes a few calls, which see passages. */
const suggestByModel = async event => {
  const chosen = state.collection, only = chosenFiles(), from = event.currentTarget;
  from.disabled = true;
  from.textContent = "The model reads a few passages …";
  const { questions } = await read(`/collections/${encodeURIComponent(chosen)}/questions?by=model&model=${encodeURIComponent(settings.model)}${only && "&"}${only}`).catch(error => { showFailure(error); return { questions: [] }; });
  if (chosen !== state.collection || only !== chosenFiles()) return;
  if (questions.length) state.suggested = questions; else say("The model suggested nothing else.");
  welcome();
  at("examples").querySelector("button")?.focus();
};
/** What adding documents calls: the collection is chosen as soon as it can be asked. */
const adding = { then: async name => { await loadCollections(name); localStorage.setItem("ramify.collection", state.collection); }, draw: () => loadCollections() };
const pick = chosen => { offer(chosen); localStorage.setItem("ramify.collection", chosen); };
const pickSeveral = async () => {
  const several = await chooseSeveral(state.collections.map(one => one.name), state.collection.split(AND));
  if (several) pick(several.join(AND));
};
const welcome = () => {
  at("welcome").hidden = at("turns").childElementCount > 0;
  const chosen = state.collections.find(one => one.name === state.collection);
  const demo = chosen?.path === DEMO;
  const first = state.writable && state.collections.every(one => one.path === DEMO) && !isFollowing();
  if (first && at("add").hidden) at("add").replaceChildren(addDocuments(state.folders, adding, "first"));
  at("add").hidden = !first;
  at("about").textContent = demo ? `${first ? "Or ask the demonstration first" : "This is the demonstration corpus"}: short articles on inventors, scientists, films and cities.`
    : state.collection.includes(AND) ? `${state.collection.split(AND).join(", ")} are asked together: each part of a question goes to those that it fits.`
    : chosen && chosen.documents !== null ? `${chosen.name} has ${many(chosen.files, "file")} in ${many(chosen.passages, "passage")}. Every answer leads to the sentences that it rests on.` : "";
  const byModel = settings.writes && !demo && !state.collection.includes(AND) ? [make("li", {}, button("Let the model suggest others", suggestByModel, { class: "plain" }))] : [];
  at("examples").replaceChildren(...(state.suggested || []).map(text => make("li", {}, button(text, () => ask(text)))), ...byModel);
  at("how").textContent = settings.line();
  at("model-told").replaceChildren(...settings.advice(() => openSettings(welcome, true)));
};

/* Conversations. */
const listThreads = async () => {
  const { threads } = await read("/threads");
  at("threads-empty").hidden = threads.length > 0;
  at("threads").replaceChildren(...threads.map(one => make("li", {},
    make("button", { type: "button", class: "open", "aria-current": one.id === state.thread ? "true" : null, on: { click: () => { openThread(one.id).catch(showFailure); closeSide(); } } }, make("span", { dir: "auto", text: one.first || "(no question)" })),
    button("✕", () => dropThread(one).catch(showFailure), { class: "plain drop", "aria-label": `Delete the conversation: ${one.first}` }))));
};
const openThread = async id => {
  let found;
  try {
    found = await read(`/threads/${encodeURIComponent(id)}`);
  } catch (error) {
    if (error.status !== 404 && error.status !== 400) throw error;
    return begin();
  }
  begin(id);
  for (const { asked, collection, result, remarks, rating } of found.turns) {
    const turn = newTurn(asked, collection, found.strategy);
    Object.assign(turn, { remarks, rating });
    if (result) turn.show({ ...result, strategy: found.strategy }); else turn.fail({ kind: "stopped", again: () => ask(asked) });
  }
  const of = state.last?.collection;  // what is asked next goes where the conversation was
  if (of && of !== state.collection && of.split(AND).every(name => state.collections.some(one => one.name === name))) offer(of);
  state.last?.tree.allow(true);
  at("turns").lastElementChild?.scrollIntoView({ block: "start" });
  await listThreads();
};
const dropThread = async one => {
  if (!await confirmed("Delete this conversation?", one.first, "It is deleted from the server with its answers and passages.", "Delete")) return;
  await call(`/threads/${encodeURIComponent(one.id)}`, { method: "DELETE" });
  if (one.id === state.thread) begin();
  await listThreads();
  say("The conversation is deleted.");
};
const begin = (id = null) => {
  if (state.running) { stop(); state.running.left = true; state.running = null; }
  shutSource();
  state.thread = id;
  state.last = null;
  if (!id) files.all();
  history.replaceState(null, "", id ? `#${encodeURIComponent(id)}` : location.pathname);
  at("turns").replaceChildren();
  for (const current of at("threads").querySelectorAll("[aria-current]")) current.removeAttribute("aria-current");
  welcome();
};

/* A question. */
const newTurn = (asked, collection, strategy) => {
  const turn = new Turn(asked, { open: openSource, save, edit: runOn });
  Object.assign(turn, { collection, strategy });
  state.last?.tree.allow(false);
  turn.told = new Set([...state.last?.told || state.about?.notices || [], ...state.last?.result?.notices || []]);
  state.last = turn;
  at("turns").append(turn.root);
  at("welcome").hidden = true;
  return turn;
};
const ask = async text => {
  const question = text.trim();
  if (!question) return;
  if (state.running && !state.running.stopped) return say("A question is being answered. Wait for the answer, or stop it.");
  const { collection } = state;
  const turn = newTurn(question, collection, settings.strategy);
  turn.given = { ...settings.given(), ...(files.picked.size && { files: files.chosen }) };
  at("question").value = "";
  if (!isFollowing()) told.replaceChildren();
  await follow(turn, () => ["/ask", { question, collection, ...turn.given, thread: state.thread || "new" }]);
};
/** Ask a branch of the last answer something else, or drop it where no question is given, and run on from there. */
const runOn = async (turn, path, question) => {
  if (state.running || turn !== state.last) return;
  const { strategy, ...given } = turn.given || settings.given();
  const fitting = strategy === turn.strategy ? given : { model: given.model };  // settings belong to a strategy
  const { result, remarks } = turn;
  turn.again();
  const thread = encodeURIComponent(state.thread);
  await follow(turn, () => [`/threads/${thread}/edit`, { branch: path, ...(question && { question }), collection: turn.collection || state.collection, ...fitting }]);
  if (turn.failure?.kind !== "usage" || !result) return;
  const refused = failed(turn.failure);  // the answer is as it was
  turn.again();
  turn.remarks = remarks;
  turn.show(result);
  turn.answer.prepend(refused);
  turn.tree.allow(true);
};
/** Send a question once the one before it, which was stopped, has ended; `request()` returns its path and body then. */
const follow = (turn, request) => {
  const before = state.running?.ended;
  const running = { turn, control: new AbortController(), id: null, sent: false, stopped: false, left: false };
  state.running = running;
  running.ended = run(running, before, request);
  return running.ended;
};
const run = async (running, before, request) => {
  const { turn } = running;
  shutSource();
  turn.tree.allow(false);
  turn.root.scrollIntoView({ block: "start" });
  busy(true);
  say("The question is being answered.");
  let ended = false;
  try {
    await before;
    const [path, body] = request();
    running.sent = true;
    for await (const event of events(await call(path, { method: "POST", body, signal: running.control.signal }))) {
      if (event.name === "accepted") accepted(running, event.data);
      else if (event.name === "review") propose(turn, event.data, running);
      else if (!running.stopped || LAST_EVENTS.has(event.name)) turn.take(event);
      if (event.name === "result") say(`Answer: ${event.data.asked_back || event.data.answer}`);
      if (event.name === "error") say(event.data.message);
      ended ||= event.name === "result" || event.name === "error";
    }
    if (!ended) throw new Failure("lost", "The connection to the server broke off before the answer was there.");
  } catch (error) {
    turn.fail({ kind: running.stopped ? "stopped" : error.kind, message: error.message });
    say(turn.root.querySelector(".error, .empty")?.textContent || "");
  } finally {
    if (state.running === running) { state.running = null; busy(false); }
    if (turn === state.last && !state.running) turn.tree.allow(true);
    listThreads().catch(showFailure);
  }
};
const accepted = (running, { id, thread }) => {
  Object.assign(running, { id, thread });
  if (running.stopped) cancel(running);
  if (running.left) return;
  state.thread = thread;
  history.replaceState(null, "", `#${encodeURIComponent(thread)}`);
};
/** Show what the question proposes; it goes on when a person has decided. */
const propose = (turn, request, running) => {
  const { thread } = running;
  turn.doing.textContent = "waiting for your decision";
  const decide = async decisions => {
    await call(`/threads/${encodeURIComponent(thread)}/decisions`, { method: "POST", body: { id: request.id, decisions } });
    turn.doing.textContent = "going on …";
    at("stop").focus();
  };
  turn.answer.replaceChildren(new Review(request, decide).root);
  if (running.left) return;
  say("A decision is wanted before the question goes on.");
  turn.answer.querySelector("input").focus();
};
/** Stop the question that runs; the next one can be asked at once. */
const stop = () => {
  const { running } = state;
  if (!running || running.stopped) return;
  running.stopped = true;
  running.turn.doing.textContent = "stopping …";
  busy(false);
  if (running.id) cancel(running); else if (!running.sent) running.control.abort();
  setTimeout(() => running.control.abort(), STOP_MS);
};
const cancel = running => call("/stop", { method: "POST", body: { id: running.id } }).catch(() => running.control.abort());
const busy = yes => {
  at("send").hidden = yes;
  at("stop").hidden = !yes;
  if (narrow.matches) at("question").blur(); else at("question").focus({ preventScroll: true });
};
const showFailure = error => { at("turns").append(failed(error)); at("welcome").hidden = true; };

/* The source beside the answer. */
const openSource = async (citation, from, turn) => {
  for (const one of document.querySelectorAll('[aria-controls="source"][aria-expanded="true"]')) one.ariaExpanded = "false";
  if (from.hasAttribute("aria-expanded")) from.ariaExpanded = "true";
  state.opener = from;
  const panel = at("source"), collection = turn.collection || state.collection;
  const query = new URLSearchParams({ collection, passage: citation.id });
  const request = state.shown = {};  // a later one takes its place
  let found = citation.text === undefined ? null : { ...citation, file: false };
  try {
    const kept = await read(`/source?${query}`);
    found = { ...kept, ...(kept.text === citation.text && { start: citation.start, end: citation.end, quote: citation.quote }), ...(citation.text !== undefined && kept.text !== citation.text && { text: citation.text, start: citation.start, end: citation.end }) };
  } catch (error) {
    if (!found) { panel.replaceChildren(make("header", {}, make("h2", { text: "Source" }), button("✕", shutSource, { class: "plain", "aria-label": "Close the source" })), failed(error)); panel.hidden = false; panel.focus(); return; }
  }
  if (state.shown !== request) return;
  const link = fileLink(found, query, citation.link);
  const { parts, mark } = drawSource(found, { shut: shutSource, link, answers: turn.remarks?.marked, move: id => openSource(turn.result?.citations?.find(one => one.id === id) || { id }, from, turn) });
  panel.replaceChildren(...parts);
  panel.hidden = false;
  panel.scrollTop = 0;
  mark?.scrollIntoView({ block: "center" });
  panel.focus({ preventScroll: true });
};
/** Link to the file, at the place that the citation links to. A link cannot carry a token: with one, the file is fetched and stored. */
const fileLink = (one, query, link = "") => {
  const name = one.name || one.source;
  if (!access.token) return make("a", { href: `ramify/v1/file?${query}${/#.*$/.exec(link)?.[0] || ""}`, target: "_blank", rel: "noopener", text: `Open ${name}` });
  return button(`Save ${name}`, async () => store(await (await call(`/file?${query}`)).blob(), name.split("/").at(-1)));
};
const shutSource = () => {
  if (at("source").hidden) return;
  at("source").hidden = true;
  for (const one of document.querySelectorAll('[aria-controls="source"][aria-expanded="true"]')) one.ariaExpanded = "false";
  if (state.opener?.isConnected) state.opener.focus();
};

/* An answer to take along. */
const store = (blob, name) => {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
const save = async (kind, turn, from) => {
  const name = turn.asked.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "answer";
  try {
    if (kind === "up" || kind === "down") return await rate(kind, turn, from);
    if (kind === "copy") await copy(markdown(turn.asked, turn.result));
    if (kind === "json") store(new Blob([`${JSON.stringify(turn.result, null, 2)}\n`], { type: "application/json" }), `${name}.json`);
    if (kind === "html") store(await (await call("/page", { method: "POST", body: { collection: turn.collection, result: turn.result } })).blob(), `${name}.html`);
    say(kind === "copy" ? "Copied." : "Saved.");
    if (kind === "copy") { const before = from.textContent; from.textContent = "Copied"; setTimeout(() => { from.textContent = before; }, 1500); }
  } catch (error) {
    turn.answer.append(failed(error));
  }
};
/** Rate an answer as right (up) or wrong (down), or take the rating back; `ramify questions --from-chat` collects them. */
const rate = async (kind, turn, from) => {
  const rating = turn.rating === kind ? null : kind;
  await call(`/threads/${encodeURIComponent(state.thread)}/rating`, { method: "POST", body: { asked: turn.asked, answer: turn.result.answer, rating } });
  turn.rating = rating;
  for (const one of from.parentElement.querySelectorAll("[aria-pressed]")) one.ariaPressed = String(one === from && rating !== null);
  say(rating ? "Rated." : "The rating is taken back.");
};
const copy = async text => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const box = make("textarea", { class: "unseen" });  // beyond loopback, without TLS, there is no clipboard
  box.value = text;
  document.body.append(box);
  box.select();
  document.execCommand("copy");
  box.remove();
};

/* Colours, the drawer of a phone, and the keyboard. */
const THEMES = { "": ["◐", "as the system"], light: ["☀", "light"], dark: ["☾", "dark"] };
const dress = theme => {
  if (theme) document.documentElement.setAttribute("theme", theme); else document.documentElement.removeAttribute("theme");
  at("theme").textContent = THEMES[theme][0];
  at("theme").ariaLabel = at("theme").title = `Colours: ${THEMES[theme][1]}`;
};
const themed = () => { const kept = localStorage.getItem("ramify.theme") || ""; return kept in THEMES ? kept : ""; };
const openSide = () => { at("side").classList.add("open"); at("side-open").ariaExpanded = "true"; at("main").inert = true; at("side-shut").focus(); };
const closeSide = () => {
  if (!at("side").classList.contains("open")) return;
  at("side").classList.remove("open");
  at("side-open").ariaExpanded = "false";
  at("main").inert = false;
  at("side-open").focus();
};

dress(themed());
at("theme").addEventListener("click", () => {
  const names = Object.keys(THEMES), next = names[(names.indexOf(themed()) + 1) % names.length];
  localStorage.setItem("ramify.theme", next);
  dress(next);
});
at("ask").addEventListener("submit", event => { event.preventDefault(); ask(at("question").value); });
at("question").addEventListener("keydown", event => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); ask(at("question").value); }
});
at("stop").addEventListener("click", stop);
at("new").addEventListener("click", () => { begin(); closeSide(); at("question").focus(); });
at("collection").addEventListener("change", () => pick(at("collection").value));
at("several-open").addEventListener("click", pickSeveral);
at("only").addEventListener("click", () => { files.all(); at("question").focus(); });
at("adding").append(told);
for (const id of ["how", "open-settings"]) at(id).addEventListener("click", () => { closeSide(); openSettings(welcome); });
at("open-collections").addEventListener("click", () => { closeSide(); openCollections(name => loadCollections(name)); });
at("side-open").addEventListener("click", openSide);
at("side-shut").addEventListener("click", closeSide);
addEventListener("keydown", event => {
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  if (!at("source").hidden) shutSource(); else if (at("side").classList.contains("open")) closeSide(); else stop();
});
addEventListener("hashchange", () => { const asked = decodeURIComponent(location.hash.slice(1)); if (asked && asked !== state.thread) openThread(asked).catch(showFailure); });
load().catch(showFailure);
