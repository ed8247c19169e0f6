// The mailed link over real HTTP: what a mail scanner, a person in a hurry and a guesser get.
import { serve } from "@hono/node-server";
import { defineTool } from "baton";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { approvalWorld, asked, ended, linkIn, type Process, tenant, type World } from "../support/approval-world.ts";

const ann = "ann@bank.example";
const bob = "bob@bank.example";
const input = z.object({ n: z.int().describe("how many"), note: z.string().optional() });
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Site = {
  world: World;
  process: Process;
  sessionId: string;
  id: string;
  ran: unknown[];
  link(n?: number): string;
  mailTo(to: string): string;
};

async function site(rule: object = {}, given: object = { n: 1 }): Promise<Site> {
  const ran: unknown[] = [];
  const file = defineTool({
    name: "file",
    description: "files a report",
    input,
    effect: "once",
    approval: { approvers: [ann], ...rule },
    run: (args) => {
      ran.push(args);
      return "filed";
    },
  });
  const world = approvalWorld({
    tools: [file],
    script: [{ calls: [{ name: "file", input: given as never }] }, { text: "done" }],
  });
  const process = world.start();
  const server = serve({ fetch: process.api.fetch, hostname: "127.0.0.1", port: 0, overrideGlobalObjects: false });
  await new Promise<void>((resolve) => server.once("listening", () => resolve()));
  closers.push(
    () => process.stop(0),
    () => new Promise((resolve) => server.close(() => resolve(null))),
  );
  const { port } = server.address() as { port: number };
  const { sessionId } = await process.send();
  const [stored] = await asked(process, sessionId);
  const here = (link: string) => link.replace("http://127.0.0.1:8787", `http://127.0.0.1:${port}`);
  return {
    world,
    process,
    sessionId,
    id: stored?.approval.id ?? "",
    ran,
    link: (n = 0) => here(linkIn(world.mails[n])),
    mailTo: (to) => here(linkIn(world.mails.find((mail) => mail.to === to))),
  };
}

/** As a browser sends the page's form with one button pressed. */
async function press(link: string, button: string, more: Record<string, string> = {}, page?: string) {
  const html = page ?? (await (await fetch(link)).text());
  const nonce = /name="nonce" value="([^"]+)"/.exec(html)?.[1] ?? "";
  const edit = /name="edit" value="([^"]+)"/.exec(html)?.[1]?.replaceAll("&quot;", '"');
  const body = new URLSearchParams({ nonce, do: button, ...(edit && button === "approve" ? { edit } : {}), ...more });
  const response = await fetch(link, { method: "POST", body });
  return { status: response.status, html: await response.text(), headers: response.headers };
}

const status = async (at: Site) => (await at.process.deps.store.approvals.get(tenant, at.id))?.approval.status;

