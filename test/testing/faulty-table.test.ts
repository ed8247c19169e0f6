import { describe, expect, it } from "vitest";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { BatonError, InvalidInput, StoreThrottled, StoreUnavailable } from "../../lib/core/errors.ts";
import { Crash, createFaultyTable, type FaultPlan, type TableCall } from "../../lib/testing/faulty-table.ts";
import { tableContract } from "../contract/table-contract.ts";

const key = { pk: "acme#s1", sk: "STATUS" };
const memory = () => createMemoryTable({ now: () => 0 });
const isGet = (call: TableCall) => call.op === "get";

// Without a plan, and with the machinery of looking back at work, it is a Table like any other.
tableContract("faulty without faults", async ({ now }) => createFaultyTable(createMemoryTable({ now })));
tableContract("faulty looking back", async ({ now }) =>
  createFaultyTable(createMemoryTable({ now }), [{ fault: "stale", on: () => false, writes: 1 }]),
);

describe("a faulty table", () => {
  it("counts calls and writes in order, refused ones too", async () => {
    const table = createFaultyTable(memory());
    await table.put({ ...key, a: 1 });
    await table.get(key);
    await table.put({ ...key, a: 2 }, { absent: true });
    await table.query({ pk: key.pk });
    await table.due({ before: 1 });
    await table.recent({ list: "l" });
    await table.update(key, { set: { a: 3 } });
    await table.remove(key);
    expect(table.writes).toBe(4);
    expect(table.calls).toStrictEqual([
      { op: "put", ...key, item: { ...key, a: 1 }, call: 1, write: 1 },
      { op: "get", ...key, call: 2, write: 0 },
      { op: "put", ...key, item: { ...key, a: 2 }, call: 3, write: 2 },
      { op: "query", pk: key.pk, call: 4, write: 0 },
      { op: "due", call: 5, write: 0 },
      { op: "recent", call: 6, write: 0 },
      { op: "update", ...key, call: 7, write: 3 },
      { op: "remove", ...key, call: 8, write: 4 },
    ]);
  });

  it("dies before a write: it has not happened, and nothing more is possible", async () => {
    const inner = memory();
    const table = createFaultyTable(inner, [{ fault: "death before", on: 2 }]);
    await table.put({ ...key, a: 1 });
    await expect(table.put({ ...key, a: 2 })).rejects.toThrow(Crash);
    expect(table.dead).toBe(true);
    await expect(table.put({ ...key, a: 3 })).rejects.toThrow(Crash);
    await expect(table.get(key)).rejects.toThrow(Crash);
    expect(await inner.get(key)).toStrictEqual({ ...key, a: 1 });
  });

  it("dies after a write: it has happened, and nothing more is possible", async () => {
    const inner = memory();
    const table = createFaultyTable(inner, [{ fault: "death after", on: 1 }]);
    await expect(table.put({ ...key, a: 1 })).rejects.toThrow(Crash);
    await expect(table.remove(key)).rejects.toThrow(Crash);
    expect(await inner.get(key)).toStrictEqual({ ...key, a: 1 });
    expect(await createFaultyTable(inner).get(key)).toStrictEqual({ ...key, a: 1 });
  });

  it("takes along what was under way in parallel when it dies", async () => {
    const inner = memory();
    let release: () => void = () => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    const plan: FaultPlan = [
      { fault: "delay", on: 1, until },
      { fault: "death before", on: 2 },
    ];
    const table = createFaultyTable(inner, plan);
    const waiting = table.put({ ...key, a: 1 });
    await expect(table.put({ ...key, sk: "other" })).rejects.toThrow(Crash);
    release();
    await expect(waiting).rejects.toThrow(Crash);
    expect(await inner.query({ pk: key.pk })).toStrictEqual([]);
  });

  it("throws a Crash that is no error of Baton, so that nothing handles it as one", async () => {
    const table = createFaultyTable(memory(), [{ fault: "death before", on: 1 }]);
    const error: unknown = await table.put(key).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Crash);
    expect(error).not.toBeInstanceOf(BatonError);
  });

  it("loses an answer: performed, and unknown to the caller (G5, H10)", async () => {
    const table = createFaultyTable(memory(), [{ fault: "lost answer", on: 1 }]);
    await expect(table.put({ ...key, writer: "a" }, { absent: true })).rejects.toThrow(StoreUnavailable);
    expect(await table.put({ ...key, writer: "a" }, { absent: true })).toBe("refused");
    expect(await table.get(key)).toStrictEqual({ ...key, writer: "a" });
  });

  it("loses a request: not performed, and the same error as for a lost answer (G5)", async () => {
    const table = createFaultyTable(memory(), [{ fault: "lost request", on: 1 }]);
    await expect(table.put(key)).rejects.toThrow(StoreUnavailable);
    expect(await table.get(key)).toBeNull();
  });

  it("throttles the first calls that a predicate picks", async () => {
    const table = createFaultyTable(memory(), [{ fault: "throttle", on: isGet, times: 2 }]);
    await table.put(key);
    await expect(table.get(key)).rejects.toThrow(StoreThrottled);
    await expect(table.get(key)).rejects.toThrow(StoreThrottled);
    expect(await table.get(key)).toStrictEqual(key);
  });

  it("delays a write until it is let go", async () => {
    const inner = memory();
    let release: () => void = () => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    const table = createFaultyTable(inner, [{ fault: "delay", on: 1, until }]);
    const slow = table.put({ ...key, writer: "slow" }, { absent: true });
    expect(await table.put({ ...key, writer: "fast" }, { absent: true })).toBe("ok");
    release();
    expect(await slow).toBe("refused");
    expect(await inner.get(key)).toStrictEqual({ ...key, writer: "fast" });
  });

  it("delays an answer: the write has happened meanwhile", async () => {
    const inner = memory();
    let release: () => void = () => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    const table = createFaultyTable(inner, [{ fault: "delay", on: 1, until, where: "after" }]);
    const slow = table.put({ ...key, writer: "slow" }, { absent: true });
    expect(await table.put({ ...key, writer: "fast" }, { absent: true })).toBe("refused");
    release();
    expect(await slow).toBe("ok");
  });

  it("gives a call one fault, the first that meets it, and uses the next for the next call", async () => {
    const plan: FaultPlan = [
      { fault: "throttle", on: () => true },
      { fault: "lost request", on: () => true },
    ];
    const table = createFaultyTable(memory(), plan);
    await expect(table.put(key)).rejects.toThrow(StoreThrottled);
    await expect(table.put(key)).rejects.toThrow(StoreUnavailable);
    expect(await table.put(key)).toBe("ok");
  });

  it("answers look-ups as they were some writes ago, base reads as they are (H11)", async () => {
    const isLookUp = (call: TableCall) => call.op === "due" || call.op === "recent";
    const table = createFaultyTable(memory(), [{ fault: "stale", on: isLookUp, writes: 2, times: 9 }]);
    await table.put({ ...key, due: 1, list: "l", listAt: "1" });
    await table.put({ pk: "acme#s2", sk: "STATUS", due: 2, list: "l", listAt: "2" });
    await table.update(key, { set: { listAt: "3" }, remove: ["due"] });
    await table.put({ ...key, listAt: "never" }, { absent: true });
    expect(await table.due({ before: 9 })).toStrictEqual({ items: [{ ...key, due: 1, list: "l", listAt: "1" }] });
    expect(await table.recent({ list: "l" })).toStrictEqual({ items: [{ ...key, due: 1, list: "l", listAt: "1" }] });
    expect(await table.get(key)).toStrictEqual({ ...key, list: "l", listAt: "3" });
  });

  it("can answer base reads stale as well, to show what must not be relied on (H11)", async () => {
    const isRead = (call: TableCall) => call.write === 0;
    const table = createFaultyTable(memory(), [{ fault: "stale", on: isRead, writes: 2, times: 9 }]);
    await table.put({ ...key, sk: "V#1" });
    await table.put({ ...key, sk: "V#2" });
    await table.put({ ...key, sk: "V#3" });
    await table.remove({ ...key, sk: "V#1" });
    expect((await table.query({ pk: key.pk, reverse: true })).map((item) => item.sk)).toStrictEqual(["V#2", "V#1"]);
    expect(await table.get({ ...key, sk: "V#3" })).toBeNull();
    expect(await table.get({ ...key, sk: "V#1" })).toStrictEqual({ ...key, sk: "V#1" });
  });

  it("refuses a plan that can never come true", () => {
    const plans: FaultPlan[] = [
      [{ fault: "death before", on: 0 }],
      [{ fault: "throttle", on: 1.5 }],
      [{ fault: "throttle", on: 1, times: 0 }],
      [{ fault: "stale", on: isGet, writes: 0 }],
      [{ fault: "stale", on: 1, writes: 1 }],
    ];
    for (const plan of plans) expect(() => createFaultyTable(memory(), plan)).toThrow(InvalidInput);
  });
});
