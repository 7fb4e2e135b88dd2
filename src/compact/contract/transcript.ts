import type { Message } from "../../model/message.ts";
import type { BlobPart, Part } from "../../model/part.ts";
import { clipText } from "../../window/clip.ts";
import { inputText } from "../../window/extract/said.ts";
import type { SaidMessage } from "../../window/replay/conversation.ts";

/** Limits on the content of a transcript. */
export interface TranscriptOptions {
  /** Maximum characters per part; longer parts lose their middle and state how much. Unlimited by default. */
  readonly partCharacters?: number;
  /** True to include the model's reasoning. */
  readonly reasoning?: boolean;
}

/** Matches a line of content that could be mistaken for a transcript heading. */
const FORGED = /^\[(?=[\w-]*#\d+ (?:user|assistant|tool|system)\b)/gm;

/** Renders a conversation as text for a summarizer: each part under a heading with its seq and speaker. */
export function transcriptOf(messages: readonly SaidMessage[], options: TranscriptOptions = {}): string {
  return messages.flatMap((said) => linesOf(said, options)).join("\n\n");
}

function linesOf({ seq, message }: SaidMessage, options: TranscriptOptions): readonly string[] {
  return message.parts.flatMap((part) => {
    const words = wordsOf(message, part, options.reasoning ?? false);
    if (!words || words.text.trim() === "") return [];
    const { partCharacters = Number.POSITIVE_INFINITY } = options;
    const text = clipText(words.text, partCharacters).replace(FORGED, "\\[");
    return [`[#${seq} ${words.who}]\n${text}`];
  });
}

function wordsOf(
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
      return { who: `${role} calls ${part.name}`, text: inputText(part.input) };
    case "tool-result": {
      const texts = part.output.flatMap((inner) => {
        if (inner.type === "text") return [inner.text];
        return inner.type === "blob" ? [wordsOfBlob(inner)] : [];
      });
      return { who: part.isError ? "tool result, an error" : "tool result", text: texts.join("\n") };
    }
    case "blob":
      return { who: role, text: wordsOfBlob(part) };
    case "raw":
      return undefined;
  }
}

/** States that only a preview of the part is shown. */
function wordsOfBlob({ of, preview, mime, name, sizeBytes }: BlobPart): string {
  if (preview === undefined) return `[${name ?? mime}]`;
  return of === undefined ? preview : `${preview}\n[only the ends of ${sizeBytes} bytes are shown]`;
}
