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

/** How often one call is sent again; the window itself gives up sooner. */
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

  /** True inside the work of the session itself, as for a summary: such calls are none of its conversation. */
  get areSilent(): boolean {
    return this.#conversation.isInTurn;
  }

  /** Stores what is new of a conversation and fits the window. Instructions come first and always stay. */
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
    await call.fit(signal);
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

/** What a call has used, with what is worth keeping beside it. */
export interface UsageReported extends Omit<UsageBody, "kind"> {
  readonly model: string;
}

/** One call to a model: what it is sent, sent again when it was refused, and what became of it. */
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

  /** What the model is sent. */
  get prompt(): readonly SdkMessage[] {
    return this.#prompt;
  }

  /** The same in place of the prompt of a call's parameters; all else stays as it is. */
  paramsWith(params: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
    const prompt = this.#prompt as LanguageModelV4CallOptions["prompt"];
    return withMaxOutput({ ...params, prompt }, this.#maxOutputTokens);
  }

  /** Takes in what the caller said and fits the window. */
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

  /** What may not be clipped goes out as the caller wrote it, so that the provider answers; unless an error was asked for. */
  #isSentAnyway(error: unknown): boolean {
    return (
      isLonghaulError(error, "WINDOW_FLOOR") && this.#isWhole && this.#parts.options.oversize !== "error"
    );
  }

  /** True if the prompt was changed so that the call can be sent again. */
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

  /** Appends a whole reply behind what it answers, and what it used. `append` does it where a draft has begun. */
  async complete(
    reply: MessageInput | undefined,
    usage: LanguageModelV4Usage | undefined,
    append: (reply: MessageInput) => Promise<unknown> = (message) =>
      this.#parts.options.session.append(message),
  ): Promise<void> {
    await this.#parts.conversation.inTurn(async () => {
      if (reply) {
        if (this.#isWhole) await this.#parts.conversation.standBehind(this.#last);
        await append(reply);
      }
      const used = usage && usageOf(usage);
      if (!used) return;
      const options = { model: this.#parts.frame.model, ranServerTools: ranServerTools(reply) };
      await this.#window.window.report(used, options);
      this.#window.giveBack();
    });
  }

  /** Ends a call whose reply and usage are stored by someone else; returns the report to store. */
  reportOf(
    usage: LanguageModelV4Usage | undefined,
    reply: MessageInput | undefined,
  ): UsageReported | undefined {
    const used = usage && usageOf(usage);
    if (!used) return undefined;
    const { model } = this.#parts.frame;
    const report = this.#window.window.reportOf(used, { model, ranServerTools: ranServerTools(reply) });
    this.#window.giveBack();
    return { ...report, model };
  }

  /** A person typed `/compact`. */
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

  /** What was given, with recalled text before the newest message if that is the user's and new. */
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
