import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { getSocketPlace } from "../../src/adapters/hooks/index.ts";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { MAIN, runProgram, startProgram } from "./support/program.ts";

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

/** A separate runtime folder, time enough for a busy machine, and servers that end soon after the test. */
function placeOf(env: Readonly<Record<string, string>> = {}) {
  return {
    XDG_RUNTIME_DIR: testFolder(),
    LONGHAUL_HOOK_LIMIT_MS: "30000",
    LONGHAUL_HOOKS_IDLE_MS: "20000",
    ...env,
  };
}

function runHook(store: string, input: string, env = placeOf(), event = "prompt") {
  return runProgram(["hook", event, "--client", "claude-code", "--store", store], { env, input });
}

/** The servers of a store that hooks have started; they end with the test. */
function serversOf(store: string): readonly number[] {
  const isServer = (pid: string) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return words.includes("--hooks-only") && words.includes(store);
    } catch {
      return false;
    }
  };
  return readdirSync("/proc").filter(isServer).map(Number);
}

function endServers(store: string): void {
  for (const pid of serversOf(store)) process.kill(pid, "SIGKILL");
}

async function waitForServer(store: string, env: ReturnType<typeof placeOf>): Promise<void> {
  onTestFinished(() => endServers(store));
  const { path } = getSocketPlace(store, env);
  await vi.waitFor(() => expect(existsSync(path)).toBe(true), { timeout: 60_000 });
}

/** Lets the next hook start a server at once. */
function forgetStart(store: string, env: ReturnType<typeof placeOf>): void {
  const { mark } = getSocketPlace(store, env);
  utimesSync(mark, 0, 0);
}

const ask = (session: string) => PROMPT.replace("second", session);
const linuxTest = process.platform === "linux" ? proofTest : proofTest.skip;

test("a hook without a running server is answered from the store itself", async () => {
  const store = await storeWithPort();
  const { code, stdout } = await runHook(store, PROMPT, placeOf({ LONGHAUL_HOOKS_IDLE_MS: "1" }));
  expect(code).toBe(0);
  expect(stdout).toContain(PORT);
  expect((await runHook(store, PROMPT, placeOf({ LONGHAUL_HOOKS_IDLE_MS: "1" }))).stdout).toBe("");
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
  const { code, stdout, stderr } = await runHook(store, PROMPT, placeOf({ LONGHAUL_HOOK_LIMIT_MS: "1" }));
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(readFileSync(join(store, "hooks", "hooks.log"), "utf8")).toContain("no answer within 1 ms");
});

proofTest("a hook without a store creates none", async () => {
  const store = join(testFolder(), "none");
  const { code, stdout } = await runHook(store, PROMPT);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect((await runProgram(["serve", "--hooks-only", "--store", store], { env: placeOf() })).code).toBe(0);
  expect(existsSync(store)).toBe(false);
});

linuxTest("hooks without a server start exactly one server, and replace a killed server", async () => {
  const [store, env] = [await storeWithPort(), placeOf()];
  const hooks = await Promise.all(
    Array.from({ length: 8 }, (_, at) => runHook(store, ask(`at-once-${at}`), env)),
  );
  for (const { code, stdout, stderr } of hooks) {
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(PORT);
  }
  await waitForServer(store, env);
  const [first, ...others] = serversOf(store);
  expect(others).toEqual([]);
  // Two that a person starts at the same moment leave it to one process too.
  const late = { ...env, LONGHAUL_HOOKS_IDLE_MS: "60000" };
  const said = await Promise.all(
    [1, 2].map(() => runProgram(["serve", "--hooks-only", "--store", store], { env: late })),
  );
  expect(said.map(({ stdout }) => stdout)).toEqual(
    Array(2).fill("Another process answers the hooks of this store already.\n"),
  );
  expect(serversOf(store)).toEqual([first]);
  // Whether a gateway answers on the default port depends on the machine.
  const away = { ...env, LONGHAUL_PORT: "1" };
  const examined = await runProgram(["doctor", "--json", "--store", store], { env: away });
  expect(examined.stdout).toContain("a process that a hook started answers hooks");
  // Texts that a conversation has are not given again by the next server.
  process.kill(first as number, "SIGKILL");
  expect((await runHook(store, ask("at-once-1"), env)).stdout).toBe("");
  forgetStart(store, env);
  expect((await runHook(store, ask("after-kill"), env)).stdout).toContain(PORT);
  await vi.waitFor(() => expect(serversOf(store)).toHaveLength(1), { timeout: 60_000 });
  expect(serversOf(store)).not.toContain(first);
});

linuxTest(
  "a server started by a hook ends when it is idle, when a gateway or a newer build starts, and when its store is gone",
  async () => {
    const [store, env] = [await storeWithPort(), placeOf()];
    const gone = () => vi.waitFor(() => expect(serversOf(store)).toEqual([]), { timeout: 60_000 });
    const again = async (own = env) => {
      rmSync(join(env.XDG_RUNTIME_DIR, "longhaul"), { recursive: true, force: true });
      expect((await runHook(store, ask(String(Math.random())), own)).stdout).toContain(PORT);
      await waitForServer(store, env);
    };
    await again({ ...env, LONGHAUL_HOOKS_IDLE_MS: "1500" });
    await gone();

    await again();
    const gateway = startProgram(["serve", "--port", "0", "--json", "--store", store], { env });
    await gateway.says("listening");
    await gone();
    expect((await runHook(store, ask("by-the-gateway"), env)).stdout).toContain(PORT);
    expect(serversOf(store)).toEqual([]);
    gateway.process.kill();
    await gateway.ended;

    await again();
    // Writing the mode of a file renews the time that tells builds apart, as an installation does.
    chmodSync(MAIN, statSync(MAIN).mode);
    expect((await runHook(store, ask("newer"), env)).stdout).toContain(PORT);
    await gone();

    await again();
    renameSync(join(store, "log.db"), join(store, "old.db"));
    expect((await runHook(store, ask("without a store"), env)).stdout).toBe("");
    await gone();
  },
);

proofTest("a hook answers from a read-only store, and logs a line for a damaged store", async () => {
  const [store, env] = [await storeWithPort(), placeOf({})];
  writeFileSync(join(store, "hooks"), "");
  expect((await runHook(store, PROMPT, env)).stdout).toContain(PORT);
  await waitForServer(store, env);
  expect((await runHook(store, ask("third"), env)).stdout).toContain(PORT);
  expect((await runHook(store, ask("third"), env)).stdout).toBe("");

  const damaged = testFolder();
  mkdirSync(join(damaged, "hooks"));
  writeFileSync(join(damaged, "log.db"), "no database ".repeat(1_000));
  const { code, stdout, stderr } = await runHook(damaged, PROMPT, env);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
  const log = () => readFileSync(join(damaged, "hooks/hooks.log"), "utf8");
  expect(log()).toMatch(/^\S+ claude-code prompt: .*log\.db is damaged/m);
  await vi.waitFor(() => expect(log()).toMatch(/^longhaul: .*log\.db is damaged/m), { timeout: 60_000 });
});

proofTest("the status line shows window and cache", async () => {
  const input = JSON.stringify({ context_window: { used_percentage: 41.6 } });
  const env = placeOf({ HOME: testFolder() });
  const { stdout } = await runProgram(["statusline"], { input, env });
  expect(stdout).toBe("longhaul · window 42%\n");
});
