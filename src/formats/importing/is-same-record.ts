import { computeDigest } from "../../base/digest.ts";
import type { Entry, Json, PartInput } from "../../index.ts";
import type { BodyInput } from "../../log-entry.ts";

/**
 * Tells whether two records with the same id have the same content, so the second is a copy. Either may come from the
 * log, where large parts and data are blobs; these are compared by digest.
 */
export function isSameRecord(one: BodyInput | Entry, other: BodyInput | Entry): boolean {
  return one.kind === other.kind && serializeContent(one) === serializeContent(other);
}

function serializeContent(body: BodyInput | Entry): string {
  switch (body.kind) {
    case "message": {
      const { role, text, model } = body.message as { role: string; text?: string; model?: string };
      const parts: readonly PartInput[] =
        text === undefined ? (body.message.parts ?? []) : [{ type: "text", text }];
      return JSON.stringify([role, model, parts.map(serializePart)]);
    }
    case "raw":
      return "blob" in body && body.blob ? body.blob.digest : computeDigest(JSON.stringify(body.value));
    case "usage":
      return JSON.stringify([body.usage, body.model, body.provider, body.request]);
    case "notice":
      return body.text;
    case "overlay": {
      // Ranges depend on the line at that moment; the replacement does not.
      const { edit } = body;
      const shown = edit.type === "replace" ? edit.parts.map(serializePart) : [];
      return JSON.stringify([body.reason, edit.type, "target" in edit ? edit.target : null, shown]);
    }
    default:
      return JSON.stringify(body);
  }
}

function serializePart(part: PartInput): Json {
  switch (part.type) {
    case "text":
      return computeDigest(part.text);
    case "blob":
      return part.digest;
    case "data":
      return typeof part.data === "string" ? computeDigest(Buffer.from(part.data, "base64")) : "a stream";
    case "tool-result": {
      const output =
        typeof part.output === "string" ? [{ type: "text" as const, text: part.output }] : part.output;
      return [part.callId, part.isError ?? false, output.map(serializePart)];
    }
    default:
      return computeDigest(JSON.stringify(part));
  }
}
