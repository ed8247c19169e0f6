// All rows of the benchmark, in the order in which they are run and printed.
import type { Row } from "./context.ts";
import { approval } from "./rows/approval.ts";
import { bundles } from "./rows/bundles.ts";
import { context } from "./rows/context.ts";
import { interpreter } from "./rows/interpreter.ts";
import { load } from "./rows/load.ts";
import { many } from "./rows/many.ts";
import { recovery } from "./rows/recovery.ts";
import { resume } from "./rows/resume.ts";
import { rounds } from "./rows/rounds.ts";
import { start } from "./rows/start.ts";
import { turns } from "./rows/turns.ts";
import { units } from "./rows/units.ts";

/** `load` looks at the sessions that `rounds` left; `resume` goes on with them, so it comes last of the three. */
export const rows: readonly Row[] = [
  rounds,
  load,
  resume,
  many,
  units,
  interpreter,
  bundles,
  start,
  recovery,
  turns,
  approval,
  context,
];
