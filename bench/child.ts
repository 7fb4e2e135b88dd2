import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChildAnswer, ChildJob, ChildTask } from "./child-job.ts";

const MAIN = fileURLToPath(new URL("child-main.ts", import.meta.url));
const NODE_FLAGS = ["--expose-gc", "--disable-warning=ExperimentalWarning"];
const TIMEOUT_MS = 60 * 60_000;
/** How much of a failed child's output is shown. */
const TAIL_CHARACTERS = 2_000;

/** Runs tasks in child processes, one at a time, so that each starts with a fresh heap and an idle machine. */
export class Children {
  readonly #runFolder: string;
  readonly #corpusFolder: string;
  #current: ChildProcess | undefined;

  constructor(runFolder: string, corpusFolder: string) {
    this.#runFolder = runFolder;
    this.#corpusFolder = corpusFolder;
  }

  /** Runs an exported function of a module in its own process. */
  async run<Input, Output>(
    moduleUrl: string,
    task: ChildTask<Input, Output>,
    input: Input,
    nodeFlags: readonly string[] = [],
  ): Promise<Output> {
    const folder = mkdtempSync(join(this.#runFolder, "child-"));
    try {
      const place = { folder, corpusFolder: this.#corpusFolder };
      return (await this.#ask({ moduleUrl, taskName: task.name, input, place }, nodeFlags)) as Output;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Kills the running child, if any. */
  kill(): void {
    this.#current?.kill("SIGKILL");
  }

  #ask(job: ChildJob, nodeFlags: readonly string[]): Promise<unknown> {
    const child = fork(MAIN, [], {
      execArgv: [...NODE_FLAGS, ...nodeFlags],
      // Most of a child's startup time is compiling the same TypeScript again.
      env: { ...process.env, NODE_COMPILE_CACHE: join(this.#runFolder, "compile-cache") },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      signal: AbortSignal.timeout(TIMEOUT_MS),
      killSignal: "SIGKILL",
    });
    this.#current = child;
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        said = (said + text).slice(-TAIL_CHARACTERS);
      });
    }
    return new Promise((resolve, reject) => {
      let answer: ChildAnswer | undefined;
      child.once("message", (message: ChildAnswer) => {
        answer = message;
      });
      child.once("error", reject);
      child.once("close", (code, signal) => {
        this.#current = undefined;
        if (answer && "output" in answer) resolve(answer.output);
        else if (answer) reject(new Error(answer.error));
        else reject(new Error(`the process ended with ${signal ?? `exit code ${code}`}: ${said.trim()}`));
      });
      child.send(job);
    });
  }
}
