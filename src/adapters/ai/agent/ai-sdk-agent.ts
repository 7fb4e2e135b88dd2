import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import { type LanguageModel, type StepResult, type ToolSet, wrapLanguageModel } from "ai";
import { reapTagged, type TaskRecord } from "../../../kernel/faces/task.ts";
import {
  type Agent,
  type Entry,
  type Json,
  LonghaulError,
  type Message,
  type MessageInput,
  type Session,
  type TaskNotice,
  textOfMessage,
} from "../../../kernel/index.ts";
import { checkFields } from "../../../model/argument-checks.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { decodeReply } from "../decode-reply.ts";
import type { LonghaulModelOptions } from "../longhaul-model-options.ts";
import { ModelCalls, type ModelUsage } from "../model-call.ts";
import type { OpenedStream } from "../record-stream.ts";
import { ReplyAssembler } from "../reply-assembler.ts";
import { retrieveMessages } from "../retrieval.ts";
import { beginCall, resolveLanguageModel, streamWithHealing } from "../send-with-healing.ts";
import { toPlainMessage } from "../to-plain-message.ts";
import {
  type AiSdkAgentOptions,
  type AiSdkAgentResult,
  resolveOption,
  type SessionContext,
} from "./ai-sdk-agent-options.ts";
import { buildNoticeMessage, parseNoticeIds } from "./notice-message.ts";
import { buildErrorResults, findCallsToRun, findPendingCalls, type PendingCall } from "./pending-calls.ts";
import { type EventSink, relayEvents } from "./relay-events.ts";
import { type StepDeps, type StepReply, takeStep } from "./take-step.ts";
import { TextOutput } from "./text-output.ts";

const MAX_STEPS = 200;

/**
 * An AI SDK tool loop as an agent for tasks. Every message is logged once, and a reply before its calls run. The model
 * is sent the log's window, never state in memory, so the agent resumes from the log after a crash or a detach. Notices
 * of ended tasks reach the model once, as messages.
 */
export function aiSdkAgent(options: AiSdkAgentOptions): Agent<Session> {
  checkFields("options", options);
  checkOptions(options);
  const { model } = options;
  const id = typeof model === "string" ? model : typeof model === "function" ? undefined : model.modelId;
  return {
    name: options.name,
    canResume: true,
    ...dropUndefined({ model: id }),
    run: (context) =>
      relayEvents((say, signal) => new AgentRun(options, context, say, signal).run(), context.signal),
  };
}

class AgentRun {
  readonly #options: AiSdkAgentOptions;
  readonly #context: SessionContext;
  readonly #emit: EventSink;
  readonly #signal: AbortSignal;
  readonly #steps: StepResult<ToolSet>[] = [];

  constructor(options: AiSdkAgentOptions, context: SessionContext, say: EventSink, signal: AbortSignal) {
    this.#options = options;
    this.#context = context;
    this.#emit = say;
    this.#signal = signal;
  }

