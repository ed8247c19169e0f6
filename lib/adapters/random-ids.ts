// Chance from the operating system's generator.
import { randomBytes, randomUUID } from "node:crypto";
import type { Ids } from "../ports/clock.ts";

export function createRandomIds(): Ids {
  return {
    suffix: () => randomBytes(4).toString("hex"),
    uuid: () => randomUUID(),
    secret: () => randomBytes(32).toString("base64url"),
  };
}
