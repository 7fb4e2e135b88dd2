import { computeDigest } from "../model/base/digest.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { createArgumentError, LonghaulError } from "../model/errors.ts";
import type { Message, MessageInput } from "../model/message.ts";
import { sniffMime } from "../model/mime.ts";
import type { BlobPart, DataSource, Part, PartInput, ToolResultPart } from "../model/part.ts";
import type { PartSource } from "./part-source.ts";

/** Messages that no log has stored, with the bytes of their media. */
interface InlineMessages {
  readonly messages: readonly Message[];
  readonly source: PartSource;
}

/** Gives messages the form that a log would give them; `stored` loads blobs that a log already has. */
export async function toInlineMessages(
  inputs: readonly (MessageInput | Message)[],
  stored?: PartSource,
): Promise<InlineMessages> {
  const media = new Map<string, string>();
  const messages: Message[] = [];
  for (const input of inputs) messages.push(await toMessage(input, media));
  return {
    messages,
    source: {
      base64: async (part) => media.get(part.digest) ?? requireSource(stored, part).base64(part),
      restore: async (part) =>
        part.type === "blob" && part.of !== undefined ? requireSource(stored, part).restore(part) : part,
    },
  };
}

async function toMessage(input: MessageInput | Message, media: Map<string, string>): Promise<Message> {
  const { text, parts = [], ...rest } = input as MessageInput;
  const all: Part[] = text === undefined ? [] : [{ type: "text", text }];
  for (const part of parts) all.push(await toPart(part, media));
  return { ...rest, parts: all };
}

async function toPart(part: PartInput, media: Map<string, string>): Promise<Part> {
  if (part.type === "data") return toBlobPart(part, media);
  if (part.type === "blob") {
    const { bytes, ...blob } = part;
    if (bytes) media.set(blob.digest, (await readBytes(bytes())).toString("base64"));
    return blob;
  }
  if (part.type !== "tool-result") return part;
  if (typeof part.output === "string") return { ...part, output: [{ type: "text", text: part.output }] };
  const output: Part[] = [];
  for (const piece of part.output) output.push(await toPart(piece, media));
  return { ...part, output: output as ToolResultPart["output"][number][] };
}

async function toBlobPart(
  { data, mime, name }: Extract<PartInput, { type: "data" }>,
  media: Map<string, string>,
): Promise<BlobPart> {
  const bytes = await readBytes(data);
  const type = sniffMime(bytes) ?? mime ?? findLabel(data);
  if (type === undefined)
    throw createArgumentError("mime", mime, "the type of the data, which its bytes do not show");
  const digest = computeDigest(bytes);
  media.set(digest, bytes.toString("base64"));
  return { type: "blob", digest, sizeBytes: bytes.length, mime: type, ...dropUndefined({ name }) };
}

async function readBytes(data: DataSource): Promise<Buffer> {
  if (typeof data === "string")
    return Buffer.from(data.startsWith("data:") ? data.slice(data.indexOf(",") + 1) : data, "base64");
  if (data instanceof Uint8Array) return Buffer.from(data);
  const chunks: Buffer[] = [];
  for await (const chunk of data) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** The type that a data URL names. */
function findLabel(data: DataSource): string | undefined {
  return typeof data === "string" ? /^data:([^;,]+)/.exec(data)?.[1] : undefined;
}

function requireSource(stored: PartSource | undefined, { digest }: BlobPart): PartSource {
  if (stored) return stored;
  throw new LonghaulError(
    "ARGUMENT_INVALID",
    `a message refers to the blob ${digest}, which is not part of it; pass \`source\`, which loads blobs.`,
  );
}
