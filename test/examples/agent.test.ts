import { spawn } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { findTagged } from "../../src/kernel/faces/task.ts";
import { openKernel } from "../../src/kernel/index.ts";
import { calling } from "../adapters/ai/agent/running.ts";
import { lineOf, reply } from "../adapters/ai/speaking.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import type { Behaviour } from "../support/wire-server/behaviour.ts";
import { startWireServer, type WireServer } from "../support/wire-server/wire-server.ts";
import { makeRepository, type TestRepository } from "../tasks/worktree/repository.ts";

const example = fileURLToPath(new URL("../../examples/agent.ts", import.meta.url));
const BUG = "export const total = (list) => list.reduce((sum, item) => sum - item, 0);\n";
const CHECK = `"${process.execPath}" check.mjs`;

interface Stage {
  readonly server: WireServer;
  readonly repository: TestRepository;
  readonly home: string;
  /** Starts the example in the repository; `ended` resolves when it exits. */
  start(...args: string[]): {
    readonly ended: Promise<{ code: number | string; output: string }>;
    interrupt(signal: NodeJS.Signals): void;
    said(words: string): Promise<void>;
  };
}

/** A repository with a bug in it, and a provider with scripts for the agent and its helper. */
async function stage(): Promise<Stage> {
  const server = await startWireServer();
  onTestFinished(() => server.close());
  const repository = makeRepository();
  repository.write("total.mjs", BUG);
  repository.write(
    "check.mjs",
    'import { total } from "./total.mjs";\nprocess.exit(total([1, 2]) === 3 ? 0 : 1);\n',
  );
  repository.git("add", ".");
  repository.git("commit", "--quiet", "-m", "a mistake");
  const home = testFolder();
  const { ANTHROPIC_API_KEY: _, OPENAI_API_KEY: __, ...env } = process.env;
  return {
    server,
    repository,
    home,
    start(...args) {
      const child = spawn(process.execPath, [example, ...args], {
        cwd: repository.path,
        env: {
          ...env,
          LONGHAUL_HOME: home,
          ANTHROPIC_API_KEY: "none",
          ANTHROPIC_BASE_URL: `${server.url}/v1`,
        },
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk) => {
          output += chunk;
        });
      const ended = new Promise<{ code: number | string; output: string }>((resolve) => {
        child.on("close", (code, signal) => resolve({ code: signal ?? code ?? -1, output }));
      });
      return {
        ended,
        interrupt: (signal) => void child.kill(signal),
        said: (words) => expect.poll(() => output).toContain(words),
      };
    },
  };
}

/** Answers the helper's requests by one script and all others by another. */
function play(server: WireServer, coder: readonly Behaviour[], helper: readonly Behaviour[] = []): void {
  const scripts = { coder: [...coder], helper: [...helper] };
  server.decide(({ body }) => {
    const request = JSON.stringify(body);
    const next = scripts[request.includes("You are the helper") ? "helper" : "coder"].shift();
    // Only the process that runs the agents knows their names.
    const name = /helper-[0-9a-f]{8}/.exec(request)?.[0] ?? "";
    return next && (JSON.parse(JSON.stringify(next).replaceAll("HELPER", name)) as Behaviour);
  });
}

