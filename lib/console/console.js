// The web console: sessions, one of them live, open decisions, the mailbox. Everything that is shown is set as text:
// what users, models and tools wrote is hostile. The token stays in this tab.
import { createParser } from "/console/eventsource-parser/index.js";

const $ = (id) => document.getElementById(id);
const tokenName = "baton-token";
const refreshMs = 2000;
let current = null;
let watching = null;

class Problem extends Error {}

async function api(path, { method = "GET", body } = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(tokenName) ?? ""}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const value = text === "" ? null : JSON.parse(text);
  if (response.status === 401) askForToken("This token is not valid here.");
  if (!response.ok) throw new Problem(value?.detail ?? `the answer was ${response.status}`);
  return value;
}

/** An element with text or children; never HTML. */
function element(tag, options = {}, ...children) {
  const { text, ...properties } = options;
  const node = Object.assign(document.createElement(tag), properties);
  if (text !== undefined) node.textContent = text;
  node.append(...children);
  return node;
}

function fill(id, emptyId, nodes) {
  $(id).replaceChildren(...nodes);
  $(emptyId).hidden = nodes.length > 0;
}

function askForToken(message = "") {
  sessionStorage.removeItem(tokenName);
  $("main").hidden = true;
  $("sign-in").hidden = false;
  $("sign-in-error").textContent = message;
  $("token").focus();
}

async function refresh() {
  try {
    const [health, sessions, approvals] = await Promise.all([
      api("/healthz"),
      api("/v1/sessions?limit=50"),
      api("/v1/approvals?status=pending&limit=50"),
    ]);
    $("runtime").textContent =
      `${health.version ?? ""} · model: ${health.model ?? "?"}${health.workerPid ? ` · worker ${health.workerPid}` : ""}`;
    showSessions(sessions.items);
    showApprovals(approvals.items);
    await refreshMailbox();
  } catch (error) {
    $("runtime").textContent =
      error instanceof Problem ? error.message : "the runtime does not answer; it may be restarting …";
  }
}

function showSessions(items) {
  const focused = document.activeElement?.dataset?.id;
  const rows = items.map((session) => {
    const button = element(
      "button",
      { type: "button", onclick: () => open(session.id) },
      element("span", { text: session.title || session.key, dir: "auto" }),
      element("br"),
      element("span", { className: `soft ${session.status}`, text: `${session.status} · v${session.version}` }),
    );
    button.dataset.id = session.id;
    button.setAttribute("aria-current", String(session.id === current));
    return element("li", {}, button);
  });
  fill("sessions", "no-sessions", rows);
  if (focused) document.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
}

function showApprovals(items) {
  // Somebody is writing a comment: leave the list alone.
  if (document.activeElement?.closest?.("#approvals")) return;
  const rows = items.map((approval) => {
    const comment = element("input", { placeholder: "Comment", ariaLabel: `Comment on ${approval.tool}`, dir: "auto" });
    const decide = (decision) => async () => {
      try {
        await api(`/v1/approvals/${encodeURIComponent(approval.id)}/decision`, {
          method: "POST",
          body: { decision, ...(comment.value ? { comment: comment.value } : {}) },
        });
        comment.blur();
      } catch (error) {
        $("problem").textContent = error.message;
      }
      document.activeElement?.blur();
      await refresh();
    };
    return element(
      "li",
      { className: "card" },
      element("strong", { text: approval.kind === "in_doubt" ? `Did ${approval.tool} happen?` : approval.tool }),
      element("p", {
        className: "soft",
        text: `asked of ${approval.approvers.map((who) => who.email ?? who).join(", ")}, until ${new Date(approval.expiresAt).toLocaleString()}`,
      }),
      element("pre", { text: JSON.stringify(approval.input, null, 2), dir: "auto" }),
      comment,
      element(
        "div",
        { className: "row" },
        element("button", { type: "button", className: "primary", text: "Approve", onclick: decide("approve") }),
        element("button", { type: "button", text: "Reject", onclick: decide("reject") }),
      ),
    );
  });
  fill("approvals", "no-approvals", rows);
}

async function refreshMailbox() {
  const mails = await api("/v1/dev/mails").catch(() => null);
  $("kill").hidden = mails === null;
  if (mails === null || document.activeElement?.closest?.("#mails")) return;
  const open = new Set([...document.querySelectorAll("#mails details[open]")].map((node) => node.dataset.name));
  const rows = mails.items.map((mail) => {
    const links = mail.links.map((href) =>
      element("a", { href, text: "Open the link", target: "_blank", rel: "noreferrer" }),
    );
    const details = element(
      "details",
      { open: open.has(mail.name) },
      element("summary", { text: `${mail.subject} → ${mail.to}`, dir: "auto" }),
      element("pre", { text: mail.text, dir: "auto" }),
      ...links,
    );
    details.dataset.name = mail.name;
    return element("li", { className: "card" }, details);
  });
  fill("mails", "no-mails", rows);
}