describe("the mailed link", () => {
  it("shows the call and decides nothing on GET and HEAD (G8)", async () => {
    const at = await site();
    const page = await fetch(at.link());
    const html = await page.text();
    expect([page.status, html.includes("Approval needed"), html.includes("You decide as")]).toEqual([200, true, true]);
    const head = await fetch(at.link(), { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
      "content-security-policy": expect.stringMatching(
        /^default-src 'none'; style-src 'nonce-[^']+'; form-action 'self'; frame-ancestors 'none'/,
      ),
    });
    expect([await status(at), at.ran]).toEqual(["pending", []]);
  });

  it("decides on POST with the page's nonce and one button, and runs the call", async () => {
    const at = await site();
    const { status: code, html } = await press(at.link(), "approve", { comment: "fine" });
    expect([code, html.includes("was approved")]).toEqual([200, true]);
    expect(await ended(at.process, at.sessionId)).toBe("completed");
    expect(at.ran).toEqual([{ n: 1 }]);
    const decided = (await at.world.events(at.process, at.sessionId)).find(({ type }) => type === "approval.decided");
    expect(decided).toMatchObject({
      decisions: [
        { by: ann, decision: "approve", comment: "fine", via: "link", address: expect.stringContaining("127.0.0.1") },
      ],
    });
  });

  it("refuses a POST without nonce, with another approval's nonce, or without a button", async () => {
    const at = await site({ approvers: [ann, bob] });
    const none = await fetch(at.mailTo(ann), { method: "POST", body: new URLSearchParams({ do: "approve" }) });
    const others = await press(at.mailTo(ann), "approve", {}, await (await fetch(at.mailTo(bob))).text());
    const both = await press(at.mailTo(ann), "");
    const json = await fetch(at.mailTo(ann), {
      method: "POST",
      body: '{"do":"approve"}',
      headers: { "content-type": "application/json" },
    });
    expect([none.status, others.status, both.status, json.status]).toEqual([403, 403, 422, 403]);
    expect(await status(at)).toBe("pending");
  });

  it("answers an unknown id and a wrong secret alike, and slows guessing down", async () => {
    const at = await site();
    const plain = async (url: string) => {
      const response = await fetch(url);
      return { status: response.status, html: (await response.text()).replace(/nonce="[^"]*"/, "") };
    };
    const base = at.link().replace(/[^/]+$/, "");
    const wrong = await plain(`${base}${"A".repeat(43)}`);
    expect(wrong.status).toBe(404);
    for (const id of [at.id.replace(/~0$/, "~5"), at.id.replace("bank", "shop"), "x", "%F0%9F%98%80", "~~~~~"]) {
      expect(await plain(`${base.replace(/[^/]+\/$/, "")}${id}/${"A".repeat(43)}`)).toEqual(wrong);
    }
    for (let tries = 1; tries < 20; tries++) await plain(`${base}guess${tries}`);
    expect([(await plain(`${base}more`)).status, (await plain(at.link())).status]).toEqual([429, 429]);
    await at.world.clock.advance(600_000);
    expect((await plain(at.link())).status).toBe(200);
  });

  it("shows who decided on a second click, and changes nothing", async () => {
    const at = await site({ approvers: [ann, bob] });
    const page = await (await fetch(at.mailTo(bob))).text();
    await press(at.mailTo(ann), "reject", { comment: "no" });
    const late = await press(at.mailTo(bob), "approve", {}, page);
    expect([late.status, late.html.includes("was rejected"), late.html.includes(ann)]).toEqual([200, true, true]);
    const again = await fetch(at.mailTo(ann));
    expect([again.status, (await again.text()).includes("was rejected")]).toEqual([200, true]);
    await ended(at.process, at.sessionId);
    expect(at.ran).toEqual([]);
  });

  it("takes changed arguments in two steps, and runs what was shown in the second (G9)", async () => {
    const at = await site();
    const first = await press(at.link(), "change", { "arg.n": "two", comment: "less" });
    expect([first.status, first.html.includes("write a whole number")]).toEqual([422, true]);
    const confirm = await press(at.link(), "change", { "arg.n": "2", "arg.note": "für Zoë", comment: "less" });
    expect([confirm.status, confirm.html.includes("Nothing has been decided yet")]).toEqual([200, true]);
    expect(await status(at)).toBe("pending");
    const tampered = await press(at.link(), "approve", { edit: '{"n":999}' }, confirm.html);
    expect([tampered.status, await status(at)]).toEqual([403, "pending"]);
    const done = await press(at.link(), "approve", {}, confirm.html);
    expect(done.status).toBe(200);
    await ended(at.process, at.sessionId);
    expect(at.ran).toEqual([{ n: 2, note: "für Zoë" }]);
  });

  it("refuses changed arguments that the tool would not take", async () => {
    const at = await site();
    const page = await press(at.link(), "change", { "arg.n": "1.5" });
    expect([page.status, await status(at)]).toEqual([422, "pending"]);
  });

  it("says 410 and the mend once it has expired", async () => {
    const at = await site({ expiresIn: "1h" });
    const page = await (await fetch(at.link())).text();
    await at.world.clock.advance(3_600_000);
    const shown = await fetch(at.link());
    const pressed = await press(at.link(), "approve", {}, page);
    expect([shown.status, pressed.status]).toEqual([410, 410]);
    expect((await shown.text()).includes("ask the agent again")).toBe(true);
    await at.process.sweep();
    await ended(at.process, at.sessionId);
    expect(at.ran).toEqual([]);
  });

  it("says that it was cancelled, and why, after a stop", async () => {
    const at = await site();
    const { stopSession } = await import("../../lib/sessions/control.ts");
    await stopSession(at.process.deps, { tenant, sessionId: at.sessionId, user: "rita" }, { reason: "wrong case" });
    const page = await fetch(at.link());
    const html = await page.text();
    expect([page.status, html.includes("was cancelled"), html.includes("wrong case")]).toEqual([200, true, true]);
    expect(await ended(at.process, at.sessionId)).toBe("stopped");
  });

  it("shows nothing to a link alone when the rule asks to sign in", async () => {
    const at = await site({ confirm: "signin" }, { n: 424242 });
    const page = await fetch(at.link());
    const html = await page.text();
    const pressed = await fetch(at.link(), {
      method: "POST",
      body: new URLSearchParams({ do: "approve", nonce: "x" }),
    });
    expect([page.status, html.includes("424242"), pressed.status, await status(at)]).toEqual([
      403,
      false,
      403,
      "pending",
    ]);
  });

  it("asks for the code of a second mail when the rule says so", async () => {
    const at = await site({ confirm: "code" });
    const asks = await press(at.link(), "approve");
    const mail = at.world.mails.find(({ subject }) => subject.startsWith("Your code"));
    const code = /\b\d{6}\b/.exec(mail?.text ?? "")?.[0] ?? "";
    expect([asks.status, code.length, mail?.text.includes("/approve/")]).toEqual([200, 6, false]);
    const wrong = await press(at.link(), "approve", { code: code === "000000" ? "000001" : "000000" }, asks.html);
    expect([wrong.status, await status(at)]).toEqual([422, "pending"]);
    const right = await press(at.link(), "approve", { code: `${code.slice(0, 3)} ${code.slice(3)}` }, asks.html);
    expect([right.status, await status(at)]).toEqual([200, "approved"]);
    await ended(at.process, at.sessionId);
    const decided = (await at.world.events(at.process, at.sessionId)).find(({ type }) => type === "approval.decided");
    expect(decided).toMatchObject({ decisions: [{ via: "code" }] });
  });

  it("blocks guessing the code, also with the right one", async () => {
    const at = await site({ confirm: "code" });
    const asks = await press(at.link(), "approve");
    const code = /\b\d{6}\b/.exec(at.world.mails.at(-1)?.text ?? "")?.[0] ?? "";
    const wrong = code === "000000" ? "000001" : "000000";
    for (let tries = 0; tries < 5; tries++) await press(at.link(), "approve", { code: wrong }, asks.html);
    const late = await press(at.link(), "approve", { code }, asks.html);
    expect([late.status, await status(at)]).toEqual([429, "pending"]);
  });

  it("tells the page was shown once per person, however often it is opened", async () => {
    const at = await site({ approvers: [ann, bob] });
    for (const to of [ann, ann, bob, ann]) await fetch(at.mailTo(to));
    const shown = (await at.world.events(at.process, at.sessionId)).filter((event) => event.type === "approval.shown");
    expect(shown.map((event) => event.by)).toEqual([ann, bob]);
  });

  it("never logs the address of the page (G20)", async () => {
    const lines: string[] = [];
    const at = await site();
    const say = (...line: unknown[]) => void lines.push(JSON.stringify(line));
    at.process.deps.log = { info: say, warn: say, error: say };
    await press(at.link(), "approve");
    await fetch(at.link());
    await ended(at.process, at.sessionId);
    const secret = at.link().split("/").at(-1) ?? "?";
    expect(lines.filter((line) => line.includes(secret) || line.includes("/approve/"))).toEqual([]);
  });
});

