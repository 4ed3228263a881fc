// Adding documents to the server, and the progress of an index, which is shown above the question box while it is built.
import { button, failed, make, many } from "./parts.js";
import { call, events, read } from "./serve_requests.js";

const PART = 6 * 1024 * 1024;
const DONE = { files: "read", documents: "read", passages: "computed, writing the index" };
const UNITS = { passages: "meanings" };
const size = bytes => (bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
const base64 = async blob => {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let place = 0; place < bytes.length; place += 32768) text += String.fromCharCode(...bytes.subarray(place, place + 32768));
  return btoa(text);
};

/** What is going on. It stands in the drawer of collections while that is open, else above the question box. */
export const told = make("div", { role: "status" });
let followed = null;
export const isFollowing = () => followed !== null;

/** A form that adds documents: `tools.then(name)` is called when they can be asked, and at the end; `tools.draw()` with each change. */
export const addDocuments = (folders, tools, prefix) => {
  const name = make("input", { id: `${prefix}-name`, placeholder: "that of the first document or of the folder", autocomplete: "off", maxlength: 40 });
  const picked = make("input", { type: "file", multiple: true, class: "unseen", "aria-label": "Documents to upload", tabindex: -1, on: { change: () => upload([...picked.files]) } });
  const zone = make("div", { class: "drop-zone" }, make("p", { text: "Drop documents here, or" }), make("div", { class: "row" }, button("Choose files …", () => picked.click())), picked);
  const wanted = given => (name.value.trim() || given).normalize("NFC").replace(/[^\p{L}\p{N}_.,()&' -]+/gu, "-").replace(/^[^\p{L}\p{N}_]+/u, "").slice(0, 40).replace(/[^\p{L}\p{N}_)]+$/u, "") || "documents";
  const guarded = async act => { followed = ""; try { await act(); } catch (error) { told.replaceChildren(failed(error)); await tools.draw().catch(() => null); } finally { followed = null; } };
  const upload = files => guarded(async () => {
    if (!files.length) return;
    const made = await read("/collections", { method: "POST", body: { name: wanted(files[0].name.replace(/\.[^.]+$/, "")) } });
    const all = files.reduce((sum, file) => sum + file.size, 0), bar = make("progress", { max: Math.max(all, 1), "aria-label": "Uploaded" }), text = make("p");
    let sent = 0;
    told.replaceChildren(text, bar);
    for (const file of files) {
      for (let offset = 0; offset === 0 || offset < file.size; offset += PART) {
        text.textContent = `uploading ${file.name}: ${size(sent)} of ${size(all)}`;
        bar.value = sent;
        const part = file.slice(offset, offset + PART);
        await call(`/collections/${encodeURIComponent(made.name)}/documents`, { method: "POST", body: { file: file.name, offset, size: file.size, content: await base64(part) } });
        sent += part.size;
      }
    }
    await build(made.name, tools, true);
  });
  for (const [event, over] of [["dragover", true], ["dragenter", true], ["dragleave", false], ["drop", false]]) {
    zone.addEventListener(event, heard => { heard.preventDefault(); zone.classList.toggle("over", over); if (event === "drop") upload([...heard.dataTransfer.files]); });
  }
  const place = make("input", { id: `${prefix}-folder`, list: `${prefix}-folders`, placeholder: folders[0] || "", autocomplete: "off" });
  const offered = make("datalist", { id: `${prefix}-folders` }, folders.map(folder => make("option", { value: folder })));
  const named = make("div", { class: "row" }, place, offered, button("Index the folder", () => guarded(async () => {
    const made = await read("/collections", { method: "POST", body: { name: wanted(place.value.split(/[\\/]/).filter(Boolean).at(-1) || ""), folder: place.value.trim() } });
    await build(made.name, tools, true);
  })));
  return make("section", {}, make("h3", { text: "Add documents" }), zone,
    folders.length ? [make("label", { class: "labelled", for: `${prefix}-folder`, text: "Or a folder on the server" }), named] : "",
    make("label", { class: "labelled", for: `${prefix}-name`, text: "Name of the collection" }), make("div", { class: "row" }, name),
    make("p", { class: "empty", text: "Documents are added to a collection that you uploaded before, if you give its name." }));
};

export const build = async (name, tools, choose = false) => {
  await call(`/collections/${encodeURIComponent(name)}/index`, { method: "POST", body: {} });
  await follow(name, tools, choose);
};
/** Tell how far the build of a collection is, until its end; with `choose`, it is chosen as soon as it can be asked. */
export const follow = async (name, tools, choose = false) => {
  const text = make("p", { text: `indexing ${name} …` }), bar = make("progress", { "aria-label": "Indexed" });
  const path = `/collections/${encodeURIComponent(name)}`;
  told.replaceChildren(text, bar, make("div", { class: "row" }, button("Stop", () => call(`${path}/stop`, { method: "POST", body: {} }).catch(() => null))));
  let asked = false;
  const heed = async (kind, data) => {
    if (kind === "progress") {
      if (data.unit === "passages" && !asked) { asked = true; await tools.then(choose ? name : undefined); }  // its words can be searched
      const rest = data.rest_s === null ? "" : `, ${data.rest_s < 90 ? `${Math.ceil(data.rest_s)} s` : `${Math.round(data.rest_s / 60)} min`} left`;
      const rate = data.rate === null ? "" : `, ${data.rate.toFixed(1)}/s`, ready = data.total !== null && data.done >= data.total;
      text.textContent = `${name}: ${data.done.toLocaleString("en")}${data.total === null ? "" : ` of ${data.total.toLocaleString("en")}`} ${UNITS[data.unit] || data.unit}${asked && !ready ? " computed, you can ask now" : ""}${ready ? ` ${DONE[data.unit] || "done"} …` : `${rate}${rest}`}`;
      if (data.total) { bar.max = data.total; bar.value = data.done; } else bar.removeAttribute("value");
    } else if (kind === "built") {
      const left = data.skipped.length ? `, ${many(data.skipped.length, "file")} skipped` : "";
      const built = (await read("/collections")).collections.find(one => one.name === name);
      told.replaceChildren(make("p", { text: `${name}: ${many(built?.files ?? data.documents, "file")} in ${many(data.passages, "passage")}${left} (${data.seconds.toFixed(1)} s).` }),
        data.skipped.length ? make("details", {}, make("summary", { text: "skipped" }), make("ul", {}, data.skipped.map(one => make("li", { text: `${one.name}: ${one.reason}` })))) : "",
        make("div", { class: "row" }, button("Close", () => told.replaceChildren())));
      await tools.then(choose && !asked ? name : undefined);
    } else told.replaceChildren(failed(data));
  };
  followed = name;
  try {
    for await (const { name: kind, data } of events(await call(`${path}/progress`))) await heed(kind, data);
  } finally {
    followed = null;
  }
  await tools.draw();
};
