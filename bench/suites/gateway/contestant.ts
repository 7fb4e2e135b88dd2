import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ContestantJob, Question, Told, Used } from "./contestant-job.ts";

const MAIN = fileURLToPath(new URL("contestant-main.ts", import.meta.url));
/** Same flags as `npm start`. */
const NODE_FLAGS = ["--expose-gc", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=8"];

/** A server between client and upstream, in its own process. */
export interface Contestant {
  readonly url: string;
  used(): Promise<Used>;
  /** Like `used`, after releasing as much memory as possible. */
  settled(): Promise<Used>;
  close(): Promise<void>;
}

/** Starts a contestant; it ends with this process at the latest. */
export async function openContestant(job: ContestantJob): Promise<Contestant> {
  const child = fork(MAIN, [], { execArgv: NODE_FLAGS, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const first = await ask(child, job);
  if (!("url" in first)) throw new Error(`${job.type}: ${"error" in first ? first.error : "no address"}`);
  const usedAt = async (question: Question): Promise<Used> => {
    const told = await ask(child, question);
    if ("used" in told) return told.used;
    throw new Error(`${job.type} did not tell what it used.`);
  };
  return {
    url: first.url,
    used: () => usedAt("used"),
    settled: () => usedAt("settled"),
    close: async () => void (await usedAt("close")),
  };
}

function ask(child: ChildProcess, question: ContestantJob | Question): Promise<Told> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`a contestant ended with exit code ${code}`));
    child.once("exit", ended);
    child.once("message", (told: Told) => {
      child.off("exit", ended);
      resolve(told);
    });
    child.send(question);
  });
}
