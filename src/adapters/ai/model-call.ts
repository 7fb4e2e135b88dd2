import type { LanguageModelV4CallOptions, LanguageModelV4Usage } from "@ai-sdk/provider";
import { CallWindow, compactOnCommand, WindowPool } from "../../kernel/calls/call-window.ts";
import type { Conversation, PlacedMessages } from "../../kernel/calls/conversation.ts";
import type { UsageBody } from "../../kernel/faces/log.ts";
import type { ProviderFailure } from "../../kernel/faces/window.ts";
import {
  type EntryId,
  type FittedWindow,
  isLonghaulError,
  type Json,
  type MessageInput,
  type Session,
  type SessionWindowOptions,
  textOfMessage,
} from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { parseSdkUsage } from "../../wire/provider/ai-sdk/parse-sdk-usage.ts";
import { buildPrompt } from "./build-prompt.ts";
import { checkModelOptions, type LonghaulModelOptions, toWindowOptions } from "./longhaul-model-options.ts";
import { retrieveMessages } from "./retrieval.ts";
import { getConversation, type SdkCallerMessage, toCallerMessages } from "./sdk-conversation.ts";
import { listSdkParts, type SdkMessage } from "./sdk-message.ts";
import type { Media } from "./to-plain-message.ts";

/** Maximum number of resends per call; the window itself gives up sooner. */
const MAX_HEALS = 4;

/** Begins calls of one model in one session. */
export class ModelCalls {
  readonly #options: LonghaulModelOptions;
  readonly #conversation: Conversation<SdkCallerMessage>;
  readonly #windows: SdkWindows;

  constructor(options: LonghaulModelOptions) {
    this.#options = checkModelOptions(options);
    this.#conversation = getConversation(options.session);
    this.#windows = createSdkWindows(options.session, toWindowOptions(options));
  }

  /** True inside the session's own work, such as making a summary: such calls are not part of its conversation. */
  get areInsideTurn(): boolean {
    return this.#conversation.isInTurn;
  }

  /** Stores the new messages of a conversation and fits the window. Instructions come first and always stay. */
  async begin(
    messages: readonly SdkMessage[],
    frame: { readonly model: string; readonly tools: Json; readonly maxOutputTokens?: number | undefined },
    signal?: AbortSignal,
  ): Promise<ModelCall> {
    const said = messages.findIndex(({ role }) => role !== "system");
    const instructions = said < 0 ? messages : messages.slice(0, said);
    const media: Media = new Map();
    const given = toCallerMessages(messages.slice(instructions.length), media);
    const system = instructions
      .flatMap(listSdkParts)
      .map(({ text }) => String(text))
      .join("\n");
    const call = new ModelCall({
      conversation: this.#conversation,
      windows: this.#windows,
      options: this.#options,
      frame: { ...frame, model: this.#options.model ?? frame.model, system },
      instructions,
      callerMessages: given,
      media,
    });
    try {
      await call.fit(signal);
    } catch (error) {
      call.end();
      throw error;
    }
    return call;
  }
}

interface ModelCallDeps {
  readonly conversation: Conversation<SdkCallerMessage>;
  readonly windows: SdkWindows;
  readonly options: LonghaulModelOptions;
  readonly frame: CallFrame;
  readonly instructions: readonly SdkMessage[];
  readonly callerMessages: readonly SdkCallerMessage[];
  readonly media: Media;
}

/** A usage report with its model. */
export interface ModelUsage extends Omit<UsageBody, "kind"> {
  readonly model: string;
}

/** One call to a model: builds the prompt, rebuilds it after a refusal, and stores the reply. */
export class ModelCall {
  readonly #deps: ModelCallDeps;
  readonly #window: CallWindow<SdkCallerMessage>;
  #prompt: readonly SdkMessage[] = [];
  #lastEntry: EntryId | undefined;
  #maxOutputTokens: number | undefined;
  /** The caller's signal. */
  #signal: AbortSignal | undefined;

  constructor(deps: ModelCallDeps) {
    this.#deps = deps;
    this.#window = new CallWindow(deps.conversation, deps.windows.take(deps.frame), MAX_HEALS);
  }

  /** The messages to send. */
  get prompt(): readonly SdkMessage[] {
    return this.#prompt;
  }

