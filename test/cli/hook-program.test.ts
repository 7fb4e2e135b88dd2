import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { runProgram } from "./support/program.ts";

const PORT = "The staging database of the shop listens on port 6543.";
const PROMPT = JSON.stringify({
  session_id: "second",
  cwd: "/srv/shop",
  hook_event_name: "UserPromptSubmit",
  prompt: "Which port does the staging database of the shop listen on?",
});

async function storeWithPort(): Promise<string> {
  const path = testFolder();
  await using kernel = await openKernel({ path, monitor: false, embedder: null });
  const session = await kernel.session("claude-code/first", { meta: { source: { cwd: "/srv/shop" } } });
  await session.append({ role: "user", text: PORT });
  await session.close();
  await kernel.memory.catchUp();
  return path;
}

/** The program with a runtime folder of its own, and with time enough for a busy machine. */
function runHook(store: string, input: string, limitMs = 30_000, event = "prompt") {
  const env = { XDG_RUNTIME_DIR: testFolder(), LONGHAUL_HOOK_LIMIT_MS: String(limitMs) };
  return runProgram(["hook", event, "--client", "claude-code", "--store", store], { env, input });
}

test("without a process that serves the store, a hook is answered from the store itself", async () => {
  const store = await storeWithPort();
  const { code, stdout } = await runHook(store, PROMPT);
  expect(code).toBe(0);
  expect(stdout).toContain(PORT);
  expect((await runHook(store, PROMPT)).stdout).toBe("");
});

proofTest.each(["", "{", "null", "[1]"])(
  "a hook with the damaged input %j prints nothing and succeeds",
  async (input) => {
    const { code, stdout, stderr } = await runHook(await storeWithPort(), input);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
  },
);

test("a hook that takes too long prints nothing, succeeds and leaves a line in the log", async () => {
  const store = await storeWithPort();
  const { code, stdout, stderr } = await runHook(store, PROMPT, 1);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(readFileSync(join(store, "hooks", "hooks.log"), "utf8")).toContain("no answer within 1 ms");
});

proofTest("a hook without a store creates none", async () => {
  const store = join(testFolder(), "none");
  const { code, stdout } = await runHook(store, PROMPT);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(existsSync(store)).toBe(false);
});

proofTest("the status line shows window and cache", async () => {
  const input = JSON.stringify({ context_window: { used_percentage: 41.6 } });
  const env = { HOME: testFolder(), LONGHAUL_HOOK_LIMIT_MS: "30000" };
  const { stdout } = await runProgram(["statusline"], { input, env });
  expect(stdout).toBe("longhaul · window 42%\n");
});
