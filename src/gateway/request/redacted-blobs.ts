import type { BlobInput, MessageInput, PartInput } from "../../index.ts";

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
