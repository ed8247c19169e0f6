// The rings as data: who may import whom. A violation names the file and the import.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");

/** Ring (folder) -> rings it may import, and packages it may import ("*" = any, node: included). */
const rings: Record<string, { rings: string[]; packages: string[] }> = {
  "lib/core": { rings: [], packages: ["zod"] },
  "lib/ports": { rings: ["lib/core"], packages: [] },
  // minisearch: ranks the passages of one session's log in memory; nothing of it is stored.
  "lib/store": {
    rings: ["lib/core", "lib/ports"],
    packages: ["canonicalize", "minisearch", "node:crypto", "node:zlib"],
  },
  "lib/steps": { rings: ["lib/core", "lib/ports", "lib/store"], packages: ["zod"] },
  "lib/sessions": { rings: ["lib/core", "lib/ports", "lib/store", "lib/steps"], packages: ["zod"] },
  "lib/memory": { rings: ["lib/core", "lib/ports", "lib/store", "lib/steps", "lib/sessions"], packages: ["zod"] },
  "lib/delivery": {
    rings: ["lib/core", "lib/ports", "lib/store", "lib/steps", "lib/sessions"],
    packages: ["zod", "hono"],
  },
  "lib/batch": {
    rings: ["lib/core", "lib/ports", "lib/store", "lib/steps", "lib/sessions", "lib/delivery"],
    packages: ["zod", "croner"],
  },
  "lib/recovery": {
    rings: ["lib/core", "lib/ports", "lib/store", "lib/steps", "lib/sessions", "lib/delivery", "lib/batch"],
    packages: ["zod"],
  },
  "lib/workflow": { rings: ["lib/core", "lib/ports", "lib/steps"], packages: [] },
  "lib/mail": { rings: ["lib/core", "lib/ports"], packages: ["*"] },
  "lib/adapters": { rings: ["lib/core", "lib/ports", "lib/mail"], packages: ["*"] },
  "lib/demo-model": { rings: ["lib/core", "lib/ports"], packages: ["*"] },
  "lib/api": {
    rings: [
      "lib/core",
      "lib/ports",
      "lib/store",
      "lib/steps",
      "lib/sessions",
      "lib/memory",
      "lib/delivery",
      "lib/batch",
      "lib/mail",
      "lib/console",
    ],
    packages: ["*"],
  },
  "lib/console": { rings: [], packages: ["*"] },
};

/** Composition roots and what stands around them: they may import anything of lib. */
const roots = ["lib/local", "lib/cli", "lib/testing", "lambdas", "bin", "examples", "bench"];

const globalsForbidden =
  /\b(?:Date\b(?!Time)|Math\.random|crypto\.|process\.|fetch\(|setTimeout|setInterval|console\.)/;

function sources(folder: string): string[] {
  try {
    return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.includes("node_modules"))
      .map((file) => join(folder, file));
  } catch {
    return [];
  }
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = text.matchAll(
    /^(?:import|export)\b[^;]*?\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\(\s*"([^"]+)"/gm,
  );
  return [...found].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
}

function ringOf(file: string): string | undefined {
  return Object.keys(rings).find((ring) => file.startsWith(`${ring}/`));
}

function violation(file: string, specifier: string): string | null {
  const ring = ringOf(file);
  const allowed = ring ? rings[ring] : undefined;
  if (!ring || !allowed) return null;
  if (!specifier.startsWith(".")) {
    const name = specifier.startsWith("@")
      ? specifier.split("/").slice(0, 2).join("/")
      : specifier.startsWith("node:")
        ? specifier
        : specifier.split("/")[0];
    return allowed.packages.includes("*") || allowed.packages.includes(name ?? "")
      ? null
      : `${file} imports package ${specifier}`;
  }
  const target = relative(root, resolve(root, dirname(file), specifier));
  const targetRing = ringOf(target);
  if (targetRing === ring) {
    if (ring !== "lib/adapters") return null;
    // Adapters never import each other: only the parts of the same adapter.
    const family = (path: string) => path.slice("lib/adapters/".length).split(/[-.]/)[0];
    return family(file) === family(target) ? null : `${file} imports another adapter, ${specifier}`;
  }
  return targetRing && allowed.rings.includes(targetRing) ? null : `${file} imports ${target}`;
}

describe("architecture", () => {
  for (const ring of Object.keys(rings)) {
    it(`${ring} imports only inward`, () => {
      const found = sources(ring).flatMap((file) =>
        importsOf(file).flatMap((specifier) => violation(file, specifier) ?? []),
      );
      expect(found).toEqual([]);
    });
  }

  it("constructs reach lambdas by file path, never by import", () => {
    const found = sources("lib/constructs").filter((file) =>
      importsOf(file).some((specifier) => specifier.includes("lambdas/")),
    );
    expect(found).toEqual([]);
  });

  it("core and steps take time, chance and output from ports", () => {
    const found = ["lib/core", "lib/steps"].flatMap(sources).filter((file) => {
      const code = readFileSync(join(root, file), "utf8").replace(
        /\/\*[\s\S]*?\*\/|\/\/.*$|`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*"/gm,
        "",
      );
      return globalsForbidden.test(code);
    });
    expect(found).toEqual([]);
  });

  it("every folder under lib has its ring or is a composition root", () => {
    const known = [...Object.keys(rings), ...roots, "lib/constructs"];
    const folders = readdirSync(join(root, "lib"), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [`lib/${entry.name}`] : [],
    );
    expect(folders.filter((folder) => !known.includes(folder))).toEqual([]);
  });

  it("a forbidden import is found", () => {
    expect(violation("lib/core/apply.ts", "../store/log.ts")).toBe("lib/core/apply.ts imports lib/store/log.ts");
    expect(violation("lib/core/apply.ts", "node:fs")).toBe("lib/core/apply.ts imports package node:fs");
    expect(violation("lib/adapters/smtp-mailer.ts", "./sqlite-table.ts")).not.toBeNull();
    expect(violation("lib/steps/act.ts", "../store/log.ts")).toBeNull();
  });
});
