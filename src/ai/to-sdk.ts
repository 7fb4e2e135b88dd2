import { objectOf } from "../formats/content/fields.ts";
import { modelPart, resultPart } from "../formats/writing/ai-sdk-parts.ts";
import type { ExportedSession } from "../formats/writing/writer.ts";
import type { BlobPart, Json, Message, Part, ToolResultPart } from "../index.ts";
import { hasInputOf, keyOf } from "./said-key.ts";
import { partsOf, type SdkMessage, type SdkPart } from "./sdk-message.ts";

/** Returns the bytes of media; undefined if they are not available. */
export type BytesOf = (part: BlobPart) => Promise<Uint8Array | undefined>;

/** A caller's message, in our format and in the AI SDK's. */
export interface OwnMessage {
  readonly sdk: SdkMessage;
  readonly message: Message;
}

/**
 * Converts a message of a window to AI SDK messages. Parts that the caller's own message contains are reused, with
 * everything that providers expect back; only changed parts are rewritten.
 */
export async function sdkMessages(
  message: Message,
  own: OwnMessage | undefined,
  toolNames: ReadonlyMap<string, string>,
  bytesOf: BytesOf,
): Promise<readonly SdkMessage[]> {
  const writing = new Writing(message, own, toolNames, bytesOf);
  const results: SdkPart[] = [];
  const said: SdkPart[] = [];
  for (const [index, part] of message.parts.entries()) {
    const isResult = part.type === "tool-result";
    const written = await writing.part(part, index);
    if (written) (isResult && message.role !== "assistant" ? results : said).push(written);
  }
  const providerOptions = writing.options();
  const options = providerOptions === undefined ? {} : { providerOptions };
  const role = message.role === "tool" ? "user" : message.role;
  const messages: SdkMessage[] = [];
  if (results.length > 0) messages.push({ role: "tool", content: results, ...options });
  if (said.length > 0) messages.push({ role, content: role === "system" ? words(said) : said, ...options });
  return messages;
}

class Writing {
  readonly #message: Message;
  readonly #toolNames: ReadonlyMap<string, string>;
  readonly #bytesOf: BytesOf;
  readonly #own = new Map<string, { readonly sdk: SdkPart; readonly part: Part }>();
  readonly #ownResults = new Map<unknown, SdkPart>();
  readonly #ownSdk: SdkMessage | undefined;

