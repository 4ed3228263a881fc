// What a question proposes on the page of `ramify serve`, and what a person decides on it: as it is, edited, or not at all.
import { failed, make } from "./parts.js";

const CHOICES = { approve: "Approve", edit: "Edit", reject: "Reject" };
const spoken = name => { const words = name.replaceAll("_", " "); return words.charAt(0).toUpperCase() + words.slice(1); };

/** An action with its arguments to edit, and the choice of what becomes of it. */
class Action {
  constructor({ name, args, description }, allowed, place) {
    this.name = name;
    const id = key => `review-${place}-${key}`;
    this.choices = allowed.filter(type => type in CHOICES).map((type, first) => make("input", { type: "radio", name: id("choice"), id: id(type), value: type, checked: !first }));
    this.fields = Object.entries(args).map(([key, value], at) => {
      const box = make("textarea", { id: id(`field-${at}`), rows: 2, dir: "auto", maxlength: 2000 });
      box.value = value;
      return { key, box };
    });
    this.why = make("input", { id: id("why"), dir: "auto", maxlength: 2000, autocomplete: "off" });
    const labelled = (text, box) => [make("label", { for: box.id, text }), box];
    this.edited = make("div", { class: "editor" }, this.fields.flatMap(({ key, box }) => labelled(spoken(key), box)));
    this.rejected = make("div", { class: "editor" }, labelled("Why (may be left empty)", this.why));
    this.shown = make("dl", {}, Object.entries(args).filter(([, value]) => value).flatMap(([key, value]) => [make("dt", { text: spoken(key) }), make("dd", { dir: "auto", text: value })]));
    this.root = make("fieldset", { on: { change: () => this.draw() } }, make("legend", { text: spoken(name) }),
      description.split("\n").map(line => make("p", { dir: "auto", text: line })), this.shown,
      make("div", { class: "choices" }, this.choices.map(box => make("label", {}, box, ` ${CHOICES[box.value]}`))), this.edited, this.rejected);
    this.draw();
  }
  get chosen() { return this.choices.find(box => box.checked).value; }
  get decision() {
    if (this.chosen === "edit") return { type: "edit", edited_action: { name: this.name, args: Object.fromEntries(this.fields.map(({ key, box }) => [key, box.value])) } };
    return this.chosen === "reject" ? { type: "reject", message: this.why.value } : { type: "approve" };
  }
  draw() {
    this.edited.hidden = this.chosen !== "edit";
    this.shown.hidden = this.chosen === "edit";
    this.rejected.hidden = this.chosen !== "reject";
  }
}

/** A form with everything that is proposed; `decide(decisions)` sends what was decided, one decision for each action. */
export class Review {
  constructor({ action_requests: requests, review_configs: configs }, decide) {
    const actions = requests.map((request, place) => new Action(request, configs[place].allowed_decisions, place));
    const send = make("button", { type: "submit", class: "primary", text: "Go on" });
    const refused = make("div");
    const submit = async event => {
      event.preventDefault();
      send.disabled = true;
      try {
        await decide(actions.map(action => action.decision));
        this.root.remove();
      } catch (error) {
        refused.replaceChildren(failed(error));
        send.disabled = false;
      }
    };
    this.root = make("form", { class: "review", "aria-label": "Your decision", on: { submit } }, actions.map(action => action.root), refused, make("div", { class: "row" }, send));
  }
}
