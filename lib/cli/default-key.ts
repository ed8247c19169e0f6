// The conversation of the person at this machine, when no key is given.
import { userInfo } from "node:os";

export function defaultKey(): string {
  return `agent:main:cli:dm:${userInfo().username || "me"}`;
}
