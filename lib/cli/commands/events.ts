// baton events: the log, and with --follow what happens from then on.
import type { EventView } from "../../sessions/event-view.ts";
import { followSession } from "../follow-session.ts";
import { type Output, oneLine } from "../output.ts";
import type { Run } from "../program.ts";
import { onInterrupt } from "../watch-turn.ts";

export const run: Run = async ({ args, options, output, client }) => {
  const [id = ""] = args;
  const show = (event: EventView) => (output.json ? output.value(event) : output.line(eventLine(event, output)));
  let after = Number(options.after ?? 0);
  for (;;) {
    const page = await client.events(id, after);
    for (const event of page.items) show(event);
    after = page.items.at(-1)?.version ?? after;
    if (page.cursor === undefined) break;
  }
  if (!options.follow) return 0;
  const { signal, release } = onInterrupt();
  const say = (text: string) => output.note(output.paint.dim(text));
  for await (const item of followSession({ client, sessionId: id, after, signal, say })) {
    if (item.kind === "event") show(item.event);
  }
  release();
  return 0;
};

function eventLine(event: EventView, { paint }: Output): string {
  const place = event.turn === 0 ? "" : `turn ${event.turn}${event.step === 0 ? "" : ` step ${event.step}`}`;
  return [
    `v${event.version}`.padEnd(6),
    paint.dim(event.at),
    event.type.padEnd(18),
    place.padEnd(14),
    paint.dim(about(event)),
  ]
    .join("  ")
    .trimEnd();
}

/** The word or two that tell events of one type apart. */
function about({ data }: EventView): string {
  const outcome = data.outcome;
  const status = outcome && typeof outcome === "object" && !Array.isArray(outcome) ? outcome.status : data.status;
  const parts = [
    data.tool ?? data.name ?? data.model,
    status,
    data.reason ?? data.cause ?? data.endReason ?? data.kind,
  ];
  return parts.flatMap((part) => (typeof part === "string" ? [oneLine(part, 60)] : [])).join(" ");
}
