import { BoundedMap } from "../model/base/caches.ts";
import { computeDigest } from "../model/base/digest.ts";
import type { MessageInput } from "../model/message.ts";
import type { ToolResultInput } from "../model/part.ts";
import type { LoopGuard } from "../model/task.ts";

/** Default guard: records five identical calls in a row and lets the task continue. */
export const DEFAULT_LOOP_GUARD: LoopGuard = { repeats: 5, isStopping: false };

/** A tool call with its result. */
interface FinishedCall {
  readonly name: string;
  readonly arguments: unknown;
  readonly result: unknown;
}

/** Calls that wait for their results; older ones are evicted. */
const MAX_OPEN_CALLS = 256;

/** Counts consecutive calls with the same name, arguments and result. Keeps hashes only. */
export class LoopCounter {
  readonly #openCalls = new BoundedMap<string, { readonly name: string; readonly arguments: string }>({
    max: MAX_OPEN_CALLS,
  });
  #last = "";
  #count = 0;

  /** Returns the number of identical calls in a row, including this one. */
  countRepeats(call: FinishedCall): number {
    const hash = hashValue([call.name, call.arguments, call.result]);
    this.#count = hash === this.#last ? this.#count + 1 : 1;
    this.#last = hash;
    return this.#count;
  }

  /** Returns the calls whose results this message contains. */
  takeFinishedCalls(message: MessageInput): readonly FinishedCall[] {
    const finished: FinishedCall[] = [];
    for (const part of message.parts ?? []) {
      if (part.type === "tool-call")
        this.#openCalls.set(part.callId, { name: part.name, arguments: hashValue(part.input) });
      if (part.type !== "tool-result") continue;
      const call = this.#openCalls.get(part.callId);
      this.#openCalls.delete(part.callId);
      if (call) finished.push({ ...call, result: toComparableOutput(part) });
    }
    return finished;
  }
}

/** The comparable content of a result; raw bytes always count as different. */
function toComparableOutput({ output }: ToolResultInput): unknown {
  if (typeof output === "string") return output;
  return output.map((part) => {
    if (part.type === "blob") return part.digest;
    return part.type === "data" ? Math.random() : part;
  });
}

function hashValue(value: unknown): string {
  return computeDigest(JSON.stringify(value) ?? "");
}
