import type { Entry, Message } from "../../index.ts";
import type { OverlayBody } from "../../log-entry.ts";
import type { ExportedSession, OutputPiece, Writer } from "../port/writer.ts";
import { formatUtcTime, getMessageTime, renderFactLines } from "./markdown-facts.ts";
import { renderFolded, renderMarkdownPart } from "./markdown-parts.ts";
import { escapeInline, formatQuote } from "./markdown-text.ts";

const FILE = "conversation.md";

/** Writes the active line as a transcript for people. Its content cannot break the document's structure. */
export const markdownWriter: Writer = {
  name: "markdown",
  title: "Markdown transcript",
  isFolder: false,
  async *write(session) {
    const { record } = session;
    const piece = (text: string): OutputPiece => ({ file: FILE, text });
    yield piece(
      `# ${escapeInline(record.title ?? record.id)}\n\n${(await renderFactLines(session)).join("\n")}\n`,
    );
    let number = 0;
    for await (const entry of session.entries("line")) {
      if (entry.kind === "message") yield piece(renderHeading(entry, ++number));
      for await (const text of renderEntry(entry, session)) yield piece(`\n${text}\n`);
    }
    let isFirst = true;
    for await (const child of session.children()) {
      if (isFirst) yield piece("\n## Sub-agents\n\n");
      isFirst = false;
      yield piece(
        `- ${escapeInline(child.record.title ?? child.record.id)} (${escapeInline(child.record.id)})\n`,
      );
    }
  },
};

const SPEAKERS: Record<Message["role"], string> = {
  system: "System",
  user: "User",
  assistant: "Assistant",
  tool: "Tool",
};

function renderHeading(entry: Entry & { readonly kind: "message" }, number: number): string {
  const { message } = entry;
  const facts = [
    formatUtcTime(getMessageTime(entry)),
    ...(message.model === undefined ? [] : [escapeInline(message.model)]),
    ...(message.interrupted ? ["interrupted"] : []),
  ];
  return `\n## ${number}. ${SPEAKERS[message.role]}\n\n*${facts.join(" · ")}*\n`;
}

/** Yields the Markdown of an entry in pieces; nothing for entries that people do not need. */
async function* renderEntry(entry: Entry, session: ExportedSession): AsyncGenerator<string> {
  switch (entry.kind) {
    case "message":
      if (entry.message.role === "system")
        return yield renderFolded("Instructions", await renderMessage(entry.message, session));
      for (const part of entry.message.parts) {
        const text = await renderMarkdownPart(part, session);
        if (text !== "") yield text;
      }
      return;
    case "notice":
      return yield `> **Note**\n>\n${formatQuote(entry.text)}`;
    case "overlay":
      return yield renderOverlay(entry, session);
    case "redacted":
      return yield "*(removed on request)*";
    case "damaged":
      return yield "*(damaged on disk)*";
    default:
  }
}

async function renderMessage(message: Message, session: ExportedSession): Promise<string> {
  const texts: string[] = [];
  for (const part of message.parts) texts.push(await renderMarkdownPart(part, session));
  return texts.filter((text) => text !== "").join("\n\n");
}

const EDITS: Record<OverlayBody["edit"]["type"], string> = {
  summarize: "Context compacted here",
  hide: "Entries left the window here",
  replace: "Something was replaced in the window here",
  plan: "The window was rebuilt here",
  revert: "An earlier change of the window was taken back here",
};

async function renderOverlay(overlay: OverlayBody, session: ExportedSession): Promise<string> {
  const { edit, author, reason, tokensBefore, tokensAfter } = overlay;
  const tokens = [tokensBefore, tokensAfter].flatMap((count) => count?.toLocaleString("en") ?? []);
  const size = tokens.length === 0 ? "" : `, ${tokens.join(" → ")} tokens`;
  const line = `---\n\n**${EDITS[edit.type]}** by ${escapeInline(author)} (${escapeInline(reason)}${size})`;
  const texts: string[] = [];
  if (edit.type === "summarize")
    for (const message of edit.messages ?? []) texts.push(await renderMessage(message, session));
  return texts.length === 0 ? line : `${line}\n\n${renderFolded("Summary", texts.join("\n\n"), true)}`;
}
