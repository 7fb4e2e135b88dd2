import { setTimeout as sleep } from "node:timers/promises";
import { isStepCount, type StepResult, streamText, type ToolSet } from "ai";
import { isLonghaulError } from "../../../kernel/index.ts";
import { decodeSdkMessage } from "../decode-sdk-message.ts";
import type { SdkMessage } from "../sdk-message.ts";
import type { SessionContext } from "./ai-sdk-agent-options.ts";
import { buildNoticeMeta, takeReportedNotices } from "./notice-message.ts";
import { buildErrorResults, type PendingCall } from "./pending-calls.ts";
import type { EventSink } from "./relay-events.ts";
import { TextOutput } from "./text-output.ts";

/** The reply of a step. */
export interface StepReply {
  /** Emits the text as it arrives, all of it before the reply is stored. */
  output: TextOutput;
  /** The calls of the reply; undefined until it is stored. */
  calls: readonly PendingCall[] | undefined;
}

/** Dependencies of a step. */
export interface StepDeps {
  readonly context: SessionContext;
  readonly settings: Parameters<typeof streamText>[0];
  readonly emit: EventSink;
  readonly signal: AbortSignal;
  readonly reply: StepReply;
}

/** Maximum number of requests for a reply that breaks off; a broken reply has no effect. */
const MAX_BROKEN_REPLIES = 3;
const FIRST_PAUSE_MS = 500;

/** Makes one call to the model and runs the tools it requests; everything is in the log when it resolves. */
export async function takeStep(parts: StepDeps): Promise<StepResult<ToolSet>> {
  const { emit: say, signal, reply } = parts;
  await say({ type: "step" });
  for (let broken = 1; ; broken++) {
    reply.calls = undefined;
    const output = new TextOutput(say);
    reply.output = output;
    try {
      return await tryStep(parts);
    } catch (error) {
      signal.throwIfAborted();
      // The AI SDK has already retried failures before the first content.
      const mayAskAgain = output.hasBegun && reply.calls === undefined && !isLonghaulError(error);
      if (!mayAskAgain || broken === MAX_BROKEN_REPLIES) throw error;
      await output.flush("\n[the answer broke off and is asked for again]\n");
      await sleep(FIRST_PAUSE_MS * 2 ** (broken - 1), undefined, { signal });
    }
  }
}

async function tryStep(parts: StepDeps): Promise<StepResult<ToolSet>> {
  const { context, settings, emit: say, signal, reply } = parts;
  const stop = new AbortController();
  const abort = () => stop.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    const result = streamText({
      ...settings,
      stopWhen: isStepCount(1),
      abortSignal: stop.signal,
      // Errors are handled in the stream; the default would print them.
      onError: () => undefined,
    });
    for await (const part of result.stream) {
      if (part.type === "error") throw part.error;
      if (part.type === "abort") throw signal.reason ?? new Error("The step was aborted.");
    }
    const step = await result.finalStep;
    const results = (await result.responseMessages).filter(({ role }) => role === "tool");
    const answered = new Set<string>();
    for (const sdk of results) {
      const message = decodeSdkMessage(sdk as SdkMessage);
      const ids = (message.parts ?? []).flatMap((part) => (part.type === "tool-result" ? [part.callId] : []));
      for (const id of ids) answered.add(id);
      const told = takeReportedNotices(context, ids);
      const meta = { ...message.meta, ...(told.length > 0 && buildNoticeMeta(told)) };
      await say({ type: "message", message: { ...message, meta } });
    }
    const undone = (reply.calls ?? []).filter(({ callId }) => !answered.has(callId));
    if (undone.length > 0) await say({ type: "message", message: buildErrorResults(undone, "undone") });
    return step;
  } finally {
    signal.removeEventListener("abort", abort);
    // A stream that is not read to its end must be stopped.
    stop.abort();
  }
}