describe("signed-in decisions", () => {
  const call = (at: Site, path: string, token: string, body?: object) =>
    at.process.api.fetch(
      new Request(`http://x${path}`, {
        headers: { authorization: `Bearer ${token}` },
        ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
      }),
    );
  const decide = (at: Site, token: string, body: object) => call(at, `/v1/approvals/${at.id}/decision`, token, body);

  it("go the same path as the link", async () => {
    const at = await site();
    const list = await (await call(at, "/v1/approvals?status=pending", `${tenant}:u1:${ann}`)).json();
    expect(list).toMatchObject({
      items: [{ id: at.id, tool: "file", input: { n: 1 }, status: "pending", approvers: [ann] }],
    });
    const decided = await decide(at, `${tenant}:u1:${ann}`, { decision: "approve", comment: "ok" });
    expect([decided.status, await decided.json()]).toMatchObject([
      200,
      { status: "approved", decisions: [{ by: ann, via: "signin" }] },
    ]);
    await ended(at.process, at.sessionId);
    expect(at.ran.length).toBe(1);
    const again = await decide(at, `${tenant}:u1:${ann}`, { decision: "approve" });
    const otherwise = await decide(at, `${tenant}:u1:${ann}`, { decision: "reject" });
    expect([again.status, otherwise.status]).toEqual([200, 409]);
  });

  it("are for approvers of the same tenant only (G6)", async () => {
    const at = await site();
    const foreign = await decide(at, `shop:u1:${ann}`, { decision: "approve" });
    const unknown = await call(at, `/v1/approvals/${at.id.replace(/~0$/, "~9")}/decision`, `${tenant}:u1:${ann}`, {
      decision: "approve",
    });
    const stranger = await decide(at, `${tenant}:u2:eve@bank.example`, { decision: "approve" });
    const bodies = await Promise.all([foreign.json(), unknown.json()]);
    expect([foreign.status, unknown.status, stranger.status, bodies[0]]).toEqual([404, 404, 403, bodies[1]]);
    expect(await status(at)).toBe("pending");
  });

  it("name the field of changed arguments that do not fit", async () => {
    const at = await site();
    const refused = await decide(at, `${tenant}:u1:${ann}`, { decision: "approve", input: { n: "x" } });
    expect([refused.status, await refused.json()]).toMatchObject([400, { errors: [{ path: "input.n" }] }]);
    const wrong = await decide(at, `${tenant}:u1:${ann}`, { decision: "happened" });
    const extra = await decide(at, `${tenant}:u1:${ann}`, { decision: "approve", force: true });
    expect([wrong.status, extra.status, await status(at)]).toEqual([400, 400, "pending"]);
  });

  it("may answer a rule that asks to sign in", async () => {
    const at = await site({ confirm: "signin" });
    const decided = await decide(at, `${tenant}:u1:${ann}`, { decision: "approve" });
    expect([decided.status, await ended(at.process, at.sessionId)]).toEqual([200, "completed"]);
  });
});
