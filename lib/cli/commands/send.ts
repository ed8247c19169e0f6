// baton send: one message; with --wait its answer. The message carries an idempotency key, so a runtime that dies in
// between makes no second turn.
import { randomUUID } from "node:crypto";
import { text as readAll } from "node:stream/consumers";
import type { Receipt } from "../client.ts";
import { defaultKey } from "../default-key.ts";
import { printable } from "../output.ts";
import type { Run } from "../program.ts";
import { comeBack, onInterrupt, stoppedWatching } from "../watch-turn.ts";

const waitSeconds = 20;

export const run: Run = async ({ args, options, output, client }) => {
  const [given = ""] = args;
  const message = {
    key: String(options.key ?? defaultKey()),
    text: given === "-" ? await readAll(process.stdin) : given,
    ...(options.agent === undefined ? {} : { agent: String(options.agent) }),
  };
  const idempotencyKey = String(options.idempotencyKey ?? randomUUID());
  if (!options.wait) {
    const receipt = await client.send(message, { idempotencyKey });
    if (output.json) output.value(receipt);
    else if (receipt.answer !== undefined) output.line(printable(receipt.answer));
    else output.line(`${receipt.status}: session ${receipt.sessionId}, turn ${receipt.turn}${position(receipt)}`);
    sayNotice(receipt);
    return 0;
  }
  const { signal, release } = onInterrupt();
  try {
    for (;;) {
      const receipt = await client.send(message, { idempotencyKey, waitSeconds: signal.aborted ? 0 : waitSeconds });
      if (receipt.answer !== undefined) {
        if (output.json) output.value(receipt);
        else output.line(printable(receipt.answer));
        return receipt.status === "completed" ? 0 : 1;
      }
      if (signal.aborted) {
        comeBack(output, stoppedWatching, { key: message.key, sessionId: receipt.sessionId });
        return 0;
      }
    }
  } finally {
    release();
  }

  function sayNotice({ notice }: Receipt): void {
    if (notice && !output.json) output.note(`new session: the last one ended (${notice.reason})`);
  }
};

function position({ position }: Receipt): string {
  return position === undefined ? "" : `, ${position} in the queue`;
}
