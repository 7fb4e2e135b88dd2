import type { Reply } from "../api/routes.ts";

export type Entry = Reply<"GET /tasks/{task}/output">["entries"][number];
type Part = Extract<Entry, { kind: "message" }>["message"]["parts"][number];

/** The words of an entry, for lists that show them in short. */
export function readEntryText(entry: Entry): string {
  if (entry.kind === "message") return entry.message.parts.map(readPartText).filter(Boolean).join("\n");
  return entry.kind === "notice" ? entry.text : "";
}

function readPartText(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool-call":
      return `${part.name} ${toShortJson(part.input)}`;
    case "tool-result":
      return part.output.map(readPartText).filter(Boolean).join("\n");
    case "blob":
      return part.preview ?? part.name ?? part.mime;
    case "raw":
      return part.format;
  }
}

/** A value as JSON on one line. */
export function toShortJson(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
