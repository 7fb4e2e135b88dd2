import type { Message, Part, ResultPart } from "./session-types.ts";

/** A message as plain text, for comparing two versions of it. */
export function toPlainText({ parts }: Message): string {
  return parts.map(describePart).filter(Boolean).join("\n");
}

function describePart(part: Part | ResultPart["output"][number]): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool-call":
      return `${part.name} ${JSON.stringify(part.input, null, 2)}`;
    case "tool-result":
      return part.output.map(describePart).join("\n");
    case "blob":
      return part.preview ?? `[${part.name ?? part.mime}]`;
    case "raw":
      return JSON.stringify(part.value, null, 2) ?? "";
  }
}
