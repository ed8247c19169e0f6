// baton demo: the flagship, killed and resumed.
import type { Run } from "../program.ts";

export const run: Run = async ({ output }) => {
  const { runDemo } = await import("../demo.ts");
  if (!output.json) return runDemo();
  const lines: string[] = [];
  const code = await runDemo({ print: (line) => void lines.push(line) });
  output.value({ ok: code === 0, lines });
  return code;
};
