import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { runHere } from "./support/here.ts";
import { startProgram } from "./support/program.ts";

const AGENTS = `export const greeter = {
  name: "greeter",
  canResume: true,
  async *run({ input, signal }) {
    if (input === "wait") await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    yield { type: "output", text: "hello " + input };
    return input;
  },
};
`;

describe("longhaul worker", () => {
  test("longhaul worker names what is wrong with its options", async () => {
    const wrong = async (...args: string[]) => (await runHere(["worker", ...args])).stderr;
    expect(await wrong("--queues", "a b")).toContain("1 to 60 letters");
    expect(await wrong("--concurrency", "0")).toContain("--concurrency is");
    expect(await wrong("--checkout", "/only")).toContain("two folders");
    expect(await wrong("--no-programs")).toContain("--agents");
    const store = testFolder();
    const broken = join(store, "broken.mjs");
    writeFileSync(broken, "export const nothing = 1;");
    expect(await wrong("--store", store, "--agents", broken)).toContain("exports no agent");
    expect((await runHere(["task", "run", "--person", "ada", "--", "true"])).stderr).toContain(
      "needs --queue",
    );
  });

  proofTest(
    "longhaul worker runs agents and programs of its queues, and returns tasks when it is stopped",
    async () => {
      const store = testFolder();
      const module = join(store, "agents.mjs");
      writeFileSync(module, AGENTS);
      await using kernel = await openKernel({ path: store, embedder: null });
      const hello = await kernel.tasks.start("greeter", "you", { queue: "q" });
      const waiting = await kernel.tasks.start("greeter", "wait", { queue: "q" });
      const worker = startProgram([
        "worker",
        "--queues",
        "q",
        "--agents",
        module,
        "--json",
        "--store",
        store,
      ]);
      expect(await hello.wait()).toMatchObject({ state: "completed", outcome: { result: "you" } });
      const program = await runHere([
        "task",
        "run",
        "--queue",
        "q",
        "--store",
        store,
        "--",
        "sh",
        "-c",
        "echo made; exit 3",
      ]);
      expect([program.code, program.stdout]).toEqual([3, "made\n"]);
      expect((await waiting.status()).state).toBe("running");
      worker.process.kill("SIGTERM");
      const { stdout } = await worker.ended;
      expect(await waiting.status()).toMatchObject({ state: "queued", resumes: 0 });
      const types = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).type);
      expect(types[0]).toBe("ready");
      expect(types.slice(-1)).toEqual(["stopped"]);
      expect(types.filter((type) => type === "taken")).toHaveLength(3);
      expect(types.filter((type) => type === "left")).toHaveLength(1);
    },
  );
});
