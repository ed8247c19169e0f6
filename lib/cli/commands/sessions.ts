// baton sessions: the list.
import type { SessionView } from "../../sessions/session-view.ts";
import { type Output, oneLine } from "../output.ts";
import { paintStatus } from "../paint-status.ts";
import type { Run } from "../program.ts";

const defaultLimit = 20;

export const run: Run = async ({ options, output, client }) => {
  const limit = Number(options.limit ?? defaultLimit);
  const items: SessionView[] = [];
  let cursor: string | undefined;
  // A page may be short and still have a cursor.
  do {
    const page = await client.sessions({
      limit: String(limit - items.length),
      ...(options.status === undefined ? {} : { status: String(options.status) }),
      ...(options.key === undefined ? {} : { key: String(options.key) }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined && items.length < limit);
  if (output.json) output.value({ items, ...(cursor === undefined ? {} : { cursor }) });
  else for (const line of table(items, output)) output.line(line);
  return 0;
};

function table(items: SessionView[], { paint }: Output): string[] {
  if (items.length === 0) return ["no sessions"];
  const keyWidth = Math.max(...items.map((item) => oneLine(item.key, 40).length));
  return items.map((item) =>
    [
      item.id,
      paintStatus(paint, item.status, item.status.padEnd(9)),
      `turn ${item.turn}`.padEnd(8),
      oneLine(item.key, 40).padEnd(keyWidth),
      paint.dim(item.lastUserAt),
      oneLine(item.title, 60),
    ]
      .join("  ")
      .trimEnd(),
  );
}
