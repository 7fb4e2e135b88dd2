import { Worker } from "node:worker_threads";
import { loadConversation } from "../../../kernel/calls/load-conversation.ts";
import { POLICIES } from "../../../kernel/faces/window.ts";
import type { Kernel } from "../../../kernel/index.ts";
import { resolveModuleFile } from "../../../model/base/package-files.ts";
import { ApiError } from "../core/api-error.ts";
import type { ReplayScores, ReplayTask } from "./replay-scores.ts";

/** A replay to run. */
export interface ReplayRequest {
  readonly session: string;
  /** Size of the model's window in tokens. */
  readonly window: number;
  /** Names of policies; default: all except "none". */
  readonly policies?: readonly string[];
  readonly hasCurves?: boolean;
  /** A longer conversation is refused: it is held in memory while it is replayed. */
  readonly maxEntries: number;
}

/** The scores of a conversation. */
export interface ReplayResult extends ReplayScores {
  readonly session: string;
  readonly window: number;
  readonly messages: number;
}

/** Replays one conversation at a time, in a worker thread. */
export class ReplayRunner {
  readonly #kernel: Kernel;
  #isBusy = false;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Checks a replay before it is run; throws if it is not possible. */
  async check({ session: id, policies = [], maxEntries }: ReplayRequest): Promise<void> {
    const known = POLICIES.map(({ name }) => name);
    const strange = policies.find((name) => !known.includes(name));
    if (strange !== undefined)
      throw new ApiError(
        "REQUEST_INVALID",
        `policy is ${JSON.stringify(strange.slice(0, 80))}; expected one of ${known.join(", ")}.`,
      );
    await using session = await this.#kernel.session(id);
    const [line] = await session.lines(1);
    const length = (line?.ranges ?? []).reduce((sum, { from, to }) => sum + Math.max(0, to - from + 1), 0);
    if (length > maxEntries)
      throw new ApiError("REPLAY_TOO_LONG", `The session has ${length} entries, more than ${maxEntries}.`);
    if (this.#isBusy)
      throw new ApiError("JOB_BUSY", "Another replay is running.", { headers: { "retry-after": "2" } });
  }

  /** Runs a replay until its end, or until `signal` fires. */
  async run(request: ReplayRequest, signal: AbortSignal): Promise<ReplayResult> {
    await this.check(request);
    this.#isBusy = true;
    try {
      const { session, window, hasCurves = false } = request;
      const policies = request.policies ?? POLICIES.flatMap(({ name }) => (name === "none" ? [] : [name]));
      const conversation = await loadConversation(this.#kernel, session);
      const scores = await replayInWorker({ conversation, window, policies, hasCurves }, signal);
      return { session, window, messages: conversation.length, ...scores };
    } finally {
      this.#isBusy = false;
    }
  }
}

async function replayInWorker(task: ReplayTask, signal: AbortSignal): Promise<ReplayScores> {
  const worker = new Worker(resolveModuleFile("server/api/jobs/replay-worker"), { workerData: task });
  const end = () => void worker.terminate();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    return await new Promise<ReplayScores>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => reject(new ApiError("UNAVAILABLE", "The replay was stopped.")));
    });
  } finally {
    signal.removeEventListener("abort", end);
    await worker.terminate();
  }
}
