import type { LanguageModelV4CallOptions, LanguageModelV4Usage } from "@ai-sdk/provider";
import { compactOnCommand } from "../conversation/compact-on-command.ts";
import type { Conversation, Placed } from "../conversation/conversation.ts";
import { ranServerTools } from "../conversation/server-tools.ts";
import type { EntryId, Fitted, Json, MessageInput, UsageBody } from "../index.ts";
import { isLonghaulError, textOfMessage } from "../index.ts";
import { usageOf } from "../provider/ai-sdk/usage-of.ts";
import { conversationOf, type GivenMessage, givenMessages } from "./conversation.ts";
import { failureOf } from "./failure-of.ts";
import { fittedPrompt } from "./fitted-prompt.ts";
import { withMaxOutput } from "./lowered-output.ts";
import { checked, type LonghaulModelOptions, windowOptionsOf } from "./options.ts";
import type { Media } from "./plain-message.ts";
import { retrieved } from "./retrieval.ts";
import { partsOf, type SdkMessage } from "./sdk-message.ts";
import { type Frame, Windows } from "./windows.ts";

/** Maximum number of resends per call; the window itself gives up sooner. */
const MOST_HEALED = 4;

/** Begins calls of one model in one session. */
export class Calls {
  readonly #options: LonghaulModelOptions;
  readonly #conversation: Conversation<GivenMessage>;
  readonly #windows: Windows;

  constructor(options: LonghaulModelOptions) {
    this.#options = checked(options);
    this.#conversation = conversationOf(options.session);
    this.#windows = new Windows(options.session, windowOptionsOf(options));
  }

  /** True inside the session's own work, such as making a summary: such calls are not part of its conversation. */
  get areSilent(): boolean {
    return this.#conversation.isInTurn;
  }

