import type { StepResult, ToolSet } from "ai";
import { type Agent, LonghaulError, type MessageInput, type Session, textOfMessage } from "../../index.ts";
import { checkFields } from "../../model/argument-checks.ts";
import { reapTagged, type TaskRecord } from "../../task-entry.ts";
import { retrieveMessages } from "../retrieval.ts";
import { resolveLanguageModel } from "../send-with-healing.ts";
import { toPlainMessage } from "../to-plain-message.ts";
import {
  type AiSdkAgentOptions,
  type AiSdkAgentResult,
  resolveOption,
  type SessionContext,
} from "./ai-sdk-agent-options.ts";
import { hasInput, markTaskInput, readConversationState, toInputMessage } from "./conversation-state.ts";
import { buildNoticeMessage } from "./notice-message.ts";
import { Notices } from "./notices.ts";
import { buildErrorResults, findCallsToRun } from "./pending-calls.ts";
import { type EventSink, relayEvents } from "./relay-events.ts";
import { createStepModel } from "./step-model.ts";
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
    ...(id !== undefined && { model: id }),
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
