import type { ExportedSession } from "../../histories/index.ts";
import type { BlobPart, Json, Message, Part, ToolResultPart } from "../../kernel/index.ts";
import { encodeModelPart, encodeResultPart } from "../../wire/ai-sdk/ai-sdk-part-encode.ts";
import { toObject } from "../../wire/fields.ts";
import { computePartKey, hasInputOf } from "./compute-message-key.ts";
import { listSdkParts, type SdkMessage, type SdkMessagePart } from "./sdk-message.ts";

/** Returns the bytes of media; undefined if they are not available. */
export type MediaReader = (part: BlobPart) => Promise<Uint8Array | undefined>;

/** A caller's message, in our format and in the AI SDK's. */
export interface SdkMessagePair {
  readonly sdk: SdkMessage;
  readonly message: Message;
}

/**
 * Converts a message of a window to AI SDK messages. Parts that the caller's own message contains are reused, with
 * everything that providers expect back; only changed parts are rewritten.
 */
export async function encodeSdkMessages(
  message: Message,
  own: SdkMessagePair | undefined,
  toolNames: ReadonlyMap<string, string>,
  bytesOf: MediaReader,
): Promise<readonly SdkMessage[]> {
  const writing = new SdkMessageEncoder(message, own, toolNames, bytesOf);
  const results: SdkMessagePart[] = [];
  const said: SdkMessagePart[] = [];
  for (const [index, part] of message.parts.entries()) {
    const isResult = part.type === "tool-result";
    const written = await writing.encodePart(part, index);
    if (written) (isResult && message.role !== "assistant" ? results : said).push(written);
  }
  const providerOptions = writing.getProviderOptions();
  const options = providerOptions === undefined ? {} : { providerOptions };
  const role = message.role === "tool" ? "user" : message.role;
  const messages: SdkMessage[] = [];
  if (results.length > 0) messages.push({ role: "tool", content: results, ...options });
  if (said.length > 0)
    messages.push({ role, content: role === "system" ? joinTexts(said) : said, ...options });
  return messages;
}

class SdkMessageEncoder {
  readonly #message: Message;
  readonly #toolNames: ReadonlyMap<string, string>;
  readonly #bytesOf: MediaReader;
  readonly #ownParts = new Map<string, { readonly sdk: SdkMessagePart; readonly part: Part }>();
  readonly #ownResults = new Map<unknown, SdkMessagePart>();
  readonly #ownSdk: SdkMessage | undefined;

