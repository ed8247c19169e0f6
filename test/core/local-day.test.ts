import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { localDay } from "../../lib/core/local-day.ts";

const at = (iso: string) => Date.parse(iso);
const boundaries = (rule: { dailyAt: number; timeZone: string }, from: string, hours: number) => {
  const minutes = Array.from({ length: hours * 60 }, (_, i) => at(from) + i * 60_000);
  return minutes.flatMap((minute) =>
    localDay(minute, rule) > localDay(minute - 60_000, rule) ? [new Date(minute).toISOString()] : [],
  );
};

describe("localDay", () => {
  it("begins at the local hour", () => {
    const shanghai = { dailyAt: 4, timeZone: "Asia/Shanghai" };
    expect(boundaries(shanghai, "2026-05-05T00:00:00Z", 24)).toEqual(["2026-05-05T20:00:00.000Z"]);
    expect(boundaries({ dailyAt: 0, timeZone: "UTC" }, "2026-02-28T12:00:00Z", 24)).toEqual([
      "2026-03-01T00:00:00.000Z",
    ]);
    expect(boundaries({ dailyAt: 0, timeZone: "Asia/Kathmandu" }, "2026-01-01T00:00:00Z", 24)).toEqual([
      "2026-01-01T18:15:00.000Z",
    ]);
  });

  it("has one boundary on nights on which the clock is set, also when the hour is left out or comes twice (G17)", () => {
    // Berlin: 02:00 -> 03:00 on 29 March 2026, 03:00 -> 02:00 on 25 October 2026.
    const berlin = { dailyAt: 2, timeZone: "Europe/Berlin" };
    expect(boundaries(berlin, "2026-03-28T12:00:00Z", 24)).toEqual(["2026-03-29T01:00:00.000Z"]);
    expect(boundaries(berlin, "2026-10-24T12:00:00Z", 24)).toEqual(["2026-10-25T00:00:00.000Z"]);
    // New York: 01:00–02:00 comes twice on 1 November 2026.
    expect(boundaries({ dailyAt: 1, timeZone: "America/New_York" }, "2026-10-31T16:00:00Z", 24)).toEqual([
      "2026-11-01T05:00:00.000Z",
    ]);
    // Santiago: midnight itself is left out on 6 September 2026.
    expect(boundaries({ dailyAt: 0, timeZone: "America/Santiago" }, "2026-09-05T12:00:00Z", 24)).toEqual([
      "2026-09-06T04:00:00.000Z",
    ]);
  });

  it("never goes back as time goes on", () => {
    const zone = fc.constantFrom("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC");
    const time = fc.integer({ min: at("2000-01-01T00:00:00Z"), max: at("2040-01-01T00:00:00Z") });
    fc.assert(
      fc.property(
        zone,
        fc.integer({ min: 0, max: 23 }),
        time,
        fc.nat(4 * 3_600_000),
        (timeZone, dailyAt, from, step) => {
          const rule = { dailyAt, timeZone };
          expect(localDay(from + step, rule)).toBeGreaterThanOrEqual(localDay(from, rule));
        },
      ),
    );
  });
});
