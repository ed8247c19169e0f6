// A version as an argument of a command.
import { WrongUse } from "./cli-errors.ts";

/** Throws `WrongUse`. */
export function readVersion(text: string): number {
  const version = Number(text);
  if (/^\d{1,12}$/.test(text) && version > 0) return version;
  throw new WrongUse(`"${text}" is no version; baton show lists them`);
}
