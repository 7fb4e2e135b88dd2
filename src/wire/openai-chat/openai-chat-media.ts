import type { DataPart, PartInput, ToolResultInput } from "../../model/part.ts";

/**
 * In Chat Completions only user messages hold media, so media of tools and assistants follow in a user message: a mark
 * stands in their place, and a label precedes each one there. The importer puts them back.
 */

const MARK = /^\[media (\d+) of (.+) is in the next user message\]$/s;
const LABEL = /^\[media (\d+) of (.+)\]$/s;

/** Builds the placeholder for media; `owner` is the call id, or names the message. */
export function buildMediaMark(number: number, owner: string): string {
  return `[media ${number} of ${owner} is in the next user message]`;
}

/** Builds the label before the media in the user message. */
export function buildMediaLabel(number: number, owner: string): string {
  return `[media ${number} of ${owner}]`;
}

/** Tells whether a part of a tool or an assistant has a placeholder for media. */
export function hasMediaMark(part: PartInput): boolean {
  if (part.type === "text") return MARK.test(part.text);
  return (
    part.type === "tool-result" &&
    typeof part.output !== "string" &&
    part.output.some((piece) => piece.type === "text" && MARK.test(piece.text))
  );
}

/**
 * Returns the media of a user message that consists only of labeled media, by mark; undefined for any other message.
 */
export function collectLabeledMedia(parts: readonly PartInput[]): ReadonlyMap<string, DataPart> | undefined {
  if (parts.length === 0 || parts.length % 2 === 1) return undefined;
  const media = new Map<string, DataPart>();
  for (let at = 0; at < parts.length; at += 2) {
    const [label, data] = [parts[at], parts[at + 1]];
    const match = label?.type === "text" ? LABEL.exec(label.text) : null;
    if (!match || data?.type !== "data") return undefined;
    media.set(buildMediaMark(Number(match[1]), match[2] as string), data);
  }
  return media;
}

/** Replaces marks in a part with their media. */
export function withMedia(part: PartInput, media: ReadonlyMap<string, DataPart>): PartInput {
  if (part.type === "text") return media.get(part.text) ?? part;
  if (part.type !== "tool-result" || typeof part.output === "string") return part;
  const output = part.output.map((piece) =>
    piece.type === "text" ? (media.get(piece.text) ?? piece) : piece,
  );
  return { ...part, output } satisfies ToolResultInput;
}