describe("the coding agent of the examples", () => {
  test("the coding agent of the examples fixes a file, proves the fix, remembers, delegates to a worktree, and continues after a restart", async () => {
    const { server, repository, home, start } = await stage();
    play(
      server,
      [
        calling("c1", "read", { path: "total.mjs" }, "Let me look."),
        calling("c2", "edit", { path: "total.mjs", old: "sum - item", new: "sum + item" }),
        calling("c3", "run", { command: CHECK }),
        calling("c4", "search", { text: "total(" }),
        calling("c5", "save_memory", { text: "The check of the zebra project is check.mjs." }),
        calling("c6", "start_task", { agent: "HELPER", instructions: "Write a README.", title: "readme" }),
        reply("The helper writes the README."),
        reply("All is done."),
        reply("You are welcome."),
      ],
      [
        calling("h1", "edit", { path: "README.md", old: "", new: "# Totals\n" }),
        reply("README.md is written."),
      ],
    );
    const first = await start("--session", "fix", "fix", "the", "failing", "check").ended;
    expect(first.output).toContain("All is done.");
    expect(first.output).toMatch(/window \[.*\] \d+ of 200000 tokens/);
    expect(first.code).toBe(0);
    expect(readFileSync(join(repository.path, "total.mjs"), "utf8")).toContain("sum + item");
    expect(repository.git("branch", "--list").split("\n").length).toBeGreaterThan(1);

    const second = await start("--session", "fix", "Thanks").ended;
    expect(second).toMatchObject({ code: 0, output: expect.stringContaining("You are welcome.") });
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    expect(sent).toMatch(/fix the failing check.*All is done.*Thanks/);
    expect(sent).toContain("agent| The check of the zebra project is check.mjs.");

    await using kernel = await openKernel({ path: home });
    const line = await lineOf(await kernel.session("fix"));
    expect(line.map((said) => said.split(":")[0])).toEqual([
      "user",
      ...Array.from({ length: 6 }, () => ["assistant", "tool"]).flat(),
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(line[2]).toContain("1| export const total");
    expect(line[4]).toBe("tool: Edited total.mjs, line 1.");
    expect(line[6]).toBe("tool: [exit code 0]");
    expect(line[8]).toMatch(/^tool: check\.mjs:2: process\.exit/);
    expect(line[14]).toMatch(/^user: Notice, .*"readme" of helper-\w+ has ended: completed/);
    expect(line[14]).toMatch(
      /\| text: README\.md is written\.[\s\S]*worktree:\n\| state: changed[\s\S]*\| path: .+\n\| branch: \S+/,
    );
    const { hits } = await kernel.memory.recall("check of the zebra project");
    expect(hits[0]?.text).toContain("check.mjs");
    const tasks = await kernel.tasks.list();
    expect(tasks.map(({ state }) => state)).toEqual(["completed", "completed", "completed"]);
  });

  proofTest("the coding agent of the examples is told in words what failed, and continues", async () => {
    const { server, repository, home, start } = await stage();
    symlinkSync("/", join(repository.path, "out"));
    repository.write("twice.txt", "same\nsame\n");
    play(server, [
      calling("c1", "fly", {}),
      calling("c2", "edit", { path: "total.mjs", old: "not there", new: "x" }),
      calling("c3", "edit", { path: "twice.txt", old: "same", new: "x" }),
      calling("c4", "read", { path: "../../etc/passwd" }),
      calling("c5", "read", { path: "out/etc/hostname" }),
      calling("c6", "edit", { path: "out/tmp/new.txt", old: "", new: "x" }),
      calling("c7", "edit", { path: "total.mjs", old: "", new: "x" }),
      calling("c8", "read", { path: "missing.txt" }),
      calling("c9", "run", { command: "sleep 60 & sleep 60", seconds: 1 }),
      { type: "cut", reply: { text: "I think that this is" }, afterEvents: 5 },
      reply("It cannot be done."),
    ]);
    const { code, output } = await start("--session", "odd", "try").ended;
    expect(output).toContain("It cannot be done.");
    expect(code).toBe(0);
    await using kernel = await openKernel({ path: home });
    const line = await lineOf(await kernel.session("odd"));
    const results = line.filter((said) => said.startsWith("tool: "));
    expect(results.map((said) => said.slice(6))).toEqual([
      expect.stringContaining("unavailable tool 'fly'"),
      expect.stringContaining("The old text does not occur in total.mjs"),
      expect.stringContaining("The old text occurs more than once in twice.txt"),
      expect.stringContaining("lies outside of the working folder"),
      expect.stringContaining("lies outside of the working folder"),
      expect.stringContaining("lies outside of the working folder"),
      expect.stringContaining("EEXIST"),
      expect.stringContaining("ENOENT"),
      expect.stringContaining("stopped: it took longer than 1 s"),
    ]);
    expect(line.at(-1)).toBe("assistant: It cannot be done.");
    expect(readFileSync(join(repository.path, "twice.txt"), "utf8")).toBe("same\nsame\n");
  });

  proofTest(
    "the coding agent of the examples fails with the provider's message if there is no answer",
    async () => {
      const { server, start } = await stage();
      server.always({ type: "error", kind: "unauthorized" });
      expect(await start("try").ended).toMatchObject({
        code: 1,
        output: expect.stringContaining("failed: invalid x-api-key"),
      });
    },
  );

  proofTest(
    "the coding agent of the examples ends cleanly at Ctrl-C, and continues after a crash",
    async () => {
      const { server, repository, home, start } = await stage();
      const long = (id: string) => calling(id, "run", { command: `echo begun > ${id}; sleep 60` });
      play(server, [long("c1"), long("c2"), reply("I was interrupted twice.")]);
      const first = start("--session", "s", "try");
      await expect.poll(() => repository.git("status", "--short")).toContain("c1");
      first.interrupt("SIGINT");
      const { code, output } = await first.ended;
      expect(output).toContain("killed: interrupted by the user");
      expect(output).toMatch(/window \[/);
      expect(code).toBe(130);

      const second = start("--session", "s", "again");
      await expect.poll(() => repository.git("status", "--short")).toContain("c2");
      second.interrupt("SIGKILL");
      expect((await second.ended).code).toBe("SIGKILL");

      const third = await start("--session", "s").ended;
      expect(third.output).toContain("A job that was cut off goes on:");
      expect(third).toMatchObject({ code: 0, output: expect.stringContaining("I was interrupted twice.") });
      await using kernel = await openKernel({ path: home });
      for (const { id } of await kernel.tasks.list()) expect(await findTagged(id)).toEqual([]);
      const line = await lineOf(await kernel.session("s"));
      expect(line.map((said) => said.slice(0, 17))).toEqual([
        "user: try",
        'assistant: run({"',
        "tool: Interrupted",
        "user: again",
        'assistant: run({"',
        "tool: Interrupted",
        "assistant: I was ",
      ]);
    },
  );
});
