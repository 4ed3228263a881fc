// The files of a collection beside the conversation: what is known of each, its text, and which of them are asked.
import { button, failed, make, many } from "./parts.js";
import { read } from "./serve_requests.js";

const at = id => document.getElementById(id);
const MOST = 200;  // files that a question can choose, and that are listed

export class Files {
  /** `open(citation, button, collection)` shows a source; `changed()` is called when other files are chosen. */
  constructor(open, changed) {
    Object.assign(this, { open, changed, collection: "", files: [], skipped: [], more: 0, picked: new Set() });
  }
  get chosen() { return [...this.picked]; }
  /** Say which files are asked; "" for all. */
  line() { return this.picked.size ? `only ${many(this.picked.size, "file")} of ${(this.files.length + this.more).toLocaleString("en")}` : ""; }
  /** Show the files of a collection; none of the demonstration, of several, or of one that is not in a folder. */
  async show(collection) {
    if (collection !== this.collection) this.picked.clear();
    this.collection = collection;
    try {
      const { files, skipped, more } = collection ? await read(`/collections/${encodeURIComponent(collection)}/documents`) : { files: [], skipped: [], more: 0 };
      if (collection !== this.collection) return;  // another was chosen meanwhile
      Object.assign(this, { files, skipped, more });
      const names = new Set(files.map(one => one.name));
      for (const name of this.picked) if (!names.has(name)) this.picked.delete(name);
      this.draw();
      this.changed();
    } catch (error) {
      at("files").hidden = false;
      at("files-head").textContent = `Files of ${collection}`;
      at("files-list").replaceChildren(make("li", {}, failed(error)));
    }
  }
  all() { this.picked.clear(); this.draw(); this.changed(); }
  draw() {
    at("files").hidden = !this.files.length && !this.skipped.length;
    at("files-head").textContent = `Files of ${this.collection}`;
    at("files-told").replaceChildren(this.picked.size ? make("span", { text: `${this.line()} ${this.picked.size === 1 ? "is" : "are"} asked. ` }) : "All are asked. Tick files to ask only these.", this.picked.size ? button("Ask all", () => this.all(), { class: "plain" }) : "");
    const left = this.files.length + this.more > MOST ? [make("li", { class: "empty", text: `and ${(this.files.length + this.more - MOST).toLocaleString("en")} more` })] : [];
    at("files-list").replaceChildren(...this.skipped.slice(0, MOST).map(one => make("li", { class: "skipped" }, make("span", { dir: "auto", text: one.name }), make("span", { class: "told", text: `skipped: ${one.reason}` }))), ...this.files.slice(0, MOST).map((one, place) => this.item(one, place)), ...left);
  }
  item(one, place) {
    const id = `file-${place}`;
    const box = make("input", { type: "checkbox", id, "aria-label": `Ask ${one.name} only`, checked: this.picked.has(one.name), disabled: !one.first, on: { change: () => {
      if (box.checked) this.picked.add(one.name); else this.picked.delete(one.name);
      this.draw();
      this.changed();
      at(id).focus();
    } } });
    const name = one.first ? make("button", { type: "button", class: "open", dir: "auto", text: one.name, "aria-expanded": "false", "aria-controls": "source", on: { click: event => this.open({ id: one.first }, event.currentTarget, this.collection) } }) : make("span", { dir: "auto", text: one.name });
    const remarks = one.remarks.length ? make("details", {}, make("summary", { text: many(one.remarks.length, "remark") }), make("ul", {}, one.remarks.map(text => make("li", { dir: "auto", text })))) : "";
    return make("li", {}, box, make("div", {}, name, make("span", { class: "told", text: !one.passages ? "not indexed yet" : one.first ? many(one.passages, "passage") : "not searched: repeats other files, or is a list or a licence" }), remarks));
  }
}