  constructor(
    message: Message,
    own: SdkMessagePair | undefined,
    toolNames: ReadonlyMap<string, string>,
    bytesOf: MediaReader,
  ) {
    this.#message = message;
    this.#toolNames = toolNames;
    this.#bytesOf = bytesOf;
    const ownParts = own ? listSdkParts(own.sdk) : [];
    // Indexes match only if every part was converted to one of ours.
    if (own && ownParts.length === own.message.parts.length) {
      for (const [index, part] of own.message.parts.entries())
        this.#ownParts.set(computeExactKey(part), { sdk: ownParts[index] as SdkMessagePart, part });
    }
    for (const part of ownParts) if (part.type === "tool-result") this.#ownResults.set(part.toolCallId, part);
    const isShared = message.parts.some((part) => this.#findOwnPart(part) !== undefined);
    this.#ownSdk = isShared ? own?.sdk : undefined;
  }

  async encodePart(part: Part, index: number): Promise<SdkMessagePart | undefined> {
    const own = this.#ownParts.get(computeExactKey(part));
    if (own) return withInputOf(part, this.#isUnlinked ? removeItemId(own.sdk) : own.sdk, own.part);
    const extra = this.#ownSdk ? {} : this.#findExtra(index);
    const { source, missing } = await this.#createSource(part);
    if (missing) return missing;
    if (part.type !== "tool-result") return toSdkPart(await encodeModelPart({ part, ...extra }, source));
    const given = this.#ownResults.get(part.callId);
    const callName = this.#toolNames.get(part.callId) ?? String(given?.toolName ?? "tool");
    const result = toSdkPart(
      await encodeResultPart({ part: await this.#replaceMissingMedia(part), callName, ...extra }, source),
    );
    const options = given?.providerOptions;
    return result && options !== undefined ? { ...result, providerOptions: options } : result;
  }

  /** The provider options of the message itself. */
  getProviderOptions(): SdkMessage["providerOptions"] {
    if (this.#ownSdk) return this.#ownSdk.providerOptions;
    const kept = toObject(this.#message.meta?.["ai-sdk"])?.providerOptions;
    return kept as SdkMessage["providerOptions"];
  }

  /**
   * True if reasoning was removed: OpenAI refuses items referenced by id if their reasoning is missing, but accepts
   * their full text.
   */
  get #isUnlinked(): boolean {
    const hasReasoning = this.#ownSdk && listSdkParts(this.#ownSdk).some(({ type }) => type === "reasoning");
    return hasReasoning === true && !this.#message.parts.some(({ type }) => type === "reasoning");
  }

  #findOwnPart(part: Part): SdkMessagePart | undefined {
    return part.type === "tool-result"
      ? this.#ownResults.get(part.callId)
      : this.#ownParts.get(computeExactKey(part))?.sdk;
  }

  /** Extra fields of a part. They are stored by index, so a message whose parts have changed has none. */
  #findExtra(index: number): { readonly extra?: { readonly [field: string]: Json } } {
    const extras = toObject(toObject(this.#message.meta?.["ai-sdk"])?.extras);
    const extra = toObject(extras?.[String(index)]) as { readonly [field: string]: Json } | undefined;
    const part = this.#message.parts[index];
    // A stub or an extract has replaced the original part.
    return extra && !(part?.type === "text" && "type" in extra) ? { extra } : {};
  }

  /** Replaces media whose bytes are not available with a text. */
  async #replaceMissingMedia(part: ToolResultPart): Promise<ToolResultPart> {
    const output: ToolResultPart["output"][number][] = [];
    for (const piece of part.output) {
      const isGone = piece.type === "blob" && (await this.#bytesOf(piece)) === undefined;
      output.push(isGone ? describeMissingMedia(piece) : piece);
    }
    return { ...part, output };
  }

  /** A partial `ExportedSession` that only provides the bytes of media. */
  async #createSource(
    part: Part,
  ): Promise<{ readonly source: ExportedSession; readonly missing?: SdkMessagePart }> {
    const base64 = async (blob: BlobPart) =>
      Buffer.from((await this.#bytesOf(blob)) ?? []).toString("base64");
    const needed: Pick<ExportedSession, "base64"> = { base64 };
    const source = needed as ExportedSession;
    const isGone = part.type === "blob" && (await this.#bytesOf(part)) === undefined;
    return isGone ? { source, missing: { ...describeMissingMedia(part) } } : { source };
  }
}

/** Text that replaces media whose bytes are not available. */
function describeMissingMedia({ mime, sizeBytes, name }: BlobPart) {
  return { type: "text", text: `[${name ?? "file"}: ${mime}, ${sizeBytes} bytes, not at hand]` } as const;
}

function toSdkPart(part: { readonly [field: string]: unknown } | undefined): SdkMessagePart | undefined {
  return part as SdkMessagePart | undefined;
}

function removeItemId(part: SdkMessagePart): SdkMessagePart {
  const options = toObject(part.providerOptions);
  const openai = toObject(options?.openai);
  if (!openai) return part;
  const { itemId: _, ...rest } = openai;
  return { ...part, providerOptions: { ...options, openai: rest } };
}

/**
 * The caller's part, with the input of a call that was cleared or clipped. Clients check the inputs of tools that the
 * provider ran, so those stay.
 */
function withInputOf(part: Part, sdk: SdkMessagePart, original: Part): SdkMessagePart {
  const isEdited = part.type === "tool-call" && !hasInputOf(part, original);
  return isEdited && sdk.providerExecuted !== true ? { ...sdk, input: part.input } : sdk;
}

/** A key for exact equality, including reasoning, but without the input of a call. */
function computeExactKey(part: Part): string {
  return part.type === "reasoning" ? `reasoning ${JSON.stringify(part)}` : (computePartKey(part) ?? "");
}

function joinTexts(parts: readonly SdkMessagePart[]): string {
  return parts.map(({ text }) => String(text ?? "")).join("\n");
}
