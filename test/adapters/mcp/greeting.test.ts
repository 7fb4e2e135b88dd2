import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openKernel } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";

/** Starts `longhaul mcp`, built or from its sources, and returns a function that asks it. */
function startServer(program: string, store: string) {
  const main = fileURLToPath(new URL(`../../../${program}`, import.meta.url));
  const child = spawn(process.execPath, [main, "mcp", "--store", store], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let id = 0;
  return {
    child,
    notify: (method: string) => send({ method }),
    async ask(method: string, params: object = {}) {
      send({ id: ++id, method, params });
      const reply = JSON.parse((await lines.next()).value ?? "{}");
      expect(reply.id).toBe(id);
      return reply;
    },
  };
}

const HELLO = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

test("the built server answers a greeting and the list of tools without opening the store", async () => {
  const store = join(testFolder(), "store");
  mkdirSync(store);
  writeFileSync(join(store, "log.db"), "This is not a database.");
  const { ask, child } = startServer("dist/cli/main.js", store);
  expect(await ask("initialize", HELLO)).toMatchObject({ result: { serverInfo: { name: "longhaul" } } });
  const { result } = await ask("tools/list");
  expect(result.tools.map(({ name }: { name: string }) => name)).toContain("recall");
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.end();
  expect(await ended).not.toBe(0);
});

test("a greeted client gets the replies of the server itself, each once, and then its tools", async () => {
  const store = join(testFolder(), "store");
  await (await openKernel({ path: store, embedder: null })).close();
  const [built, source] = [startServer("dist/cli/main.js", store), startServer("src/cli/main.ts", store)];
  expect(await built.ask("initialize", HELLO)).toEqual(await source.ask("initialize", HELLO));
  for (const one of [built, source]) one.notify("notifications/initialized");
  for (const method of ["tools/list", "prompts/list", "resources/templates/list", "resources/list"])
    expect(await built.ask(method)).toEqual(await source.ask(method));
  const call = { name: "sessions", arguments: {} };
  expect(await built.ask("tools/call", call)).toEqual(await source.ask("tools/call", call));
  expect(await built.ask("tools/list")).toEqual(await source.ask("tools/list"));
  const ended = new Promise((resolve) => built.child.once("exit", resolve));
  built.child.stdin.end();
  expect(await ended).toBe(0);
});
