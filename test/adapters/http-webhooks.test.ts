// Webhooks against real servers: signature, what each answer means, and where a request must never go.
import { createHmac } from "node:crypto";
import type { LookupAddress } from "node:dns";
import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createHttpWebhooks, type HttpWebhooksOptions } from "../../lib/adapters/http-webhooks.ts";
import { isPublic } from "../../lib/adapters/http-webhooks-address.ts";
import { type Receiver, startReceiver } from "../delivery/webhook-receiver.ts";

const now = Date.parse("2026-11-30T12:00:00Z");
const keyOf = (tenant: string) => Buffer.from(tenant.padEnd(32, "."));
const open = (more: Partial<HttpWebhooksOptions> = {}) =>
  createHttpWebhooks({ keyOf, now: () => now, loopback: true, ...more });

const receivers: Receiver[] = [];
async function receiver(answer?: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const made = await startReceiver(answer);
  receivers.push(made);
  return made;
}
afterEach(async () => {
  for (const made of receivers.splice(0)) await made.close();
});

const hook = (url: string) => ({ tenant: "acme", url, id: "20261130_120000_0000000a.1", body: '{"answer":"ü"}' });

describe("a webhook", () => {
  it("carries its id, time and a signature that the tenant's secret checks (Standard Webhooks)", async () => {
    const { url, received } = await receiver();
    const webhooks = open();
    expect(await webhooks.send(hook(url))).toEqual({ outcome: "accepted" });
    const [got] = received;
    const secret = Buffer.from(webhooks.secretOf("acme").replace("whsec_", ""), "base64");
    const signed = `${got?.headers["webhook-id"]}.${got?.headers["webhook-timestamp"]}.${got?.body}`;
    expect(got?.headers).toMatchObject({
      "webhook-id": "20261130_120000_0000000a.1",
      "idempotency-key": "20261130_120000_0000000a.1",
      "webhook-timestamp": String(now / 1000),
      "webhook-signature": `v1,${createHmac("sha256", secret).update(signed).digest("base64")}`,
      "content-type": "application/json",
    });
    expect(got?.body).toBe('{"answer":"ü"}');
  });

  it("is signed with a secret of its own for each tenant (G6)", () => {
    const webhooks = open();
    expect(webhooks.secretOf("acme")).not.toBe(webhooks.secretOf("globex"));
  });

  it.each([
    [200, "accepted", undefined],
    [299, "accepted", undefined],
    [302, "failed", false],
    [400, "failed", false],
    [410, "failed", true],
    [429, "failed", false],
    [503, "failed", false],
  ] as const)("answered with %i is %s; final: %s; and no redirect is followed", async (status, outcome, final) => {
    const { url, received } = await receiver(() => status);
    const result = await open().send(hook(url));
    expect(result).toEqual(
      outcome === "accepted" ? { outcome } : { outcome, final, reason: `the receiver answered ${status}` },
    );
    expect(received).toHaveLength(1);
  });

  it("without an answer may be tried again", async () => {
    const { url } = await receiver(() => "drop");
    expect(await open().send(hook(url))).toMatchObject({ outcome: "failed", final: false });
  });

  it("to a receiver that never answers ends with its time limit", async () => {
    const mute = createServer((socket) => void socket.resume());
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    const { port } = mute.address() as { port: number };
    expect(await open({ timeoutMs: 50 }).send(hook(`http://127.0.0.1:${port}`))).toEqual({
      outcome: "failed",
      final: false,
      reason: "the receiver did not answer in time",
    });
    await new Promise((resolve) => mute.close(resolve));
  });
});

describe("the guard against requests into private networks", () => {
  const cloud = { loopback: false };
  const named =
    (...addresses: string[]) =>
    async (): Promise<LookupAddress[]> =>
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const blocked = { outcome: "failed", final: true, reason: "the address is not one that may be sent to" };

  it.each([
    "http://receiver.example/",
    "https://user:secret@receiver.example/",
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.8/",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[fd00:ec2::254]/",
    "https://[64:ff9b::a00:1]/",
    "ftp://receiver.example/",
    "receiver.example",
  ])("refuses %s when it is given, and sends nothing to it", async (url) => {
    expect(() => open(cloud).check(url)).toThrow(expect.objectContaining({ name: "InvalidInput" }));
    expect(await open(cloud).send(hook(url))).toEqual(blocked);
  });

  it("never says the URL, which may hold a password", () => {
    expect(() => open(cloud).check("https://user:hunter2@receiver.example/")).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining("hunter2") }),
    );
  });

  it.each([["127.0.0.1"], ["10.1.2.3"], ["169.254.169.254"], ["::1"], ["fe80::1"], ["93.184.216.34", "192.168.0.1"]])(
    "connects nowhere when a name resolves to %s",
    async (...addresses) => {
      const { url, received } = await receiver();
      const port = new URL(url).port;
      const result = await open({ ...cloud, resolve: named(...addresses) }).send(
        hook(`https://receiver.example:${port}/`),
      );
      expect(result).toEqual(blocked);
      expect(received).toEqual([]);
    },
  );

  it("with loopback allowed still refuses the neighbours of this machine", async () => {
    expect(() => open().check("http://10.0.0.8/")).toThrow();
    expect(() => open().check("http://receiver.example/")).toThrow();
    expect(() => open().check("http://localhost:9000/hook")).not.toThrow();
    expect(await open({ resolve: named("10.0.0.8") }).send(hook("https://receiver.example/"))).toEqual(blocked);
  });

  it("knows public addresses", () => {
    expect(["93.184.216.34", "8.8.8.8", "2606:4700:4700::1111"].map(isPublic)).toEqual([true, true, true]);
    expect(
      ["100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "2002:a00:1::", "not an address"].map(isPublic),
    ).toEqual(Array(6).fill(false));
  });
});
