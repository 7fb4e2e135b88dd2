import type { Message } from "../../model/message.ts";
import type { BlobPart, Part } from "../../model/part.ts";
import { clipText } from "../../window/clip-text.ts";
import { renderInput } from "../../window/extract/part-text.ts";
import type { RecordedMessage } from "../../window/replay/recorded-message.ts";

/** Limits on the content of a transcript. */
export interface TranscriptOptions {
  /** Maximum characters per part; longer parts lose their middle and state how much. Unlimited by default. */
  readonly partCharacters?: number;
  /** True to include the model's reasoning. */
  readonly reasoning?: boolean;
}

/** Matches a line of content that could be mistaken for a transcript heading. */
const FORGED_HEADING = /^\[(?=[\w-]*#\d+ (?:user|assistant|tool|system)\b)/gm;

/** Renders a conversation as text for a summarizer: each part under a heading with its seq and speaker. */
export function renderTranscript(
  messages: readonly RecordedMessage[],
  options: TranscriptOptions = {},
): string {
  return messages.flatMap((said) => renderMessage(said, options)).join("\n\n");
}

function renderMessage({ seq, message }: RecordedMessage, options: TranscriptOptions): readonly string[] {
  return message.parts.flatMap((part) => {
    const words = describePart(message, part, options.reasoning ?? false);
    if (!words || words.text.trim() === "") return [];
    const { partCharacters = Number.POSITIVE_INFINITY } = options;
    const text = clipText(words.text, partCharacters).replace(FORGED_HEADING, "\\[");
    return [`[#${seq} ${words.who}]\n${text}`];
  });
}

function describePart(
  { role }: Message,
  part: Part,
  hasReasoning: boolean,
): { readonly who: string; readonly text: string } | undefined {
  switch (part.type) {
    case "text":
      return { who: role, text: part.text };
    case "reasoning":
      return hasReasoning ? { who: `${role} thinking`, text: part.text } : undefined;
    case "tool-call":
      return { who: `${role} calls ${part.name}`, text: renderInput(part.input) };
    case "tool-result": {
      const texts = part.output.flatMap((inner) => {
        if (inner.type === "text") return [inner.text];
        return inner.type === "blob" ? [describeBlob(inner)] : [];
      });
      return { who: part.isError ? "tool result, an error" : "tool result", text: texts.join("\n") };
    }
    case "blob":
      return { who: role, text: describeBlob(part) };
    case "raw":
      return undefined;
  }
}

/** States that only a preview of the part is shown. */
function describeBlob({ of, preview, mime, name, sizeBytes }: BlobPart): string {
  if (preview === undefined) return `[${name ?? mime}]`;
  return of === undefined ? preview : `${preview}\n[only the ends of ${sizeBytes} bytes are shown]`;
}
