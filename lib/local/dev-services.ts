// Companion services of an agent (such as the flagship's report registry): a `dev-services.ts` beside the
// agent lists them; each runs as a process of its own, so that it outlives a killed worker.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

/** `module` is started as `node <module> --port 0 --file <data>/<file>` and prints one JSON line `{url}`. */
export type DevService = { name: string; module: string; env: string; file: string };

export type DevServices = { env: Record<string, string>; registryUrl?: string; stop(): Promise<void> };

export async function startDevServices(options: { agents: string; data: string; cwd: string }): Promise<DevServices> {
  const folders = new Set(options.agents.split(",").map((path) => dirname(resolve(options.cwd, path.trim()))));
  const env: Record<string, string> = {};
  const children: ChildProcess[] = [];
  let registryUrl: string | undefined;
  for (const folder of folders) {
    const list = join(folder, "dev-services.ts");
    if (!existsSync(list)) continue;
    const { services } = (await import(pathToFileURL(list).href)) as { services: DevService[] };
    for (const service of services) {
      // Somebody runs it already: use that one.
      const given = process.env[service.env];
      const { url, child } = given
        ? { url: given, child: undefined }
        : await startService(service, folder, options.data);
      if (child) children.push(child);
      env[service.env] = url;
      if (service.name === "registry") registryUrl = url;
    }
  }
  return { env, ...(registryUrl ? { registryUrl } : {}), stop: () => stopAll(children) };
}

async function startService(
  service: DevService,
  folder: string,
  data: string,
): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(
    process.execPath,
    [join(folder, service.module), "--port", "0", "--file", join(data, service.file)],
    {
      // The channel tells the service when the supervisor is gone, however it went.
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    },
  );
  if (!child.stdout) throw new Error(`service ${service.name} has no output`);
  const lines = createInterface({ input: child.stdout });
  const url = await new Promise<string>((resolve, reject) => {
    lines.once("line", (line) => resolve((JSON.parse(line) as { url: string }).url));
    child.once("error", reject);
    child.once("exit", (code) =>
      reject(new Error(`service ${service.name} ended with code ${code} before it was ready`)),
    );
  });
  return { url, child };
}

async function stopAll(children: ChildProcess[]): Promise<void> {
  await Promise.all(
    children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      child.kill("SIGTERM");
      await gone;
    }),
  );
}
