#!/usr/bin/env -S node --max-semi-space-size=8
/**
 * The program `longhaul`. Nothing is imported before it is known that this Node can load it. V8 is told to keep less room
 * for young objects than it would: an import makes much garbage and holds little.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(`longhaul: Node 22.13 or newer is needed; this is Node ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  // The SQLite of older Nodes announces on every start that it is experimental.
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => {
    if (name !== "ExperimentalWarning") process.stderr.write(`longhaul: ${name}: ${message}\n`);
  });
  import("./start.ts").then(({ start }) => start());
}

export {};
