import type { BlobPart, Part, ToolResultPart } from "../../index.ts";
import { isMedia } from "../../wire/message-pieces.ts";
import type { ExportedSession } from "../port/writer.ts";
import {
  escapeInline,
  escapeMarkdownHtml,
  formatCodeBlock,
  formatQuote,
  sanitizeMarkdown,
} from "./markdown-text.ts";

/** Longer calls and results are folded. */
const MAX_OPEN_LINES = 12;
const MAX_OPEN_CHARACTERS = 800;

/** Formats a part as Markdown; "" if there is nothing to show. */
export async function renderMarkdownPart(stored: Part, session: ExportedSession): Promise<string> {
  const part = await session.restore(stored);
  switch (part.type) {
    case "text":
      return part.text.trim() === "" ? "" : sanitizeMarkdown(part.text);
    case "reasoning":
      return part.text.trim() === ""
        ? renderHiddenReasoning(part.opaque !== undefined)
        : `> **Reasoning**\n>\n${formatQuote(part.text)}`;
    case "tool-call": {
      const title = `Tool call: <code>${escapeMarkdownHtml(part.name)}</code>`;
      return renderFolded(title, formatCodeBlock(JSON.stringify(part.input, null, 2), "json"));
    }
    case "tool-result":
      return renderResult(part, session);
    case "blob":
      return renderMedia(part);
    case "raw":
      return renderFolded(
        `Part of ${escapeMarkdownHtml(part.format)}`,
        formatCodeBlock(JSON.stringify(part.value, null, 2), "json"),
        true,
      );
  }
}

function renderHiddenReasoning(isThere: boolean): string {
  return isThere ? "> *Reasoning that only its provider can read*" : "";
}

async function renderResult(part: ToolResultPart, session: ExportedSession): Promise<string> {
  const pieces: string[] = [];
  for (const stored of part.output) {
    const piece = await session.restore(stored);
    if (piece.type === "text") pieces.push(formatCodeBlock(piece.text));
    else pieces.push(await renderMarkdownPart(piece, session));
  }
  const name = part.name === undefined ? "" : `: <code>${escapeMarkdownHtml(part.name)}</code>`;
  const title = `${part.isError ? "Tool error" : "Tool result"}${name}`;
  return renderFolded(title, pieces.join("\n\n") || "*(nothing)*");
}

/** Formats media as a link to the path that an export of blobs would use. */
function renderMedia(part: BlobPart): string {
  if (!isMedia(part)) return "";
  const extension = /^[\w.+-]+\/([\w.-]+)/.exec(part.mime)?.[1] ?? "bin";
  const target = `blobs/${part.digest}.${extension === "jpeg" ? "jpg" : extension}`;
  const size = `${escapeInline(part.mime)}, ${part.sizeBytes.toLocaleString("en")} bytes`;
  const name =
    part.name === undefined ? (part.mime.startsWith("image/") ? "image" : "file") : escapeInline(part.name);
  return `${part.mime.startsWith("image/") ? "!" : ""}[${name}](${target}) (${size})`;
}

/** Formats content below a title, folded if it is long. */
export function renderFolded(title: string, content: string, isAlways = false): string {
  const isLong = content.length > MAX_OPEN_CHARACTERS || content.split("\n").length > MAX_OPEN_LINES;
  if (!isLong && !isAlways) return `**${title}**\n\n${content}`;
  return `<details><summary>${title}</summary>\n\n${content}\n\n</details>`;
}