  constructor(
    message: Message,
    own: OwnMessage | undefined,
    toolNames: ReadonlyMap<string, string>,
    bytesOf: BytesOf,
  ) {
    this.#message = message;
    this.#toolNames = toolNames;
    this.#bytesOf = bytesOf;
    const ownParts = own ? partsOf(own.sdk) : [];
    // Indexes match only if every part was converted to one of ours.
    if (own && ownParts.length === own.message.parts.length) {
      for (const [index, part] of own.message.parts.entries())
        this.#own.set(exactKey(part), { sdk: ownParts[index] as SdkPart, part });
    }
    for (const part of ownParts) if (part.type === "tool-result") this.#ownResults.set(part.toolCallId, part);
    const isShared = message.parts.some((part) => this.#ownPart(part) !== undefined);
    this.#ownSdk = isShared ? own?.sdk : undefined;
  }

  async part(part: Part, index: number): Promise<SdkPart | undefined> {
    const own = this.#own.get(exactKey(part));
    if (own) return withInputOf(part, this.#isUnlinked ? withoutItem(own.sdk) : own.sdk, own.part);
    const extra = this.#ownSdk ? {} : this.#extra(index);
    const { source, missing } = await this.#source(part);
    if (missing) return missing;
    if (part.type !== "tool-result") return written(await modelPart({ part, ...extra }, source));
    const given = this.#ownResults.get(part.callId);
    const callName = this.#toolNames.get(part.callId) ?? String(given?.toolName ?? "tool");
    const result = written(
      await resultPart({ part: await this.#loadable(part), callName, ...extra }, source),
    );
    const options = given?.providerOptions;
    return result && options !== undefined ? { ...result, providerOptions: options } : result;
  }

  /** The provider options of the message itself. */
  options(): SdkMessage["providerOptions"] {
    if (this.#ownSdk) return this.#ownSdk.providerOptions;
    const kept = objectOf(this.#message.meta?.["ai-sdk"])?.providerOptions;
    return kept as SdkMessage["providerOptions"];
  }

  /**
   * True if reasoning was removed: OpenAI refuses items referenced by id if their reasoning is missing, but accepts
   * their full text.
   */
  get #isUnlinked(): boolean {
    const hasReasoning = this.#ownSdk && partsOf(this.#ownSdk).some(({ type }) => type === "reasoning");
    return hasReasoning === true && !this.#message.parts.some(({ type }) => type === "reasoning");
  }

  #ownPart(part: Part): SdkPart | undefined {
    return part.type === "tool-result"
      ? this.#ownResults.get(part.callId)
      : this.#own.get(exactKey(part))?.sdk;
  }

  /** Extra fields of a part. They are stored by index, so a message whose parts have changed has none. */
  #extra(index: number): { readonly extra?: { readonly [field: string]: Json } } {
    const extras = objectOf(objectOf(this.#message.meta?.["ai-sdk"])?.extras);
    const extra = objectOf(extras?.[String(index)]) as { readonly [field: string]: Json } | undefined;
    const part = this.#message.parts[index];
    // A stub or an extract has replaced the original part.
    return extra && !(part?.type === "text" && "type" in extra) ? { extra } : {};
  }

  /** Replaces media whose bytes are not available with a text. */
  async #loadable(part: ToolResultPart): Promise<ToolResultPart> {
    const output: ToolResultPart["output"][number][] = [];
    for (const piece of part.output) {
      const isGone = piece.type === "blob" && (await this.#bytesOf(piece)) === undefined;
      output.push(isGone ? wordOf(piece) : piece);
    }
    return { ...part, output };
  }

  /** A partial `ExportedSession` that only provides the bytes of media. */
  async #source(part: Part): Promise<{ readonly source: ExportedSession; readonly missing?: SdkPart }> {
    const base64 = async (blob: BlobPart) =>
      Buffer.from((await this.#bytesOf(blob)) ?? []).toString("base64");
    const needed: Pick<ExportedSession, "base64"> = { base64 };
    const source = needed as ExportedSession;
    const isGone = part.type === "blob" && (await this.#bytesOf(part)) === undefined;
    return isGone ? { source, missing: { ...wordOf(part) } } : { source };
  }
}

/** Text that replaces media whose bytes are not available. */
function wordOf({ mime, sizeBytes, name }: BlobPart) {
  return { type: "text", text: `[${name ?? "file"}: ${mime}, ${sizeBytes} bytes, not at hand]` } as const;
}

function written(part: { readonly [field: string]: unknown } | undefined): SdkPart | undefined {
  return part as SdkPart | undefined;
}

function withoutItem(part: SdkPart): SdkPart {
  const options = objectOf(part.providerOptions);
  const openai = objectOf(options?.openai);
  if (!openai) return part;
  const { itemId: _, ...rest } = openai;
  return { ...part, providerOptions: { ...options, openai: rest } };
}

/**
 * The caller's part, with the input of a call that was cleared or clipped. Clients check the inputs of tools that the
 * provider ran, so those stay.
 */
function withInputOf(part: Part, sdk: SdkPart, original: Part): SdkPart {
  const isEdited = part.type === "tool-call" && !hasInputOf(part, original);
  return isEdited && sdk.providerExecuted !== true ? { ...sdk, input: part.input } : sdk;
}

/** A key for exact equality, including reasoning, but without the input of a call. */
function exactKey(part: Part): string {
  return part.type === "reasoning" ? `reasoning ${JSON.stringify(part)}` : (keyOf(part) ?? "");
}

function words(parts: readonly SdkPart[]): string {
  return parts.map(({ text }) => String(text ?? "")).join("\n");
}
