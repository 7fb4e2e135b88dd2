import { createHash } from "node:crypto";
import type { BlobInput, Json, MessageInput, PartInput, ToolResultInput } from "../../../kernel/index.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import type { Turns } from "../../../model/base/turns.ts";
import { sniffMime } from "../../../model/mime.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import { base64Slices, hasMark, type LiftedValue, MARK, rawSlices, textSlices } from "./lift.ts";

/** A message whose large values stay in the body and are streamed to the store from there. */
export interface LiftedMessage {
  readonly key: string;
  readonly input: MessageInput;
  /** The message with large texts cut to their beginnings. */
  readonly brief: MessageInput;
}

/** The placeholders of a message, and the settings for replacing them. */
interface LiftedSource extends Placeholders {
  /** Format name for raw parts. */
  readonly format: string;
  readonly turns: Turns;
}

type Output = Exclude<ToolResultInput["output"], string>[number];

/** Replaces the placeholders of a parsed message with blobs that are streamed from the body. */
export async function liftedMessage(read: MessageInput, source: LiftedSource): Promise<LiftedMessage> {
  const lifting = new Lifting(source);
  const original = read.parts ?? [{ type: "text" as const, text: read.text ?? "" }];
  const parts: PartInput[] = [];
  const keyed: PartInput[] = [];
  for (const part of original) {
    const lifted = await lifting.part(part);
    parts.push(lifted);
    // The key of a raw part ignores some of its fields, so it is computed from the original part.
    keyed.push(part.type === "raw" ? part : lifted);
  }
  const { text: _, ...message } = read;
  const meta = read.meta && hasMark(JSON.stringify(read.meta)) ? shortenedMeta(read.meta) : read.meta;
  for (const part of lifting.unused()) {
    keyed.push(part);
    parts.push(await lifting.part(part));
  }
  const lead = { ...message, ...dropUndefined({ meta }) };
  const brief = { ...lead, parts: original.map(briefPart) };
  return { key: buildCanonicalKey({ ...lead, parts: keyed }), input: { ...lead, parts }, brief };
}

function shortenedMeta(meta: NonNullable<MessageInput["meta"]>): NonNullable<MessageInput["meta"]> {
  return JSON.parse(shortened(JSON.stringify(meta)));
}

function briefPart(part: PartInput): PartInput {
  return part.type === "text" ? { ...part, text: shortened(part.text) } : part;
}

class Lifting {
  readonly #source: LiftedSource;
  readonly #used = new Set<string>();

  constructor(source: LiftedSource) {
    this.#source = source;
  }

