import { Worker } from "node:worker_threads";
import { fitForeignMessages } from "../../../adapters/ai/fit-foreign-messages.ts";
import { fitConversation, type WindowOptions } from "../../../kernel/faces/window.ts";
import { type ErrorCode, isLonghaulError, LonghaulError, type Message } from "../../../kernel/index.ts";
import { resolveModuleFile } from "../../../model/base/package-files.ts";
import { ApiError } from "../core/api-error.ts";

type FitArguments = Parameters<typeof fitForeignMessages>;

/** Messages to fit. */
export interface FitTask {
  readonly messages: FitArguments[0];
  readonly options: WindowOptions;
  readonly format: FitArguments[2];
}

/** Fitted messages, and the facts of their receipt. */
interface FitTaskResult {
  readonly format: NonNullable<FitArguments[2]>;
  readonly messages: readonly unknown[];
  readonly receipt: {
    readonly isChanged: boolean;
    readonly isFitted: boolean;
    readonly tokens: { readonly without: number; readonly with: number };
    readonly messages: { readonly without: number; readonly with: number };
    readonly left: readonly number[];
    readonly edited: readonly number[];
    readonly notes: number;
  };
}

/** The report of the worker: a result, or an error. */
type FitReport =
  | { readonly result: FitTaskResult }
  | { readonly message: string; readonly code?: ErrorCode; readonly details?: LonghaulError["details"] };

/** A window that every conversation fits into, to count one as it is. */
const NO_LIMIT = 1e12;
/** Up to this size, fitting takes less time than starting a thread. */
const SMALL_MESSAGES = 100;
const SMALL_CHARACTERS = 100_000;
const MAX_FIT_MS = 60_000;
const MAX_HEAP_MB = 2_048;

/**
 * Fits messages. A long conversation is replayed call by call, which takes seconds: that happens in a thread, which is
 * ended when the caller leaves or its time is over.
 */
export async function fitApart(task: FitTask, signal: AbortSignal): Promise<FitTaskResult> {
  if (isSmall(task.messages)) return runFitTask(task);
  const worker = new Worker(resolveModuleFile("server/api/jobs/fit-worker"), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const end = () => void worker.terminate();
  const timer = setTimeout(end, MAX_FIT_MS);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    const report = await new Promise<FitReport>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () =>
        reject(new ApiError("UNAVAILABLE", `Fitting took longer than ${MAX_FIT_MS / 1_000} s.`)),
      );
    });
    if ("result" in report) return report.result;
    const { message, code, details = {} } = report;
    throw code === undefined ? new Error(message) : new LonghaulError(code, message, { details });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    await worker.terminate();
  }
}

/** Runs a task in the worker; errors keep their codes. */
export async function reportFitTask(task: FitTask): Promise<FitReport> {
  try {
    return { result: await runFitTask(task) };
  } catch (error) {
    if (isLonghaulError(error)) return { message: error.message, code: error.code, details: error.details };
    return { message: error instanceof Error ? error.message : String(error) };
  }
}

function isSmall(messages: readonly unknown[]): boolean {
  return messages.length <= SMALL_MESSAGES && JSON.stringify(messages).length <= SMALL_CHARACTERS;
}

async function runFitTask({ messages, options, format }: FitTask): Promise<FitTaskResult> {
  const fit = await fitForeignMessages(messages, options, format);
  const { plain, slots, system } = fit;
  const count = (list: readonly Message[]) =>
    fitConversation(list, { ...options, system, policy: "none", models: { "*": { window: NO_LIMIT } } })
      .tokens;
  const kept = new Map(
    slots?.flatMap((slot) => (slot.isNote ? [] : [[slot.seq - 1, slot.message] as const])),
  );
  const indexes = plain.map((_, index) => index);
  return {
    format: fit.format,
    messages: fit.messages,
    receipt: {
      isChanged:
        slots !== undefined &&
        (slots.length !== plain.length || indexes.some((at) => kept.get(at) !== plain[at])),
      isFitted: slots !== undefined,
      tokens: {
        without: count(plain),
        with: slots ? count(slots.map(({ message }) => message)) : count(plain),
      },
      messages: { without: plain.length, with: slots?.length ?? plain.length },
      left: slots ? indexes.filter((at) => !kept.has(at)) : [],
      edited: slots ? indexes.filter((at) => kept.has(at) && kept.get(at) !== plain[at]) : [],
      notes: slots?.filter(({ isNote }) => isNote).length ?? 0,
    },
  };
}