  /** Replaces the prompt in a call's parameters, and lowers the output limit if needed; everything else stays. */
  buildParams(params: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
    const prompt = this.#prompt as LanguageModelV4CallOptions["prompt"];
    return withMaxOutput({ ...params, prompt }, this.#maxOutputTokens);
  }

  /** Stores the caller's messages and fits the window. */
  async fit(signal?: AbortSignal): Promise<void> {
    this.#signal = signal;
    await this.#deps.conversation.runInTurn(async () => {
      const placed = await this.#takeMessages(signal);
      await this.#runCommand(placed, signal);
      try {
        await this.#setPrompt(await this.#window.window.fit(signal ? { signal } : {}), placed);
      } catch (error) {
        if (!this.#canSendUnfitted(error)) throw error;
        const { instructions, callerMessages: given } = this.#deps;
        this.#prompt = [...instructions, ...given.map(({ sdk }) => sdk)];
        this.#lastEntry = placed.last;
      }
    });
  }

  /** A prompt that may not be clipped is sent unchanged, so that the provider decides, unless `oversize` is "error". */
  #canSendUnfitted(error: unknown): boolean {
    return isLonghaulError(error, "WINDOW_FLOOR") && this.#isWhole && this.#deps.options.oversize !== "error";
  }

  /** Returns true if the prompt was changed so that the call can be sent again. */
  async heal(error: unknown): Promise<boolean> {
    if (isLonghaulError(error) || !this.#window.canHeal) return false;
    return this.#deps.conversation.runInTurn(async () => {
      const placed = await this.#takeMessages();
      const fitted = await this.#window.heal(toProviderFailure(error));
      if (!fitted) return false;
      this.#maxOutputTokens = fitted.maxOutputTokens ?? this.#maxOutputTokens;
      await this.#setPrompt(fitted, placed);
      return true;
    });
  }

  /**
   * Appends a whole reply after the message it answers, and reports its usage. `append` finishes a draft if one was
   * begun.
   */
  async complete(
    reply: MessageInput | undefined,
    usage: LanguageModelV4Usage | undefined,
    append: (reply: MessageInput) => Promise<unknown> = (message) =>
      this.#deps.options.session.append(message),
  ): Promise<void> {
    try {
      await this.#deps.conversation.runInTurn(async () => {
        if (reply) {
          if (this.#isWhole) await this.#deps.conversation.endLineAt(this.#lastEntry);
          await append(reply);
        }
        const used = usage && parseSdkUsage(usage);
        if (used) await this.#window.report({ usage: used, model: this.#deps.frame.model, reply });
      });
      if (usage) await this.#deps.conversation.noteEnd(undefined);
    } finally {
      this.end();
    }
  }

  /** Ends a call whose reply and usage the caller stores; returns the report to store. */
  buildReport(
    usage: LanguageModelV4Usage | undefined,
    reply: MessageInput | undefined,
  ): ModelUsage | undefined {
    this.end();
    const used = usage && parseSdkUsage(usage);
    if (!used) return undefined;
    const { model } = this.#deps.frame;
    return { ...this.#window.buildReport({ usage: used, model, reply }), model };
  }

  /** Stores why the call ended without a whole reply, and ends it. */
  async fail(error: unknown): Promise<void> {
    this.end();
    const { message, status } = toProviderFailure(error);
    const isAbort = this.#signal?.aborted || (error instanceof Error && error.name === "AbortError");
    const words = `${message ?? String(error)}${status === undefined ? "" : ` (status ${status})`}`;
    const { healed } = this.#window;
    await this.#deps.conversation
      .noteEnd({
        by: isAbort ? "client" : isLonghaulError(error) ? "longhaul" : "provider",
        failure: words,
        ...(healed > 0 && { retries: healed }),
      })
      // The caller gets the error itself, whether the note can be stored or not.
      .catch(() => undefined);
  }

  /** Ends the call, whole or not: the next one may use its window. Ending it again does nothing. */
  end(): void {
    this.#window.end();
  }

  /** Runs `/compact` if the newest message is that command. */
  async #runCommand(
    { last }: PlacedMessages<SdkCallerMessage>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { callerMessages: given, options } = this.#deps;
    const newest = given.at(-1);
    if (newest?.message.role !== "user") return;
    const {
      threshold: _,
      maxMessages: __,
      maxTurns: ___,
      prepareAt: ____,
      ...compaction
    } = options.compaction ?? {};
    const how = { ...compaction, ...dropUndefined({ signal }) };
    await compactOnCommand(options.session, last, newest, how);
  }

  get #isWhole(): boolean {
    return this.#deps.options.history !== "session";
  }

  #takeMessages(signal?: AbortSignal): Promise<PlacedMessages<SdkCallerMessage>> {
    const { conversation } = this.#deps;
    const given = this.#withRetrieval(signal);
    return this.#isWhole ? conversation.takeAllMessages(given) : conversation.takeNewMessages(given);
  }

  /** The caller's messages, with recalled text before the newest one if it is a new user message. */
  #withRetrieval(signal: AbortSignal | undefined): readonly SdkCallerMessage[] {
    const { callerMessages: given, options } = this.#deps;
    const { retrieval, session } = options;
    const newest = given.at(-1);
    if (!retrieval || newest?.message.role !== "user") return given;
    const text = textOfMessage(newest.message);
    const before = () => retrieveMessages(retrieval, text, this.#window.window, session.id, signal);
    return [...given.slice(0, -1), { ...newest, before }];
  }

  async #setPrompt(fitted: FittedWindow, placed: PlacedMessages<SdkCallerMessage>): Promise<void> {
    const { instructions, callerMessages: given, media, options } = this.#deps;
    const source = { session: options.session.id, placed, given, media, blobs: options.blobs };
    const { memories } = fitted;
    const remembered: readonly SdkMessage[] =
      memories === undefined ? [] : [{ role: "system", content: memories }];
    this.#prompt = [...instructions, ...remembered, ...(await buildPrompt(fitted, source))];
    this.#lastEntry = placed.last;
  }
}

