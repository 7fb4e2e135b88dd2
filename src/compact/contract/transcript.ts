import type { Message } from "../../model/message.ts";
import type { BlobPart, Part } from "../../model/part.ts";
import { clipText } from "../../window/clip.ts";
import { inputText } from "../../window/extract/said.ts";
import type { SaidMessage } from "../../window/replay/conversation.ts";

/** How much of a conversation a transcript shows. */
export interface TranscriptOptions {
  /** Most characters of one part; longer ones lose their middle, and say how much. Parts are shown whole by default. */
  readonly partCharacters?: number;
  /** Whether what the model thought is shown too. */
  readonly reasoning?: boolean;
}

/** A line of somebody's words that would read as a heading of the transcript. */
const FORGED = /^\[(?=[\w-]*#\d+ (?:user|assistant|tool|system)\b)/gm;

/** A conversation as text to be read by a summariser: each part under a heading with its seq and its speaker. */
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

/** A part that is not here as a whole says so. */
function wordsOfBlob({ of, preview, mime, name, sizeBytes }: BlobPart): string {
  if (preview === undefined) return `[${name ?? mime}]`;
  return of === undefined ? preview : `${preview}\n[only the ends of ${sizeBytes} bytes are shown]`;
}
