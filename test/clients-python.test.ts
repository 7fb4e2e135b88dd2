import { spawn, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { localAgentsOf } from "./server/api/support/local-agents-of.ts";
import { testFolder } from "./support/folder.ts";
import { startGateway } from "./support/gateway.ts";
import { proofTest } from "./support/proof.ts";
import { makeRepository } from "./tasks/worktree/repository.ts";

const folder = fileURLToPath(new URL("../clients/python/", import.meta.url));
const CHECK = "import sys, httpx; assert sys.version_info >= (3, 10); print(httpx.__version__)";
const INSTALL = "pip install httpx, or on Debian: apt-get install -y python3-httpx";

/** A Python of at least 3.10 with httpx; undefined if there is none. */
const python = ["python3", "/usr/bin/python3", "python"].find(
  (program) => spawnSync(program, ["-c", CHECK], { stdio: "ignore" }).status === 0,
);

const TASK = "count-ships";

/** Runs tests of the client against a gateway with an agent that can be connected and a task that has ended. */
async function runTests(...args: string[]): Promise<{ code: number | null; output: string }> {
  const home = testFolder();
  mkdirSync(join(home, ".claude"));
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9", agents: localAgentsOf(home) });
  const work = {
    name: "counter",
    async *run() {
      yield { type: "output", text: "seven" } as const;
    },
  };
  const { path: repository } = makeRepository();
  const task = await gateway.kernel.tasks.start(work, null, { id: TASK, isolation: "worktree", repository });
  await task.wait();
  await gateway.kernel.tasks.cleaned();
  const { LONGHAUL_TOKEN: _, ...env } = process.env;
  const child = spawn(python as string, ["-m", "unittest", ...args], {
    cwd: folder,
    env: { ...env, LONGHAUL_URL: gateway.url, LONGHAUL_TEST_TASK: TASK, PYTHONDONTWRITEBYTECODE: "1" },
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output += chunk;
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

if (python === undefined) {
  test.skip(`the Python client needs Python 3.10 with httpx (${INSTALL})`, () => undefined);
} else {
  test("the Python client talks to a running gateway", async () => {
    const { code, output } = await runTests("-q", "tests.test_client.AgentsTest", "tests.test_operations");
    expect(output).toContain("OK");
    expect(code).toBe(0);
  });

  test("the wheel is built without a registry, and the example runs from it", async () => {
    const built = spawnSync(python, ["build_wheel.py", testFolder()], { cwd: folder, encoding: "utf8" });
    const wheel = built.stdout.trim();
    expect(wheel, built.stderr).toMatch(/longhaul-0\.1\.0-py3-none-any\.whl$/);
    const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
    const child = spawn(python, [join(folder, "example.py")], {
      cwd: testFolder(),
      env: { PATH: process.env.PATH, PYTHONPATH: wheel, LONGHAUL_URL: gateway.url },
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        output += chunk;
      });
    await new Promise((resolve) => child.once("close", resolve));
    expect(output).toContain("2 messages fit\n");
    expect(output).toMatch(/ticket-4711#\d .*(parcel|harbor)/);
  });

  proofTest("every test of the Python client passes against a running gateway", async () => {
    const { code, output } = await runTests("discover", "-s", "tests", "-v");
    expect(output).toContain("OK");
    expect(code).toBe(0);
  });
}