  /** Large values that no part refers to, as raw parts. */
  unused(): readonly PartInput[] {
    const left = [...this.#source.values].filter(([mark]) => !this.#used.has(mark));
    return left.map(([, { placeholder }]) => this.#raw(placeholder));
  }

  async part(part: PartInput): Promise<PartInput> {
    switch (part.type) {
      case "text":
        return hasMark(part.text) ? this.#text(part.text) : part;
      case "data":
        return typeof part.data === "string" && hasMark(part.data) ? this.#media(part, part.data) : part;
      case "tool-result":
        return this.#result(part);
      case "tool-call": {
        const { callId, name: toolName } = part;
        return this.#json(part, "tool-call", { callId, toolName });
      }
      case "reasoning":
      case "raw":
        return this.#json(part, part.type, {});
      case "blob":
        return part;
    }
  }

  async #result(part: ToolResultInput): Promise<ToolResultInput> {
    const { output } = part;
    if (typeof output === "string")
      return hasMark(output) ? { ...part, output: [(await this.#text(output)) as Output] } : part;
    const lifted: Output[] = [];
    for (const inner of output) lifted.push((await this.part(inner)) as Output);
    return { ...part, output: lifted };
  }

  async #text(text: string): Promise<PartInput> {
    const only = standsFor(this.#source, text);
    if (only && !only.isText) return this.part(this.#raw(text));
    this.#uses(text);
    const bytes = () => undone(this.#source, text, "text");
    const { digest, sizeBytes } = only ?? (await this.#digested(bytes()));
    const preview = shortened(text);
    return this.#blob({ type: "blob", of: "text", digest, sizeBytes, mime: "text/plain", preview }, bytes);
  }

  async #media(part: Extract<PartInput, { type: "data" }>, data: string): Promise<PartInput> {
    const value = markedIn(this.#source, data);
    if (!value) return part;
    this.#uses(data);
    const bytes = () => base64Slices(this.#source.body, value);
    const mime = part.mime ?? sniffMime(Buffer.from(data.slice(0, 64), "base64")) ?? "";
    const name = part.name === undefined ? {} : { name: part.name };
    return this.#blob({ type: "blob", ...(await this.#digested(bytes())), mime, ...name }, bytes);
  }

  /** A part stored as JSON. Until it is stored, the hash of the JSON with placeholders serves as its digest. */
  #json(
    part: Exclude<PartInput, { type: "tool-result" | "data" | "blob" }>,
    of: BlobInput["of"] & string,
    call: Pick<BlobInput, "callId" | "toolName">,
  ): PartInput {
    const json = JSON.stringify(part);
    if (!hasMark(json)) return part;
    this.#uses(json);
    const bytes = () => undone(this.#source, json, "json");
    const known = { digest: computeDigest(json), sizeBytes: this.#sizeOf(json), mime: "application/json" };
    return this.#blob(
      { type: "blob", of, ...known, preview: shortened(json).slice(0, 2_000), ...call },
      bytes,
    );
  }

  #blob(part: BlobInput, bytes: () => Iterable<Uint8Array>): BlobInput {
    const { turns } = this.#source;
    return { ...part, bytes: () => inTurns(bytes(), turns) };
  }

  #raw(placeholder: string): PartInput {
    return { type: "raw", format: this.#source.format, value: placeholder as Json };
  }

  #uses(text: string): void {
    for (const [mark] of text.matchAll(MARK)) this.#used.add(mark);
  }

  #sizeOf(json: string): number {
    const marks = json.match(MARK) ?? [];
    return marks.reduce((sum, mark) => sum + (this.#source.values.get(mark)?.sizeBytes ?? 0), json.length);
  }

  async #digested(bytes: Iterable<Uint8Array>): Promise<Pick<LiftedValue, "digest" | "sizeBytes">> {
    const digest = createHash("sha256");
    let sizeBytes = 0;
    for (const slice of bytes) {
      digest.update(slice);
      sizeBytes += slice.length;
      await this.#source.turns.rest();
    }
    return { digest: digest.digest("hex"), sizeBytes };
  }
}

async function* inTurns(bytes: Iterable<Uint8Array>, turns: Turns): AsyncGenerator<Uint8Array> {
  for (const slice of bytes) {
    await turns.rest();
    yield slice;
  }
}

/** A piece of a text: literal text, or the value of a placeholder. */
type Stretch = string | LiftedValue;

/** Notation of placeholders in a text: literal, or as JSON strings with quotes. */
type Writing = "text" | "json";

/** The large values of a message by mark, and the body that contains them. */
interface Placeholders {
  readonly body: Buffer;
  readonly values: ReadonlyMap<string, LiftedValue>;
}

/** The value of a text that is exactly one placeholder; undefined for any other text. */
function standsFor({ values }: Placeholders, text: string): LiftedValue | undefined {
  if (!hasMark(text)) return undefined;
  const value = values.get(text.match(MARK)?.[0] ?? "");
  return value?.placeholder === text ? value : undefined;
}

/** The value of the last mark in a text, regardless of the text before it. */
function markedIn({ values }: Placeholders, text: string): LiftedValue | undefined {
  return hasMark(text) ? values.get(text.match(MARK)?.at(-1) ?? "") : undefined;
}

/** The bytes of a text with its placeholders replaced by their values, piece by piece. */
function* undone(placeholders: Placeholders, text: string, writing: Writing): Generator<Uint8Array> {
  for (const stretch of stretchesOf(placeholders, text, writing)) {
    if (typeof stretch === "string") yield Buffer.from(stretch);
    else if (writing === "json" || !stretch.isText) yield* rawSlices(placeholders.body, stretch);
    else for (const { bytes } of textSlices(placeholders.body, stretch)) yield bytes;
  }
}

/** Shortens each placeholder to the beginning of its value and an ellipsis. */
function shortened(text: string): string {
  return hasMark(text) ? text.replace(MARK, "…") : text;
}

function* stretchesOf({ values }: Placeholders, text: string, writing: Writing): Generator<Stretch> {
  let at = 0;
  for (const { 0: mark, index } of text.matchAll(MARK)) {
    const value = values.get(mark);
    if (!value) continue;
    const written = writing === "json" ? JSON.stringify(value.placeholder) : value.placeholder;
    const from = index - written.indexOf(mark);
    if (from < at || text.slice(from, from + written.length) !== written) continue;
    if (from > at) yield text.slice(at, from);
    yield value;
    at = from + written.length;
  }
  if (at < text.length) yield text.slice(at);
}

/** Returns a part without its secrets, as it is stored; a worker redacts large parts. */
type RedactPart = (part: PartInput) => Promise<PartInput>;

type Reading = () => AsyncIterable<Uint8Array>;

const SLICE_BYTES = 256 * 1_024;
/** JSON up to this size is parsed, so that field names reveal secrets; parsing more would take too much memory. */
const MAX_PARSED_BYTES = 4 * 1_024 * 1_024;

/** A message whose blobs are redacted while the store reads them. Each blob is held in memory whole, one at a time. */
export function withRedactedBlobs(message: MessageInput, redact: RedactPart): MessageInput {
  const parts = message.parts?.map((part): PartInput => {
    if (part.type === "blob") return redactedBlob(part, redact);
    if (part.type !== "tool-result" || typeof part.output === "string") return part;
    const output = part.output.map((inner) => (inner.type === "blob" ? redactedBlob(inner, redact) : inner));
    return { ...part, output };
  });
  return parts ? { ...message, parts } : message;
}

function redactedBlob(part: BlobInput, redact: RedactPart): BlobInput {
  const { bytes, of } = part;
  return bytes && of ? { ...part, bytes: () => redactedBytes(part, bytes, redact) } : part;
}

async function* redactedBytes(
  part: BlobInput,
  bytes: Reading,
  redact: RedactPart,
): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes()) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  chunks.length = 0;
  const clean = Buffer.from(
    part.of === "text" ? await redactedText(text, redact) : await redactedJson(part, text, redact),
  );
  for (let at = 0; at < clean.length; at += SLICE_BYTES) yield clean.subarray(at, at + SLICE_BYTES);
}

async function redactedText(text: string, redact: RedactPart): Promise<string> {
  const part = await redact({ type: "text", text });
  return part.type === "text" ? part.text : text;
}

/** Redacts the JSON of a part; the content of a part that is too large to parse becomes one text. */
async function redactedJson(
  { of, callId = "", toolName = "" }: BlobInput,
  json: string,
  redact: RedactPart,
): Promise<string> {
  if (json.length <= MAX_PARSED_BYTES) return JSON.stringify(await redact(JSON.parse(json)));
  const text = await redactedText(json, redact);
  if (of === "tool-call") return JSON.stringify({ type: of, callId, name: toolName, input: text });
  return JSON.stringify(of === "raw" ? { type: of, format: "text", value: text } : { type: of, text });
}
