// What this example needs beside the worker. The embedded runtime's supervisor starts each as a child,
// `node <module> --port 0 --file <BATON_DATA>/<file>`, reads the line {"url": …} and gives it to the worker as `env`.
export const services = [{ name: "registry", module: "registry.ts", env: "AML_REGISTRY_URL", file: "registry.jsonl" }];