  /** Stores the new messages of a conversation and fits the window. Instructions come first and always stay. */
  async begin(
    messages: readonly SdkMessage[],
    frame: { readonly model: string; readonly tools: Json; readonly maxOutputTokens?: number | undefined },
    signal?: AbortSignal,
  ): Promise<Call> {
    const said = messages.findIndex(({ role }) => role !== "system");
    const instructions = said < 0 ? messages : messages.slice(0, said);
    const media: Media = new Map();
    const given = givenMessages(messages.slice(instructions.length), media);
    const system = instructions
      .flatMap(partsOf)
      .map(({ text }) => String(text))
      .join("\n");
    const call = new Call({
      conversation: this.#conversation,
      windows: this.#windows,
      options: this.#options,
      frame: { ...frame, model: this.#options.model ?? frame.model, system },
      instructions,
      given,
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

interface CallParts {
  readonly conversation: Conversation<GivenMessage>;
  readonly windows: Windows;
  readonly options: LonghaulModelOptions;
  readonly frame: Frame;
  readonly instructions: readonly SdkMessage[];
  readonly given: readonly GivenMessage[];
  readonly media: Media;
}

/** A usage report with its model. */
export interface UsageReported extends Omit<UsageBody, "kind"> {
  readonly model: string;
}

/** One call to a model: builds the prompt, rebuilds it after a refusal, and stores the reply. */
export class Call {
  readonly #parts: CallParts;
  readonly #window: ReturnType<Windows["take"]>;
  #prompt: readonly SdkMessage[] = [];
  #last: EntryId | undefined;
  #healed = 0;
  #maxOutputTokens: number | undefined;

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#window = parts.windows.take(parts.frame);
  }

  /** The messages to send. */
  get prompt(): readonly SdkMessage[] {
    return this.#prompt;
  }

  /** Replaces the prompt in a call's parameters, and lowers the output limit if needed; everything else stays. */
  paramsWith(params: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
    const prompt = this.#prompt as LanguageModelV4CallOptions["prompt"];
    return withMaxOutput({ ...params, prompt }, this.#maxOutputTokens);
  }

  /** Stores the caller's messages and fits the window. */
  async fit(signal?: AbortSignal): Promise<void> {
    await this.#parts.conversation.inTurn(async () => {
      const placed = await this.#take(signal);
      await this.#carryOutCommand(placed, signal);
      try {
        await this.#use(await this.#window.window.fit(signal ? { signal } : {}), placed);
      } catch (error) {
        if (!this.#isSentAnyway(error)) throw error;
        const { instructions, given } = this.#parts;
        this.#prompt = [...instructions, ...given.map(({ sdk }) => sdk)];
        this.#last = placed.last;
      }
    });
  }

  /** A prompt that may not be clipped is sent unchanged, so that the provider decides, unless `oversize` is "error". */
  #isSentAnyway(error: unknown): boolean {
    return (
      isLonghaulError(error, "WINDOW_FLOOR") && this.#isWhole && this.#parts.options.oversize !== "error"
    );
  }

  /** Returns true if the prompt was changed so that the call can be sent again. */
  async heals(error: unknown): Promise<boolean> {
    if (isLonghaulError(error) || this.#healed >= MOST_HEALED) return false;
    return this.#parts.conversation.inTurn(async () => {
      const placed = await this.#take();
      const fitted = await this.#window.window.heal(failureOf(error));
      if (!fitted) return false;
      this.#healed++;
      this.#maxOutputTokens = fitted.maxOutputTokens ?? this.#maxOutputTokens;
      await this.#use(fitted, placed);
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
      this.#parts.options.session.append(message),
  ): Promise<void> {
    try {
      await this.#parts.conversation.inTurn(async () => {
        if (reply) {
          if (this.#isWhole) await this.#parts.conversation.standBehind(this.#last);
          await append(reply);
        }
        const used = usage && usageOf(usage);
        if (!used) return;
        const options = { model: this.#parts.frame.model, ranServerTools: ranServerTools(reply) };
        await this.#window.window.report(used, options);
      });
    } finally {
      this.end();
    }
  }

  /** Ends a call whose reply and usage the caller stores; returns the report to store. */
  reportOf(
    usage: LanguageModelV4Usage | undefined,
    reply: MessageInput | undefined,
  ): UsageReported | undefined {
    this.end();
    const used = usage && usageOf(usage);
    if (!used) return undefined;
    const { model } = this.#parts.frame;
    const report = this.#window.window.reportOf(used, { model, ranServerTools: ranServerTools(reply) });
    return { ...report, model };
  }

  /** Ends the call, whole or not: the next one may use its window. Ending it again does nothing. */
  end(): void {
    this.#window.giveBack();
  }

  /** Runs `/compact` if the newest message is that command. */
  async #carryOutCommand({ last }: Placed<GivenMessage>, signal: AbortSignal | undefined): Promise<void> {
    const { given, options } = this.#parts;
    const newest = given.at(-1);
    if (newest?.message.role !== "user") return;
    const { threshold: _, maxMessages: __, prepareAt: ___, ...compaction } = options.compaction ?? {};
    const how = { ...compaction, ...(signal && { signal }) };
    await compactOnCommand(options.session, { id: last, message: newest.input }, how);
  }

  get #isWhole(): boolean {
    return this.#parts.options.history !== "session";
  }

  #take(signal?: AbortSignal): Promise<Placed<GivenMessage>> {
    const { conversation } = this.#parts;
    const given = this.#withRetrieval(signal);
    return this.#isWhole ? conversation.takeWhole(given) : conversation.takeNew(given);
  }

  /** The caller's messages, with recalled text before the newest one if it is a new user message. */
  #withRetrieval(signal: AbortSignal | undefined): readonly GivenMessage[] {
    const { given, options } = this.#parts;
    const { retrieval, session } = options;
    const newest = given.at(-1);
    if (!retrieval || newest?.message.role !== "user") return given;
    const text = textOfMessage(newest.message);
    const before = () => retrieved(retrieval, text, this.#window.window, session.id, signal);
    return [...given.slice(0, -1), { ...newest, before }];
  }

  async #use(fitted: Fitted, placed: Placed<GivenMessage>): Promise<void> {
    const { instructions, given, media, options } = this.#parts;
    const source = { session: options.session.id, placed, given, media, blobs: options.blobs };
    const { memories } = fitted;
    const remembered: readonly SdkMessage[] =
      memories === undefined ? [] : [{ role: "system", content: memories }];
    this.#prompt = [...instructions, ...remembered, ...(await fittedPrompt(fitted, source))];
    this.#last = placed.last;
  }
}
