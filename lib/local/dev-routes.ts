// What only the embedded runtime offers to its console: the mailbox of the outbox folder, and the kill button that
// shows that nothing is lost. Behind the bearer token like everything under /v1.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { RouteModule } from "../api/api-context.ts";
import { mountConsole } from "../console/console-routes.ts";
import { readOutboxMail } from "./outbox-mail.ts";

const shownMails = 50;

export function devRoutes(options: { mailDir: string; kill: () => void }): RouteModule {
  return (app) => {
    mountConsole(app);
    app.get("/v1/dev/mails", (c) => c.json({ items: newestMails(options.mailDir) }));
    app.post("/v1/dev/kill-worker", (c) => {
      // After the answer has left.
      setImmediate(options.kill);
      return c.json({ killed: process.pid }, 202);
    });
  };
}

function newestMails(folder: string) {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(".eml"));
  } catch {
    return [];
  }
  const dated = names.map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs }));
  const newest = dated.sort((a, b) => b.at - a.at).slice(0, shownMails);
  return newest.map(({ name, at }) => ({
    name,
    at: new Date(at).toISOString(),
    ...readOutboxMail(readFileSync(join(folder, name), "utf8")),
  }));
}
