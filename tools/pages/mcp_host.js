// The host of an MCP App, which shows this document in a frame: JSON-RPC 2.0 by postMessage.
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx

const VERSION = "2026-01-26";
const UNKNOWN_METHOD = -32601;
const NOTIFICATION = /^ui\/notifications\/(.+)$/;
/** What the host may ask; there is nothing to store before the end. */
const ANSWERED = new Set(["ping", "ui/resource-teardown"]);

/** The host: `heard` has a function for each notification, by its name; `changed(context)` is called with the host's context, and when it changes. */
export class Host {
  constructor(heard, changed) {
    Object.assign(this, { heard, changed, context: {}, capabilities: {}, replies: new Map(), count: 0, height: 0 });
    window.addEventListener("message", event => { if (event.source === window.parent && event.data?.jsonrpc === "2.0") this.take(event.data); });
  }
  /** Introduce the app, then report its size whenever it changes. */
  async connect(appInfo, availableDisplayModes) {
    const told = await this.request("ui/initialize", { appInfo, appCapabilities: { availableDisplayModes }, protocolVersion: VERSION });
    this.capabilities = told?.hostCapabilities || {};
    this.merge(told?.hostContext);
    this.send({ method: "ui/notifications/initialized", params: {} });
    new ResizeObserver(() => this.resize()).observe(document.documentElement);
  }
  request(method, params) {
    const id = ++this.count;
    return new Promise((resolve, reject) => {
      this.replies.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }
  send(message) { window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*"); }
  take({ id, method, params, result, error }) {
    if (typeof method !== "string") this.settle(id, result, error);
    else if (id === undefined) this.hear(NOTIFICATION.exec(method)?.[1], params || {});
    else this.send(ANSWERED.has(method) ? { id, result: {} } : { id, error: { code: UNKNOWN_METHOD, message: `unknown method ${method.slice(0, 80)}` } });
  }
  settle(id, result, error) {
    const reply = this.replies.get(id);
    this.replies.delete(id);
    if (error) reply?.reject(new Error(String(error.message))); else reply?.resolve(result);
  }
  hear(name, params) {
    if (name === "host-context-changed") this.merge(params);
    else if (Object.hasOwn(this.heard, name)) this.heard[name](params);
  }
  merge(context) {
    this.context = { ...this.context, ...context };
    this.changed(this.context);
  }
  resize() {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === this.height) return;
    this.height = height;
    this.send({ method: "ui/notifications/size-changed", params: { width: window.innerWidth, height } });
  }
}
