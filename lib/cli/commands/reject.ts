// baton reject: as the signed-in person. For a call in doubt it says that the call did not happen.
import type { Run } from "../program.ts";
import { decide } from "./approve.ts";

export const run: Run = (invocation) => decide(invocation, "reject");
