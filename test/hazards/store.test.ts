// Hazards of the store, on every kind of table: H01, H02, H03, H05, H06, H09, H10, H11, H12, H14.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { StoreUnavailable, UnknownFormat, UnreadableRecord, VersionConflict } from "../../lib/core/errors.ts";
import { toJson } from "../../lib/core/json.ts";
import type { Item } from "../../lib/ports/table.ts";
import { canonical, itemBytes } from "../../lib/store/encoding.ts";
import { currentFormat } from "../../lib/store/formats.ts";
import { sessionPk, versionSk } from "../../lib/store/keys.ts";
import { createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { filled, type Kit, kitOver, kits, newWriter, notice, sessionId } from "../support/stores.ts";

const pk = sessionPk("acme", sessionId);
/** Text that no compression makes smaller: about 4/3 of `bytes` characters, the same in every run. */
function random(bytes: number): string {
  const blocks = Array.from({ length: Math.ceil(bytes / 64) }, (_, i) => createHash("sha512").update(`${i}`).digest());
  return Buffer.concat(blocks).subarray(0, bytes).toString("base64");
}

for (const { name, open } of kits) {
  describe(`the store over ${name}`, () => {
    let kit: Kit;
    afterEach(() => kit.close());

    it("keeps content of any size, by reference when it is large, and loads it back identical (H01, G14)", async () => {
      kit = await open();
      let head = await filled(kit.store, 1);
      for (const kilobytes of [1, 30, 33, 390, 410, 2000]) {
        const text = random(kilobytes * 768);
        const before = head.version;
        head = await kit.store.log.append(head, notice(text), newWriter());
        expect(head.version).toBe(before + 1);
        const item = await kit.table.get({ pk, sk: versionSk(head.version) });
        expect(itemBytes(item as Item)).toBeLessThan(40_000);
        const fresh = kitOver(kit.table, kit.blobs, kit.clock).store;
        const loaded = await fresh.log.at("acme", sessionId, head.version);
        expect(loaded?.event).toEqual(notice(text));
      }
    });

    it("takes a message with a picture of 1.2 MB and long attribute names (H01)", async () => {
      kit = await open();
      await filled(kit.store, 1);
      const picture = { type: "image" as const, mediaType: "image/png" as const, data: random(1_200_000) };
      const names = Object.fromEntries(
        Array.from({ length: 200 }, (_, i) => [`a very long attribute name, number ${i} `.repeat(8), i]),
      );
      const message = {
        messageId: "m1",
        content: [picture],
        at: 1,
        from: { user: "ann", via: "api" as const },
        deliverTo: names,
      };
      const seq = await kit.store.inbox.add("acme", sessionId, message, 0);
      expect(await kit.store.inbox.list("acme", sessionId)).toEqual([{ ...message, seq }]);
    });

    it("writes nothing when a blob is refused: the pointing item is last (H02)", async () => {
      kit = await open();
      const head = await filled(kit.store, 1);
      const refusing = { ...kit.blobs, put: () => Promise.reject(new StoreUnavailable("refused")) };
      const { store } = kitOver(kit.table, refusing, kit.clock);
      await expect(store.log.append(head, notice(random(60_000)), newWriter())).rejects.toThrow(StoreUnavailable);
      expect((await kit.store.log.head("acme", sessionId))?.version).toBe(1);
    });

    it("has one winner of a version; the loser is told, and stands where it stood (H12, G4)", async () => {
      kit = await open();
      const head = await filled(kit.store, 7);
      const tries = await Promise.allSettled(
        Array.from({ length: 10 }, (_, i) =>
          kitOver(kit.table, kit.blobs, kit.clock).store.log.append(head, notice(`try ${i}`), newWriter()),
        ),
      );
      const won = tries.filter((result) => result.status === "fulfilled");
      const lost = tries.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      expect(won).toHaveLength(1);
      expect(lost.every((error) => error instanceof VersionConflict)).toBe(true);
      expect((await kit.store.log.events("acme", sessionId, 0)).map(({ version }) => version)).toEqual([
        1, 2, 3, 4, 5, 6, 7, 8,
      ]);
    });

    it("takes a lost answer for what it is: the own write won, an other's is a conflict (H10, G5)", async () => {
      kit = await open();
      const head = await filled(kit.store, 2);
      for (const fault of ["lost answer", "lost request", "throttle"] as const) {
        const base = (await kit.store.log.head("acme", sessionId)) ?? head;
        const faulty = kitOver(createFaultyTable(kit.table, [{ fault, on: 1 }]), kit.blobs, kit.clock);
        const after = await faulty.store.log.append(base, notice(fault), newWriter());
        expect(after.version).toBe(base.version + 1);
      }
      const base = (await kit.store.log.head("acme", sessionId)) ?? head;
      const lost = kitOver(
        createFaultyTable(kit.table, [
          { fault: "lost request", on: 1 },
          { fault: "lost answer", on: ({ op, call }) => op === "get" && call > 1 },
        ]),
        kit.blobs,
        kit.clock,
      );
      await kit.store.log.append(base, notice("other"), newWriter());
      await expect(lost.store.log.append(base, notice("mine"), newWriter())).rejects.toThrow(VersionConflict);
    });

    it("refuses a second write of the same version through any path (H09)", async () => {
      kit = await open();
      const head = await filled(kit.store, 3);
      const old = await kit.store.log.at("acme", sessionId, 2);
      if (!old) throw new Error("version 2 is missing");
      await expect(kit.store.log.append(old, notice("again"), newWriter())).rejects.toThrow(VersionConflict);
      const raw = { pk, sk: versionSk(3), format: 1 };
      expect(await kit.table.put(raw, { absent: true })).toBe("refused");
      expect(await kit.store.log.head("acme", sessionId)).toEqual(head);
    });

    it("orders by number, whatever the clock says: step 10 after step 2 (H14)", async () => {
      kit = await open();
      let head = await filled(kit.store, 2);
      for (let i = 3; i <= 36; i++) {
        kit.clock.set(i % 3 === 0 ? 0 : 5_000_000);
        head = await kit.store.log.append(head, notice(`n${i}`), newWriter());
      }
      const fresh = kitOver(kit.table, kit.blobs, kit.clock).store;
      const texts = (await fresh.log.events("acme", sessionId, 1)).map(({ event }) =>
        event.type === "notice" ? event.text : "",
      );
      expect(texts).toEqual(Array.from({ length: 35 }, (_, i) => `n${i + 2}`));
    });

    it("stops at a damaged record with its path and writes nothing over it (H05)", async () => {
      kit = await open();
      await filled(kit.store, 3);
      const good = (await kit.table.get({ pk, sk: versionSk(2) })) as Item;
      const damages: Partial<Item>[] = [
        { event: `${String(good.event).slice(0, -1)}` },
        { event: String(good.event).replace("n2", "n9") },
        { event: 7 },
        { eventEnc: "zip" },
        { state: "{" },
        { hash: undefined },
      ];
      for (const damage of damages) {
        const bad = { ...good, ...damage } as Item;
        await kit.table.put(bad);
        const fresh = kitOver(kit.table, kit.blobs, kit.clock).store;
        const error = await fresh.log.at("acme", sessionId, 2).catch((caught: unknown) => caught);
        expect(error).toBeInstanceOf(UnreadableRecord);
        expect((error as Error).message).toContain(`${sessionId}/V#000000000002`);
        await expect(fresh.log.events("acme", sessionId, 0)).rejects.toThrow(UnreadableRecord);
        expect(await kit.table.get({ pk, sk: versionSk(2) })).toEqual(bad);
        // What follows the damage is still readable, and so is where the session stands.
        expect((await fresh.log.head("acme", sessionId))?.version).toBe(3);
        await kit.table.put(good);
      }
    });

    it("refuses a record of a newer release, untouched (H06, G19)", async () => {
      kit = await open();
      await filled(kit.store, 2);
      const newer = { ...((await kit.table.get({ pk, sk: versionSk(2) })) as Item), format: currentFormat + 1 };
      await kit.table.put(newer);
      const fresh = kitOver(kit.table, kit.blobs, kit.clock).store;
      await expect(fresh.log.head("acme", sessionId)).rejects.toThrow(UnknownFormat);
      expect(await kit.table.get({ pk, sk: versionSk(2) })).toEqual(newer);
    });

    it("reads what release 1 wrote (H06, G19)", async () => {
      kit = await open();
      const golden = JSON.parse(readFileSync(join(import.meta.dirname, "../golden/format-1/session.json"), "utf8")) as {
        items: Item[];
        events: unknown[];
      };
      for (const item of golden.items) await kit.table.put(revived(item));
      const read = await kit.store.log.events("acme", sessionId, 0);
      expect(read.map(({ event }) => event)).toEqual(golden.events);
      expect((await kit.store.log.head("acme", sessionId))?.state.title).toBe("hello");
    });

    it("does not take a lagging read for a missing session (H11)", async () => {
      kit = await open();
      const table = createFaultyTable(kit.table, [
        { fault: "stale", on: ({ op }) => op === "recent" || op === "due", writes: 50, times: 50 },
      ]);
      const { store } = kitOver(table, kit.blobs, kit.clock);
      const head = await filled(store, 5);
      await store.statuses.write(head.state, head.version, kit.clock.now(), 1);
      expect(await store.statuses.recent("acme", { limit: 10 })).toEqual({ rows: [] });
      expect((await store.log.head("acme", sessionId))?.version).toBe(5);
    });
  });
}

/** Bytes stand as base64 in the golden file. */
function revived(item: Item): Item {
  const entries = Object.entries(item).map(([name, value]) => [
    name,
    typeof value === "object" && value !== null
      ? Buffer.from((value as unknown as { base64: string }).base64, "base64")
      : value,
  ]);
  return Object.fromEntries(entries) as Item;
}

describe("the JSON edge", () => {
  it("returns equal or refuses with the path; nothing vanishes (H03)", () => {
    for (const good of ["", 0, false, null, 1e40, -1.5, [], {}, { a: ["", 0, false, null] }, "grüße 🙂", { "": 1 }]) {
      expect(toJson(good)).toBe(good);
      expect(JSON.parse(canonical(good))).toEqual(good);
    }
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const bad: [unknown, string][] = [
      [undefined, "$"],
      [{ a: undefined }, "$.a"],
      [{ a: [1, Number.NaN] }, "$.a[1]"],
      [{ "b c": Number.POSITIVE_INFINITY }, '$["b c"]'],
      [-0, "$"],
      [{ n: 10n }, "$.n"],
      [{ s: new Set() }, "$.s"],
      [{ m: new Map([[1, 2]]) }, "$.m"],
      [{ d: new Date(0) }, "$.d"],
      [{ f: () => 1 }, "$.f"],
      [[Symbol("x")], "$[0]"],
      [{ u: new Uint8Array(1) }, "$.u"],
      [{ half: "\ud800" }, "$.half"],
      [cyclic, "$.self"],
      [JSON.parse('{"__proto__":1}'), "$.__proto__"],
    ];
    for (const [value, path] of bad) {
      const error = (() => {
        try {
          return toJson(value);
        } catch (caught) {
          return caught as { errors?: { path: string }[] };
        }
      })() as { errors?: { path: string }[] };
      expect({ path, found: error.errors?.[0]?.path }).toEqual({ path, found: path });
    }
  });
});

describe("the hash chain", () => {
  it("links each event to the one before it, so that a changed one shows", async () => {
    const kit = await kits[0]?.open();
    if (!kit) throw new Error("no kit");
    await filled(kit.store, 4);
    const all = await kit.store.log.events("acme", sessionId, 0);
    expect(all.map(({ prevHash }) => prevHash)).toEqual(["", ...all.slice(0, -1).map(({ hash }) => hash)]);
    expect(new Set(all.map(({ hash }) => hash)).size).toBe(4);
  });
});
