#!/usr/bin/env -S node --max-semi-space-size=8
/**
 * The program `longhaul`. It imports nothing before it has checked the Node version. V8 keeps a smaller young
 * generation than by default, because an import makes much garbage and retains little.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(`longhaul needs Node 22.13 or newer; this is Node ${process.versions.node}.\n`);
  // A hook never fails its agent.
  process.exitCode = process.argv[2] === "hook" ? 0 : 1;
} else {
  // The SQLite module of older Node versions warns on every start that it is experimental.
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => {
    if (name !== "ExperimentalWarning") process.stderr.write(`longhaul: ${name}: ${message}\n`);
  });
  run();
}

/** The built program keeps compiled code next to itself; where that folder cannot be written, it compiles each time. */
async function run(): Promise<void> {
  if (!import.meta.url.endsWith(".js")) return (await import("./process-context.ts")).start();
  const [name, ...args] = process.argv.slice(2);
  if (name === "hook" || name === "statusline") await (await import("./hook-relay.ts")).relayHook(name, args);
  const { enableCompileCache } = await import("node:module");
  enableCompileCache(`${import.meta.dirname}/../.compile-cache`);
  const greeted =
    name === "mcp"
      ? (await import("./mcp-greeter.ts")).greetClient(
          args,
          new URL("../mcp-greetings.json", import.meta.url),
        )
      : undefined;
  await greeted?.isDone;
  await (await import("./process-context.ts")).start(greeted);
  greeted?.close();
}

export {};
