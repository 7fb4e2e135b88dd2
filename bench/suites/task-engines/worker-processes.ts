import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { WorkerLine } from "./engine.ts";

const SCRIPT = fileURLToPath(new URL("./engine-worker.ts", import.meta.url));

/** One worker process and all that it has said, with times. */
export interface WorkerProcess {
  readonly name: string;
  readonly process: ChildProcess;
  readonly lines: (WorkerLine & { readonly at: number })[];
  readonly isGone: () => boolean;
}

/** The worker processes of one scenario; all are killed with it. */
export class WorkerProcesses {
  readonly #engine: string;
  readonly #place: string;
  readonly #all: WorkerProcess[] = [];

  constructor(engine: string, place: string) {
    this.#engine = engine;
    this.#place = place;
  }

  /** Starts a worker; resolves when it takes jobs. */
  async start(name: string): Promise<WorkerProcess> {
    const child = spawn(process.execPath, [SCRIPT, this.#engine, this.#place, name], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let isGone = false;
    let errors = "";
    child.once("exit", () => {
      isGone = true;
    });
    child.stderr.on("data", (text) => {
      errors = `${errors}${text}`.slice(-2_000);
    });
    const worker: WorkerProcess = { name, process: child, lines: [], isGone: () => isGone };
    createInterface({ input: child.stdout }).on("line", (text) => {
      if (text.startsWith('{"type"'))
        worker.lines.push({ ...(JSON.parse(text) as WorkerLine), at: performance.now() });
    });
    this.#all.push(worker);
    await this.until(() => isGone || worker.lines.some(({ type }) => type === "ready"), 60_000);
    if (isGone) throw new Error(`A worker of ${this.#engine} ended at once: ${errors}`);
    return worker;
  }

  /** All lines of all workers. */
  lines(
    type: WorkerLine["type"],
  ): readonly { readonly worker: string; readonly job: string; readonly at: number }[] {
    return this.#all.flatMap(({ name, lines }) =>
      lines.flatMap((line) =>
        line.type === type && "job" in line ? [{ worker: name, job: line.job, at: line.at }] : [],
      ),
    );
  }

  /** Waits for something; returns false after a time. */
  async until(isThere: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> {
    for (const end = performance.now() + limitMs; performance.now() < end; await sleep(100))
      if (await isThere()) return true;
    return false;
  }

  stop(): void {
    for (const { process: child } of this.#all) child.kill("SIGKILL");
  }
}