  async run(): Promise<AiSdkAgentResult> {
    const session = await this.#context.session();
    const notices = await Notices.open(session);
    let text = await this.#prepareLog(session, notices);
    let isDue = text === undefined;
    const parts = await this.#buildStepDeps(session);
    const { maxSteps = MAX_STEPS } = this.#options;
    for (;;) {
      if (await this.#reportNotices(notices)) isDue = true;
      if (!isDue) {
        if (!(await this.#waitForChildren(session, notices))) return this.#finish(notices, text, "done");
        continue;
      }
      if (this.#context.spent().steps >= maxSteps) return this.#finish(notices, text, "steps");
      const step = await takeStep(parts);
      text = step.text;
      isDue = (parts.reply.calls ?? []).length > 0;
      if (isDue && (await this.#isStopped(step))) return this.#finish(notices, text, "condition");
    }
  }

  /** Prepares the log for the next reply; returns the reply if the log already has it. */
  async #prepareLog(session: Session, notices: Notices): Promise<string | undefined> {
    const { task, tag, cause, checkpoint } = this.#context;
    // Programs of the crashed process would otherwise run next to those started now.
    if (cause === "resume") await reapTagged(tag);
    const { pendingCalls: open, finalReply: reply } = await readConversationState(session);
    if (open.length > 0)
      await this.#emit({ type: "message", message: buildErrorResults(open, "interrupted") });
    const isSaid = cause !== "start" && (checkpoint !== undefined || (await hasInput(session, task)));
    if (isSaid) return reply;
    const message = this.#inputMessage();
    for (const recalled of await this.#retrieve(session, message))
      await this.#emit({ type: "message", message: recalled });
    await this.#emit({ type: "message", message: markTaskInput(message, task) });
    await this.#reportNotices(notices);
    await this.#emit({ type: "checkpoint", value: notices.checkpoint });
    return undefined;
  }

  async #retrieve(session: Session, message: MessageInput): Promise<readonly MessageInput[]> {
    const { retrieval, kernel, name, model, window } = this.#options;
    if (retrieval === undefined) return [];
    const { modelId } = resolveLanguageModel(await resolveOption(model, this.#context));
    const options = { memory: kernel.memory, agent: name, ...(retrieval === true ? {} : retrieval) };
    const looking = session.window({ model: modelId, ...window });
    const text = textOfMessage(toPlainMessage(message, new Map()));
    return retrieveMessages(options, text, looking, session.id, this.#signal);
  }

  #inputMessage(): MessageInput {
    return (this.#options.messageOf ?? toInputMessage)(this.#context.input);
  }

  /** Tells the model about tasks that have ended since; returns true if there were any. */
  async #reportNotices(notices: Notices): Promise<boolean> {
    const unheard = await notices.readUnreported();
    if (unheard.length === 0) return false;
    await this.#emit({ type: "message", message: buildNoticeMessage(unheard) });
    await this.#emit({ type: "checkpoint", value: notices.checkpoint });
    return true;
  }

  /** Returns true once a child's notice has arrived, false if there is none to wait for. */
  async #waitForChildren(session: Session, notices: Notices): Promise<boolean> {
    if (this.#options.isWaitingForChildren === false) return false;
    const owesNotice = (child: TaskRecord) => child.parentSession === session.id && child.noticeSeq === 0;
    const hasOpen = (await this.#context.children()).some(owesNotice);
    if (!hasOpen) return false;
    await notices.wait(this.#signal);
    this.#signal.throwIfAborted();
    return true;
  }

  async #isStopped(step: StepResult<ToolSet>): Promise<boolean> {
    const { stopWhen } = this.#options;
    if (stopWhen === undefined) return false;
    // Conditions may inspect all steps, as in the AI SDK; without conditions, none is kept.
    this.#steps.push(step);
    const conditions = typeof stopWhen === "function" ? [stopWhen] : stopWhen;
    for (const condition of conditions) if (await condition({ steps: this.#steps })) return true;
    return false;
  }

  async #finish(
    notices: Notices,
    text: string | undefined,
    stop: AiSdkAgentResult["stop"],
  ): Promise<AiSdkAgentResult> {
    await this.#emit({ type: "checkpoint", value: notices.checkpoint });
    return { text: text ?? "", steps: this.#context.spent().steps, stop };
  }

  async #buildStepDeps(session: Session): Promise<StepDeps> {
    const { kernel, model: given, instructions, tools, window, call } = this.#options;
    const context = this.#context;
    const reply: StepReply = { output: new TextOutput(this.#emit), calls: undefined };
    const model = createStepModel(
      await resolveOption(given, context),
      { ...window, session, blobs: kernel.blobs },
      {
        see: (part) => reply.output.addPart(part),
        store: async (message, report) => {
          // Readers treat the message as the end of its text, so flush the output first.
          await reply.output.flush();
          if (message) await this.#emit({ type: "message", message: markStreamed(message) });
          reply.calls = findCallsToRun(message ?? {});
          if (report) await this.#emit({ type: "usage", ...report });
        },
      },
    );
    const settings = {
      ...call,
      model,
      ...(instructions !== undefined && { instructions: await resolveOption(instructions, context) }),
      ...(tools !== undefined && { tools: await resolveOption(tools, context) }),
      // The model's prompt comes from the log; tools that inspect the messages of their call see the input.
      prompt: textOfMessage(toPlainMessage(this.#inputMessage(), new Map())) || "-",
    };
    return { context, settings, emit: this.#emit, signal: this.#signal, reply };
  }
}

/** Marks a message whose text readers have already received as output. */
function markStreamed(message: MessageInput): MessageInput {
  return { ...message, meta: { ...message.meta, isStreamed: true } };
}

function checkOptions({ kernel, name, maxSteps = MAX_STEPS }: AiSdkAgentOptions): void {
  const wrong = (argument: string, value: unknown, wanted: string) =>
    new LonghaulError(
      "ARGUMENT_INVALID",
      `${argument} is ${JSON.stringify(value)}; it has to be ${wanted}.`,
      {
        details: { argument },
      },
    );
  if (typeof kernel?.modelFacts !== "function") throw wrong("kernel", typeof kernel, "an open kernel");
  if (typeof name !== "string" || name === "") throw wrong("name", name, "a name");
  if (!Number.isSafeInteger(maxSteps) || maxSteps < 1) throw wrong("maxSteps", maxSteps, "at least 1");
}

/** The state of a conversation when an agent starts or resumes. */
interface ConversationState {
  /** Calls that the previous process did not answer. */
  readonly pendingCalls: readonly PendingCall[];
  /** The text of the last message if it is a complete reply without calls; the task may be done. */
  readonly finalReply: string | undefined;
}

/** The newest messages are enough: a reply and its results are adjacent. */
const NEWEST_MESSAGES = 50;

/** Reads the state of a conversation. */
async function readConversationState(session: Session): Promise<ConversationState> {
  const { entries } = await session.page({ kinds: ["message"], limit: NEWEST_MESSAGES });
  const messages = entries.flatMap((entry): Message[] => (entry.kind === "message" ? [entry.message] : []));
  const last = messages.at(-1);
  const isReply = last?.role === "assistant" && !last.interrupted && findCallsToRun(last).length === 0;
  return { pendingCalls: findPendingCalls(messages), finalReply: isReply ? textOfMessage(last) : undefined };
}

/** Marks the message with a task's input, so that it is added only once, even after crashes. */
function markTaskInput(message: MessageInput, task: string): MessageInput {
  return { ...message, meta: { ...message.meta, inputOf: task } };
}

/** The message for a task's input: a text unchanged, the `prompt` of an object, else the JSON. */
function toInputMessage(input: Json): MessageInput {
  if (typeof input === "string") return { role: "user", text: input };
  const prompt = typeof input === "object" && input !== null && "prompt" in input ? input.prompt : undefined;
  return { role: "user", text: typeof prompt === "string" ? prompt : JSON.stringify(input, undefined, 1) };
}

/** True if a task's input is in the log; searches back to the creation of the task. */
async function hasInput(session: Session, task: string): Promise<boolean> {
  for await (const entry of session.entries({ direction: "older", kinds: ["message", "task"] })) {
    if (entry.kind === "message" && entry.message.meta?.inputOf === task) return true;
    if (entry.kind === "task" && entry.task === task && entry.note.type === "created") return false;
  }
  return false;
}

/** Receives the replies of a model. */
interface StepReplySink extends Pick<ReplySink, "see"> {
  /** Stores a whole reply and its usage. */
  readonly store: (message: MessageInput | undefined, usage: ModelUsage | undefined) => Promise<void>;
}

/**
 * A model for the steps of a task. It is sent the window of the log, whatever messages the caller passes; refused
 * windows are healed; and the task stores its reply before the reply's calls run.
 */
function createStepModel(
  model: LanguageModel,
  options: Omit<LonghaulModelOptions, "history">,
  replies: StepReplySink,
): LanguageModelV4 {
  const calls = new ModelCalls({ ...options, history: "session" });
  return wrapLanguageModel({
    model: resolveLanguageModel(model),
    middleware: {
      specificationVersion: "v4",
      async wrapStream({ model: inner, params }) {
        const instructions = params.prompt.filter(({ role }) => role === "system");
        const call = await beginCall(calls, inner, { ...params, prompt: instructions });
        const send = () => inner.doStream(call.buildParams(params));
        const { result, opened } = await streamWithHealing(call, send);
        const stream = holdToolCalls(opened, inner.modelId, {
          see: replies.see,
          store: ({ message, usage }) => replies.store(message, call.buildReport(usage, message)),
          end: () => call.end(),
        });
        return { ...result, stream };
      },
    },
  });
}

const PAGE = 500;

/** The notices in a session's log that its model has not been told about; each is returned once, even after crashes. */
class Notices {
  readonly #session: Session;
  #position: number;

  constructor(session: Session, at: number) {
    this.#session = session;
    this.#position = at;
  }

  /** Starts at the last agent's checkpoint in the session. */
  static async open(session: Session): Promise<Notices> {
    for await (const entry of session.entries({ direction: "older", kinds: ["task"] })) {
      const at = parseCheckpoint(entry);
      if (at !== undefined) return new Notices(session, at);
    }
    return new Notices(session, 0);
  }

  /** The current position, as a checkpoint. */
  get checkpoint(): { readonly noticesTo: number } {
    return { noticesTo: this.#position };
  }

  /** The notices that have arrived since and were not reported yet. */
  async readUnreported(): Promise<readonly TaskNotice[]> {
    const found: TaskNotice[] = [];
    const told = new Set<string>();
    for (;;) {
      const entries = await this.#session.read({
        from: this.#position + 1,
        limit: PAGE,
        kinds: ["message", "task"],
      });
      for (const entry of entries) {
        if (entry.kind === "message") for (const id of parseNoticeIds(entry.message.meta)) told.add(id);
        const notice = this.#findNotice(entry);
        if (notice) found.push(notice);
        this.#position = entry.seq;
      }
      if (entries.length < PAGE) return found.filter(({ id }) => !told.has(id));
    }
  }

  /** Resolves when another notice arrives or the signal fires. */
  async wait(signal: AbortSignal): Promise<void> {
    const entries = this.#session.tail({ after: this.#position, kinds: ["task"], signal });
    for await (const entry of entries) if (this.#findNotice(entry)) return;
  }

  /** Ignores a task that worked in this same session, because its messages are already here. */
  #findNotice(entry: Entry): TaskNotice | undefined {
    if (entry.kind !== "task" || entry.note.type !== "notice") return undefined;
    return entry.note.notice.session === this.#session.id ? undefined : entry.note.notice;
  }
}

function parseCheckpoint(entry: Entry): number | undefined {
  if (entry.kind !== "task" || entry.note.type !== "checkpoint") return undefined;
  const { value } = entry.note;
  const at =
    typeof value === "object" && value !== null && "noticesTo" in value ? value.noticesTo : undefined;
  return typeof at === "number" ? at : undefined;
}

/** Receives the parts of a reply as they arrive, and then the whole reply. */
interface ReplySink {
  readonly see: (part: LanguageModelV4StreamPart) => Promise<void>;
  readonly store: (reply: WholeReply) => Promise<void>;
  /** Called when the stream ends, whole or not. */
  readonly end: () => void;
}

/** A whole reply and its usage. */
interface WholeReply {
  readonly message: MessageInput | undefined;
  readonly usage: LanguageModelV4Usage;
}

/**
 * Passes a stream through but holds back tool calls until the reply is complete and stored: no call runs that the log
 * does not contain, and a reply that breaks off has no effect and can be requested again.
 */
function holdToolCalls(
  { reader, readParts: read }: OpenedStream,
  model: string,
  { see, store, end }: ReplySink,
): ReadableStream<LanguageModelV4StreamPart> {
  const waiting = [...read];
  const held: LanguageModelV4StreamPart[] = [];
  const parts = new ReplyAssembler();
  let speaker = model;
  let isWhole = false;

  const next = async () => {
    const first = waiting.shift();
    return first ? { done: false, value: first } : reader.read();
  };
  const pull = async (controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>) => {
    for (;;) {
      const { done, value } = await next();
      if (done || !value) {
        if (!isWhole) throw createBrokenOffError();
        end();
        return controller.close();
      }
      parts.add(value);
      await see(value);
      if (value.type === "response-metadata") speaker = value.modelId ?? speaker;
      if (value.type === "tool-call" && value.providerExecuted !== true) {
        held.push(value);
        continue;
      }
      if (value.type === "finish") {
        const { unified } = value.finishReason;
        if (unified === "error" || unified === "interrupted") throw createBrokenOffError();
        await store({ message: decodeReply(parts.content(), speaker), usage: value.usage });
        isWhole = true;
        for (const call of held) controller.enqueue(call);
      }
      return controller.enqueue(value);
    }
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        await pull(controller);
      } catch (error) {
        end();
        throw error;
      }
    },
    cancel(reason) {
      end();
      return reader.cancel(reason);
    },
  });
}

function createBrokenOffError(): Error {
  return new Error("The model's answer broke off before its end.");
}
