import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

test("a test cannot listen on a fixed port, and finds no server on one", async () => {
  for (const port of [4747, { port: 8080 }]) expect(() => createServer().listen(port)).toThrow("take port 0");
  const asking = fetch("http://127.0.0.1:4747/healthz");
  await expect(asking).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
});

test("a test does not see variables of the machine that could change results", () => {
  const { LONGHAUL_PROOF: _, LONGHAUL_SEED: __, LONGHAUL_WORKERS: ___, ...others } = process.env;
  const names = Object.keys(others).filter((name) => !/^LONGHAUL_(?:TEST|DATA|CHROMIUM)/.test(name));
  expect(names.filter((name) => /LONGHAUL|ANTHROPIC|OPENAI|PROXY|NODE_OPTIONS|XDG|OTEL/i.test(name))).toEqual(
    [],
  );
  expect(Intl.DateTimeFormat().resolvedOptions()).toMatchObject({ timeZone: "UTC", locale: "en-US" });
});

test("a new file has the usual permissions", () => {
  expect(process.umask()).toBe(0o022);
});

test("tests and their child processes have their own home, even with other variables", async () => {
  expect(homedir()).toContain("longhaul-tests-");
  const child = spawn(process.execPath, ["-p", "os.homedir()"], { env: {} });
  const [printed] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(printed.trim()).toBe(homedir());
});