/** Extracts status, body and message from an error that the AI SDK threw or streamed. */
function toProviderFailure(error: unknown): ProviderFailure {
  if (typeof error === "string") return { message: error };
  if (typeof error !== "object" || error === null) return {};
  const { statusCode, responseBody, data, message } = error as { readonly [field: string]: unknown };
  const body = responseBody ?? data ?? (error instanceof Error ? undefined : error);
  return {
    ...(typeof statusCode === "number" && { status: statusCode }),
    ...dropUndefined({ body }),
    ...(typeof message === "string" && { message }),
  };
}

/**
 * Limits the output of a call, including reasoning, to `most` tokens; returns the parameters unchanged if `most` is
 * undefined.
 */
function withMaxOutput(
  params: LanguageModelV4CallOptions,
  most: number | undefined,
): LanguageModelV4CallOptions {
  if (most === undefined) return params;
  // AI SDK providers add the reasoning budget to the requested output.
  const left = Math.max(1, most - findReasoningBudget(params.providerOptions));
  return { ...params, maxOutputTokens: Math.min(params.maxOutputTokens ?? left, left) };
}

function findReasoningBudget(options: LanguageModelV4CallOptions["providerOptions"]): number {
  const budgets = Object.values(options ?? {}).map(({ thinking }) => {
    const isObject = typeof thinking === "object" && thinking !== null && "budgetTokens" in thinking;
    return isObject && typeof thinking.budgetTokens === "number" ? thinking.budgetTokens : 0;
  });
  return Math.max(0, ...budgets);
}

/** The parts of a request other than its messages. */
interface CallFrame {
  readonly model: string;
  readonly system: string;
  readonly tools: Json;
  readonly maxOutputTokens?: number | undefined;
}

/** The windows of a session for AI SDK calls; calls with the same frame reuse a window. */
type SdkWindows = WindowPool<CallFrame, string>;

const MAX_IDLE = 4;

/** Creates the windows of a session. */
function createSdkWindows(session: Session, options: Omit<SessionWindowOptions, "model">): SdkWindows {
  return new WindowPool({
    maxIdle: MAX_IDLE,
    toKey: (frame: CallFrame) => JSON.stringify(frame),
    isSimilar: (one, other) => one === other,
    open({ model, system, tools, maxOutputTokens }) {
      // Most providers count the requested output against the window.
      const output = maxOutputTokens === undefined ? {} : { maxOutputTokens };
      return session.window({ ...options, model, system, tools, ...output });
    },
  });
}
