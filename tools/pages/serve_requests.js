// Requests of the page of `ramify serve` to the server.

const API = "ramify/v1";

/** Why a request failed: a kind for the script, a message for people. */
export class Failure extends Error {
  constructor(kind, message, status = 0) { super(message); this.kind = kind; this.status = status; }
}
export const access = { token: sessionStorage.getItem("ramify.token") || "", wanted: null };

/** Send a request; ask for a token where the server wants one. */
export const call = async (path, { method = "GET", body, signal } = {}) => {
  const headers = { ...(access.token && { Authorization: `Bearer ${access.token}` }), ...(body !== undefined && { "Content-Type": "application/json" }) };
  let response;
  try {
    response = await fetch(API + path, { method, signal, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("lost", "The server does not answer. Is `ramify serve` still running?");
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  if (response.status === 401 && access.wanted) {
    await access.wanted(access.token ? told.error?.message : "");
    return call(path, { method, body, signal });
  }
  throw new Failure(told.error?.kind || "other", told.error?.message || told.detail || `The server replied with status ${response.status}.`, response.status);
};
export const read = async (path, given) => (await call(path, given)).json();

/** Read server-sent events as they come. */
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch(() => { throw new Failure("lost", "The connection to the server broke off."); });
    if (done) return;
    rest += value;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const block = rest.slice(0, end);
      rest = rest.slice(end + 2);
      const name = /^event: (.*)$/m.exec(block)?.[1];
      if (name) yield { name, data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] || "{}") };
    }
  }
}
