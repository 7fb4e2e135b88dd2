import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startGateway } from "./support/gateway.ts";
import { proofTest } from "./support/proof.ts";

const folder = fileURLToPath(new URL("../clients/python/", import.meta.url));
const CHECK = "import sys, httpx; assert sys.version_info >= (3, 10); print(httpx.__version__)";
const INSTALL = "pip install httpx, or on Debian: apt-get install -y python3-httpx";

/** A Python of at least 3.10 with httpx; undefined if there is none. */
const python = ["python3", "/usr/bin/python3", "python"].find(
  (program) => spawnSync(program, ["-c", CHECK], { stdio: "ignore" }).status === 0,
);

function runPython(args: readonly string[], url: string): Promise<{ code: number | null; output: string }> {
  const { LONGHAUL_TOKEN: _, ...env } = process.env;
  const child = spawn(python as string, args, {
    cwd: folder,
    env: { ...env, LONGHAUL_URL: url, PYTHONDONTWRITEBYTECODE: "1" },
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
    const { url } = await startGateway({ upstream: "http://127.0.0.1:9" });
    const { code, output } = await runPython(["-m", "unittest", "-q", "tests.test_client.AgentsTest"], url);
    expect(output).toContain("OK");
    expect(code).toBe(0);
  });

  proofTest("every test of the Python client passes against a running gateway", async () => {
    const { url } = await startGateway({ upstream: "http://127.0.0.1:9" });
    const { code, output } = await runPython(["-m", "unittest", "discover", "-s", "tests", "-v"], url);
    expect(output).toContain("OK");
    expect(code).toBe(0);
  });
}
