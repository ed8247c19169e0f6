// What the figures have to reach, as data. A target whose figures were not measured says so.
import type { Figure } from "./context.ts";

export type Verdict = { target: string; measured: number | null; limit: number; unit: string; reached: boolean | null };

type Target = { text: string; limit: number; unit: string; measure: (find: Find) => number | null };
/** The figure of that name at the shortest or longest session, or the one that knows no length. */
type Find = (name: string, at?: "shortest" | "longest") => number | null;

const targets: Target[] = [
  growth("bytes written per round, longest / shortest session", "bytes written per round", 1.05),
  at("last tenth / first tenth of the longest session", "last / first tenth, medians", 1.2, "x"),
  growth("load of the latest checkpoint, longest / shortest session", "load latest checkpoint, median", 1.5),
  growth("building the context, longest / shortest session", "build context, median", 1.5),
  at("per round / floor of two synced writes, longest session", "per round / floor, medians", 5, "x"),
  at("memory of the longest session", "peak memory", 400, "MB"),
  ...["begin", "act", "finish"].map((name) => at(`bundle of ${name}`, `bundle ${name}`, 480, "KB")),
  at("bundle of think", "bundle think", 950, "KB"),
  ...["transitions", "writes", "mails"].map((what) =>
    ratio(
      `${what} of an approval, after 7 days / after 1 hour`,
      `approval after 7 d, ${what}`,
      `approval after 1 h, ${what}`,
      1,
    ),
  ),
  at("npm start to ready", "npm start to ready", 2000, "ms"),
];

export function judge(figures: readonly Figure[]): Verdict[] {
  const lengths = [...new Set(figures.flatMap(({ rounds }) => rounds ?? []))].sort((a, b) => a - b);
  const find: Find = (name, at = "longest") => {
    const found = figures.filter((figure) => figure.name === name);
    const length = at === "longest" ? lengths.at(-1) : lengths.length > 1 ? lengths[0] : Number.NaN;
    return found.find(({ rounds }) => rounds === undefined || rounds === length)?.value ?? null;
  };
  return targets.map(({ text, limit, unit, measure }) => {
    const measured = measure(find);
    return { target: text, measured, limit, unit, reached: measured === null ? null : measured <= limit };
  });
}

function at(text: string, name: string, limit: number, unit: string): Target {
  return { text, limit, unit, measure: (find) => find(name) };
}

function ratio(text: string, name: string, by: string, limit: number): Target {
  const measure = (find: Find) => {
    const [value, unit] = [find(name), find(by)];
    return value === null || unit === null ? null : value / unit;
  };
  return { text, limit, unit: "x", measure };
}

function growth(text: string, name: string, limit: number): Target {
  return {
    text,
    limit,
    unit: "x",
    measure: (find) => {
      // One length alone says nothing about growth: `shortest` is null then.
      const [short, long] = [find(name, "shortest"), find(name, "longest")];
      return short === null || long === null ? null : long / short;
    },
  };
}
