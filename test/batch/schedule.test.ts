// The rule for nights on which the clock is set, as lib/batch/schedule.ts documents it, in two zones.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkSchedule, nextSlot, slotsUntil } from "../../lib/batch/schedule.ts";

const iso = (at: number) => new Date(at).toISOString().replace(":00.000Z", "Z");

/** Slots after `from` until `until`. */
function slots(cron: string, timeZone: string, from: string, until: string): string[] {
  const schedule = { cron, timeZone };
  const first = nextSlot(schedule, Date.parse(from));
  if (first === null) return [];
  return slotsUntil(schedule, first, Date.parse(until), 1000).slots.map(iso);
}

const berlin = "Europe/Berlin";
const newYork = "America/New_York";
const spring = {
  [berlin]: ["2026-03-27T12:00Z", "2026-03-30T12:00Z"],
  [newYork]: ["2026-03-06T12:00Z", "2026-03-09T12:00Z"],
};
const autumn = {
  [berlin]: ["2026-10-23T12:00Z", "2026-10-26T12:00Z"],
  [newYork]: ["2026-10-30T12:00Z", "2026-11-02T12:00Z"],
};

describe("a schedule on the night that the clock jumps forward (G17)", () => {
  const [from = "", until = ""] = spring[berlin] ?? [];
  const [nyFrom = "", nyUntil = ""] = spring[newYork] ?? [];

  it("takes a fixed time that is jumped over at the jump, once", () => {
    expect(slots("30 2 * * *", berlin, from, until)).toEqual([
      "2026-03-28T01:30Z",
      "2026-03-29T01:00Z",
      "2026-03-30T00:30Z",
    ]);
    expect(slots("30 2 * * *", newYork, nyFrom, nyUntil)).toEqual([
      "2026-03-07T07:30Z",
      "2026-03-08T07:00Z",
      "2026-03-09T06:30Z",
    ]);
  });

  it("leaves out times of a step that are jumped over", () => {
    expect(slots("*/30 2 * * *", berlin, from, until)).toEqual([
      "2026-03-28T01:00Z",
      "2026-03-28T01:30Z",
      "2026-03-30T00:00Z",
      "2026-03-30T00:30Z",
    ]);
    expect(slots("30 2,3 * * *", newYork, "2026-03-08T05:00Z", "2026-03-08T12:00Z")).toEqual(["2026-03-08T07:30Z"]);
  });

  it("keeps to real time with a step in every hour", () => {
    for (const [zone, a, b] of [
      [berlin, "2026-03-28T22:01Z", "2026-03-29T04:00Z"],
      [newYork, "2026-03-08T04:01Z", "2026-03-08T10:00Z"],
    ] as const) {
      expect(slots("*/30 * * * *", zone, a, b)).toHaveLength(12);
    }
  });
});

describe("a schedule on the night that an hour comes twice (G17)", () => {
  const [from = "", until = ""] = autumn[berlin] ?? [];
  const [nyFrom = "", nyUntil = ""] = autumn[newYork] ?? [];

  it("takes a fixed time once, the first time", () => {
    expect(slots("30 2 * * *", berlin, from, until)).toEqual([
      "2026-10-24T00:30Z",
      "2026-10-25T00:30Z",
      "2026-10-26T01:30Z",
    ]);
    expect(slots("30 1 * * *", newYork, nyFrom, nyUntil)).toEqual([
      "2026-10-31T05:30Z",
      "2026-11-01T05:30Z",
      "2026-11-02T06:30Z",
    ]);
  });

  it("takes the times of a step twice", () => {
    expect(slots("*/30 2 * * *", berlin, "2026-10-24T12:00Z", "2026-10-25T12:00Z")).toEqual([
      "2026-10-25T00:00Z",
      "2026-10-25T00:30Z",
      "2026-10-25T01:00Z",
      "2026-10-25T01:30Z",
    ]);
  });

  it("keeps to real time with a step in every hour", () => {
    for (const [zone, a, b] of [
      [berlin, "2026-10-24T22:01Z", "2026-10-25T04:00Z"],
      [newYork, "2026-11-01T04:01Z", "2026-11-01T10:00Z"],
    ] as const) {
      expect(slots("*/30 * * * *", zone, a, b)).toHaveLength(12);
    }
  });
});

describe("slots of a schedule", () => {
  const pattern = fc.constantFrom("*/7 * * * *", "30 2 * * *", "0 */5 * * *", "15 1,2 * * 0", "@hourly", "5 4 1 * *");
  const zone = fc.constantFrom(berlin, newYork, "UTC", "Asia/Kolkata", "Australia/Lord_Howe");
  const start = fc.integer({ min: Date.parse("2026-01-01T00:00Z"), max: Date.parse("2027-01-01T00:00Z") });

  it("rise, and are the same in pieces of any size", () => {
    fc.assert(
      fc.property(pattern, zone, start, fc.integer({ min: 1, max: 9 }), (cron, timeZone, from, size) => {
        const schedule = { cron, timeZone };
        const first = nextSlot(schedule, from) ?? from;
        const whole = slotsUntil(schedule, first, first + 4 * 86_400_000, 40);
        const pieces: number[] = [];
        for (let next: number | null = first; next !== null && pieces.length < whole.slots.length; ) {
          const piece = slotsUntil(schedule, next, first + 4 * 86_400_000, size);
          pieces.push(...piece.slots);
          next = piece.next;
        }
        expect(pieces.slice(0, whole.slots.length)).toEqual(whole.slots);
        expect(whole.slots.every((slot, i) => i === 0 || slot > (whole.slots[i - 1] ?? 0))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a schedule that cannot be", () => {
  const now = Date.parse("2026-11-30T12:00Z");
  it.each([
    ["* * * * * *", "UTC", "$.schedule.cron", "use five fields"],
    ["2030-01-01T00:00:00", "UTC", "$.schedule.cron", "use five fields"],
    ["61 * * * *", "UTC", "$.schedule.cron", ""],
    ["30 2 30 2 *", "UTC", "$.schedule.cron", "this time never comes"],
    ["0 6 * * *", "Mars/Olympus", "$.schedule.timeZone", "unknown IANA time zone"],
  ])("is refused with its field: %s %s", (cron, timeZone, path, message) => {
    try {
      checkSchedule({ cron, timeZone }, now);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({
        name: "InvalidInput",
        errors: [{ path, message: expect.stringContaining(message) }],
      });
    }
  });
});
