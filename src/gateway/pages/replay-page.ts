import { Worker } from "node:worker_threads";
import { resolveModuleFile } from "../../base/package-files.ts";
import { loadConversation } from "../../conversation/load-conversation.ts";
import type { Kernel } from "../../index.ts";
import { POLICIES } from "../../window-entry.ts";
import { createArgumentFault, PageFault } from "./page-fault.ts";
import type { PageReply } from "./page-reply.ts";
import {
  checkMethod,
  createNoSessionFault,
  type PageRequest,
  readSessionArgument,
  readWholeArgument,
} from "./page-request.ts";
import type { ReplayScores, ReplayTask } from "./replay-scores.ts";

const WINDOW_LIMITS = { otherwise: 64_000, max: 10_000_000 };
/** A conversation is held in memory while it is replayed; longer ones are left to the command line. */
const MAX_ENTRIES = 2_000;

/** Replays one conversation at a time. */
export class ReplayPage {
  readonly #kernel: Kernel;
  #isBusy = false;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** The cost and retention of a session under each policy. */
  async page(callRequest: PageRequest): Promise<PageReply> {
    checkMethod(callRequest, "GET", "HEAD");
    const id = readSessionArgument(callRequest);
    const window = readWholeArgument(callRequest, "window", WINDOW_LIMITS);
    const policies = parsePolicies(callRequest.query.get("policy"));
    if (!(await this.#kernel.find(id))) throw createNoSessionFault(id);
    await this.#checkLength(id);
    if (this.#isBusy)
      throw new PageFault(429, "BUSY", "Another replay is running; try again in a moment.", {
        "retry-after": "2",
      });
    this.#isBusy = true;
    try {
      const conversation = await loadConversation(this.#kernel, id);
      const scores = await replayInWorker({ conversation, window, policies }, callRequest.signal);
      return { json: { session: id, window, messages: conversation.length, ...scores } };
    } finally {
      this.#isBusy = false;
    }
  }

  async #checkLength(id: string): Promise<void> {
    await using session = await this.#kernel.session(id);
    const [line] = await session.lines(1);
    const length = (line?.ranges ?? []).reduce((sum, { from, to }) => sum + Math.max(0, to - from + 1), 0);
    if (length <= MAX_ENTRIES) return;
    const message = `The session has ${length} entries, more than ${MAX_ENTRIES}; use "longhaul replay" instead.`;
    throw new PageFault(413, "SESSION_TOO_LONG", message);
  }
}

/** Replays in a worker thread, which ends when the reader disconnects. */
async function replayInWorker(task: ReplayTask, signal: AbortSignal): Promise<ReplayScores> {
  const worker = new Worker(resolveModuleFile("gateway/pages/replay-worker"), { workerData: task });
  const end = () => void worker.terminate();
  signal.addEventListener("abort", end, { once: true });
  try {
    return await new Promise<ReplayScores>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => reject(new PageFault(503, "CLOSED", "The replay was stopped; try again.")));
    });
  } finally {
    signal.removeEventListener("abort", end);
    await worker.terminate();
  }
}

function parsePolicies(names: string | null): readonly string[] {
  const known = POLICIES.map(({ name }) => name);
  if (names === null) return known.filter((name) => name !== "none");
  const wanted = names.split(",").map((name) => name.trim());
  for (const name of wanted)
    if (!known.includes(name)) throw createArgumentFault("policy", name, `one of ${known.join(", ")}`);
  return wanted;
}
