// The view of a question for MCP hosts: what the tool of `ramify mcp` found, as the page of `ramify serve` draws it.
import { Host } from "./mcp_host.js";
import { button, make } from "./parts.js";
import { drawSource } from "./source.js";
import { Turn } from "./turn.js";

const at = id => document.getElementById(id);
const PASSAGES = "ramify/passages";
const FULL = "fullscreen", INLINE = "inline";
const LINK = /^(?:https?:\/\/|file:\/\/\/)/i;
/** What a source is shown in, and after. */
const WITHIN = ".card, .sources li", AFTER = ".text, .final";
const STOPPED = new Map([["calls", "its model calls were used up"], ["tokens", "its tokens were used up"], ["seconds", "its time was used up"], ["rounds", "its rounds of reading were used up"], ["error", "a model call failed"]]);
const UNMARKED = new Set(["", "Unknown", "Yes", "No"]);
const say = text => { at("live").textContent = text; };
const state = { turn: null, asked: "", opener: null };
/** What the tool cites, by id: for the answer, and for a branch of the tree. */
const passages = new Map();

/* The question and its answer. */
const begin = (asked, waiting) => {
  Object.assign(state, { asked, opener: null });
  state.turn = new Turn(asked, { open: openSource, has: id => passages.has(id), waiting });
  at("turn").replaceChildren(state.turn.root);
};
const asking = ({ arguments: given }, waiting) => {
  if (typeof given?.question === "string") begin(given.question, waiting);
};
const texts = result => (Array.isArray(result.content) ? result.content : []).filter(part => part?.type === "text" && typeof part.text === "string").map(part => part.text).join("\n");
/** Show the result of the tool; the text that a model reads where the host gives nothing else. */
const show = result => {
  const found = result.structuredContent, text = texts(result);
  begin(state.asked || String(found?.question ?? ""), "");
  if (result.isError) fail(text.replace(/^error: /, "") || "the tool gave no reason");
  else if (found === undefined) state.turn.answer.replaceChildren(make("section", { class: "result" }, make("p", { class: "text", dir: "auto", text })));
  else draw(found, result._meta?.[PASSAGES]);
  if (!state.turn.result) state.turn.doing.remove();
};
const draw = (found, cited) => {
  try {
    passages.clear();
    for (const one of [...(cited || []), ...found.citations]) passages.set(one.id, one);
    state.turn.remarks = remarksOf(found);
    state.turn.show(found);
    say(`Answer: ${found.answer}`);
  } catch (error) {
    fail(`the result cannot be shown: ${error.message} — read the text of the tool's result`);
  }
};
const fail = message => {
  state.turn.fail({ message });
  say("The question was not answered.");
};
/** What the page of the server says besides: early stops, what was checked, and the answers that are marked in quotations. */
const remarksOf = found => ({
  stopped: STOPPED.has(found.stopped_by) ? `Stopped early: ${STOPPED.get(found.stopped_by)}. This rests on what was found until then.` : "",
  checked: found.answer !== "Unknown" && found.checked?.total ? { summary: found.checked.summary, holds: !found.checked.fail, checks: [] } : null,
  marked: [...new Set([found, ...found.tree].map(one => one.answer))].filter(answer => typeof answer === "string" && !UNMARKED.has(answer) && answer.length < 80).sort((one, other) => other.length - one.length),
});

/* A source, below what opened it. */
const openSource = ({ id }, from) => {
  const again = from.ariaExpanded === "true";
  shutSource();
  if (again) return;
  const cited = passages.get(id);
  const link = LINK.test(cited.link) && host.capabilities.openLinks ? button("Open the document", event => openLink(cited.link, event.currentTarget), { class: "plain" }) : null;
  const { parts } = drawSource({ ...cited, file: Boolean(link) }, { shut: shutSource, link, answers: state.turn.remarks?.marked });
  const panel = make("aside", { id: "source", "aria-label": "Source", tabindex: "-1" }, parts);
  const block = from.closest(WITHIN);
  if (block) block.append(panel); else from.closest(AFTER).after(panel);
  from.ariaExpanded = "true";
  state.opener = from;
  panel.focus({ preventScroll: true });
  panel.scrollIntoView({ block: "nearest" });
};
const shutSource = () => {
  if (!state.opener) return;
  at("source")?.remove();
  state.opener.ariaExpanded = "false";
  state.opener.focus();
  state.opener = null;
};
const openLink = async (url, from) => {
  const refused = await host.request("ui/open-link", { url }).then(told => told?.isError, () => true);
  if (refused) from.replaceWith(make("span", { class: "empty", role: "status", text: "The host does not open this document." }));
};

/* What the host looks like. */
const adapt = ({ theme, styles, displayMode, availableDisplayModes, safeAreaInsets }) => {
  const root = document.documentElement;
  if (theme === "light" || theme === "dark") root.setAttribute("theme", theme);
  for (const [name, value] of Object.entries(styles?.variables || {})) if (/^--(?:color|font)-/.test(name)) root.style.setProperty(name, value ?? "");
  const { top = 0, right = 0, bottom = 0, left = 0 } = safeAreaInsets || {};
  document.body.style.padding = [top, right, bottom, left].map(inset => `${Number(inset) || 0}px`).join(" ");
  at("mode").hidden = !(Array.isArray(availableDisplayModes) && availableDisplayModes.includes(displayMode === FULL ? INLINE : FULL));
  at("mode").textContent = displayMode === FULL ? "Back to the conversation" : "Full screen";
};
const host = new Host({
  "tool-input-partial": params => asking(params, "the question is being written …"),
  "tool-input": params => asking(params, "the documents are being searched …"),
  "tool-result": show,
  "tool-cancelled": ({ reason }) => {
    if (state.turn?.result) return;
    if (!state.turn) begin("", "");
    state.turn.fail({ kind: "stopped", told: `The question was cancelled${reason ? `: ${reason}` : "."}` });
    say("The question was cancelled.");
  },
}, adapt);

at("mode").addEventListener("click", async () => {
  const told = await host.request("ui/request-display-mode", { mode: host.context.displayMode === FULL ? INLINE : FULL }).catch(() => null);
  if (typeof told?.mode === "string") host.merge({ displayMode: told.mode });
});
document.addEventListener("keydown", event => { if (event.key === "Escape") shutSource(); });
host.connect({ name: "ramify", version: document.documentElement.dataset.version }, [INLINE, FULL]).catch(error => {
  begin("", "");
  fail(`the host does not show this view: ${error.message} — read the text of the tool's result`);
});
