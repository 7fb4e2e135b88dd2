import { createHash } from "node:crypto";
import { computeDigest } from "../../base/digest.ts";
import type { Turns } from "../../base/turns.ts";
import type { BlobInput, Json, MessageInput, PartInput, ToolResultInput } from "../../index.ts";
import { sniffMime } from "../../model/mime.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import { base64Slices } from "./json-text.ts";
import { hasMark, type LiftedValue, MARK } from "./lift.ts";
import { markedIn, type Placeholders, shortened, standsFor, undone } from "./placeholders.ts";

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
  const lead = { ...message, ...(meta && { meta }) };
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
