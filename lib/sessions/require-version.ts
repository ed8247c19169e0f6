// If-Match: an action only if the session is as the caller has seen it.
import { StaleVersion } from "../core/errors.ts";
import type { Head } from "../store/log.ts";

/** Throws `StaleVersion`. */
export function requireVersion(head: Head, version: number | undefined): void {
  if (version === undefined || head.version === version) return;
  throw new StaleVersion(`the session is at version ${head.version}, not ${version}; read it again`);
}