async function open(id) {
  current = id;
  watching?.abort();
  watching = new AbortController();
  await showTree();
  for (const button of document.querySelectorAll("#sessions button"))
    button.setAttribute("aria-current", String(button.dataset.id === id));
  watch(id, watching.signal);
}

async function showTree() {
  const { session, turns } = await api(`/v1/sessions/${encodeURIComponent(current)}`);
  $("session-title").textContent = session.title || session.key;
  $("session-facts").textContent =
    `${session.id} · ${session.status} · version ${session.version} · ${session.usage.inputTokens + session.usage.cacheReadTokens} tokens in, ${session.usage.outputTokens} out · $${session.usage.usd}`;
  $("key").value = session.key;
  const rows = turns.flatMap((turn) => [
    element(
      "li",
      { className: "card" },
      element("div", { className: "head", text: `turn ${turn.turn}` }),
      element("p", { dir: "auto", text: turn.input.map((block) => block.text ?? "(image)").join("\n") }),
    ),
    ...turn.steps.map(stepRow),
  ]);
  $("steps").replaceChildren(...rows);
}

function stepRow(step) {
  const text = step.content
    .map((block) => block.text ?? "")
    .join("\n")
    .trim();
  const shown =
    step.output === undefined
      ? undefined
      : typeof step.output === "string"
        ? step.output
        : JSON.stringify(step.output, null, 2);
  const input = step.kind === "action" ? JSON.stringify(step.content[0]?.input ?? {}, null, 2) : undefined;
  return element(
    "li",
    { className: "card" },
    element(
      "div",
      { className: "head" },
      element("span", { text: `v${step.version}` }),
      element("span", { text: step.kind }),
      element("strong", { text: step.name ?? "" }),
      element("span", { className: step.status, text: step.status }),
      element("span", { text: (step.attempts ?? 1) > 1 ? `attempt ${step.attempts}` : "" }),
    ),
    ...(text && shown === undefined ? [element("p", { text, dir: "auto" })] : []),
    ...(input === undefined ? [] : [element("pre", { text: input, dir: "auto" })]),
    ...(shown === undefined ? [] : [element("pre", { text: shown, dir: "auto" })]),
    ...(step.error ? [element("p", { className: "failed", text: step.error.message })] : []),
  );
}

/** Follows the session's stream until `signal`; a lost connection is taken up again where it was. */
async function watch(id, signal) {
  let last = "";
  let text = "";
  const parser = createParser({
    onEvent(event) {
      if (event.id !== undefined) last = event.id;
      const data = JSON.parse(event.data);
      if (event.event === "text") text += data.text ?? "";
      else if (event.event === "progress") text = `${data.tool}: ${data.message}\n`;
      else text = "";
      $("live").textContent = text;
      if (event.id !== undefined && current === id) showTree().catch(() => {});
    },
  });
  while (!signal.aborted) {
    try {
      const headers = { Accept: "text/event-stream", Authorization: `Bearer ${sessionStorage.getItem(tokenName)}` };
      if (last !== "") headers["Last-Event-ID"] = last;
      const from = last === "" ? `?after=${(await api(`/v1/sessions/${encodeURIComponent(id)}`)).session.version}` : "";
      const response = await fetch(`/v1/sessions/${encodeURIComponent(id)}/events${from}`, { headers, signal });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) parser.feed(part.value);
    } catch {
      if (signal.aborted) return;
    }
    parser.reset();
    await new Promise((resolve) => setTimeout(resolve, 700));
    if (current === id) showTree().catch(() => {});
  }
}

async function send(event) {
  event.preventDefault();
  $("problem").textContent = "";
  try {
    const text = $("text").value;
    const accepted = await api("/v1/messages", { method: "POST", body: { key: $("key").value, text } });
    $("text").value = "";
    if (accepted.answer !== undefined && accepted.command) $("problem").textContent = accepted.answer;
    await open(accepted.sessionId);
    await refresh();
  } catch (error) {
    $("problem").textContent = error.message;
  }
}

function start() {
  // `npm start` prints the address with the token behind #, which browsers never send.
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(tokenName, given);
    history.replaceState(null, "", "/");
  }
  if (!sessionStorage.getItem(tokenName)) return askForToken();
  $("sign-in").hidden = true;
  $("main").hidden = false;
  refresh();
}

$("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(tokenName, $("token").value.trim());
  start();
});
$("composer").addEventListener("submit", send);
$("stop").addEventListener("click", async () => {
  if (!current) return;
  await api(`/v1/sessions/${encodeURIComponent(current)}/stop`, { method: "POST", body: {} }).catch((error) => {
    $("problem").textContent = error.message;
  });
  await showTree();
});
$("kill").addEventListener("click", async () => {
  await api("/v1/dev/kill-worker", { method: "POST", body: {} }).catch(() => {});
  $("runtime").textContent = "the worker was killed; the supervisor starts another …";
});
setInterval(() => {
  if (!$("main").hidden && !document.hidden) refresh();
}, refreshMs);
start();
