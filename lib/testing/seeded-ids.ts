// Ids that repeat from run to run, so that two runs can be compared. Never for production: they can be guessed.
import { createHash } from "node:crypto";
import type { Ids } from "../ports/clock.ts";

/** Different seeds give different ids: a second process gets a seed of its own. */
export function seededIds(seed: string): Ids {
  let count = 0;
  const next = () => createHash("sha256").update(`${seed}/${++count}`).digest();
  return {
    suffix: () => next().toString("hex").slice(0, 8),
    uuid: () => {
      const hex = next().toString("hex");
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
    },
    secret: () => next().toString("base64url"),
  };
}
