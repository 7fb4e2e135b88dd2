import type { OverlayBody } from "../../kernel/faces/log.ts";
import { EMPTY_LEDGER, type Totals } from "../../kernel/faces/window.ts";
import type { BlobPart, Entry, Json, Message, Part, ToolResultPart } from "../../kernel/index.ts";
import { toNumber, toObject, toText } from "../../wire/fields.ts";
import { isMedia } from "../../wire/message-pieces.ts";
import type { ExportedSession, OutputPiece, Writer } from "../port/writer.ts";
import { addUsage } from "../writing/usage-ledger.ts";

const FILE = "conversation.md";

const MAX_MODELS = 20;

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

/** Longer calls and results are folded. */
const MAX_OPEN_LINES = 12;
const MAX_OPEN_CHARACTERS = 800;

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

/** Formats a part as Markdown; "" if there is nothing to show. */
async function renderMarkdownPart(stored: Part, session: ExportedSession): Promise<string> {
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
function renderFolded(title: string, content: string, isAlways = false): string {
  const isLong = content.length > MAX_OPEN_CHARACTERS || content.split("\n").length > MAX_OPEN_LINES;
  if (!isLong && !isAlways) return `**${title}**\n\n${content}`;
  return `<details><summary>${title}</summary>\n\n${content}\n\n</details>`;
}

/** Facts at the top of a transcript. */
interface TranscriptFacts {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly models: readonly string[];
  readonly messages: number;
  readonly usage: Totals;
}

/** Builds the lines at the top of a transcript: agent, models, time and usage. */
async function renderFactLines(session: ExportedSession): Promise<readonly string[]> {
  const { record } = session;
  const facts = await collectFacts(session);
  const source = toObject(record.meta?.source as Json | undefined);
  const agent = toText(source?.format);
  const { cost, requests, unpricedRequests } = facts.usage;
  const used = formatTokens(facts.usage);
  return [
    `- Session: ${escapeInline(record.id)}`,
    ...(agent === undefined ? [] : [`- Agent: ${escapeInline(agent)}`]),
    ...(facts.models.length === 0 ? [] : [`- Model: ${facts.models.map(escapeInline).join(", ")}`]),
    ...(facts.from === undefined
      ? []
      : [`- Time: ${formatUtcTime(facts.from)} to ${formatUtcTime(facts.to ?? facts.from)}`]),
    `- Messages: ${facts.messages}`,
    ...(used === "" ? [] : [`- Tokens: ${used}`]),
    ...(requests === unpricedRequests ? [] : [`- Cost: $${cost.toFixed(cost < 1 ? 4 : 2)}`]),
  ];
}

/** Returns when a message was said: an import keeps this time in meta if it differs from the entry's. */
function getMessageTime({ at, message }: Entry & { readonly kind: "message" }): number {
  return toNumber(message.meta?.at) ?? at;
}

/** Formats a time in UTC. */
function formatUtcTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function formatTokens(usage: Totals): string {
  const counts: readonly (readonly [string, number])[] = [
    ["input", usage.inputTokens],
    ["output", usage.outputTokens],
    ["read from cache", usage.cacheReadTokens],
    ["written to cache", usage.cacheWriteTokens],
  ];
  return counts
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count.toLocaleString("en")} ${word}`)
    .join(", ");
}

async function collectFacts(session: ExportedSession): Promise<TranscriptFacts> {
  let from: number | undefined;
  let to: number | undefined;
  let messages = 0;
  let ledger = EMPTY_LEDGER;
  const models = new Set<string>();
  for await (const entry of session.entries("line")) {
    if (entry.kind === "message") {
      from = Math.min(from ?? Number.POSITIVE_INFINITY, getMessageTime(entry));
      to = Math.max(to ?? 0, getMessageTime(entry));
      messages++;
      if (entry.message.model !== undefined && models.size < MAX_MODELS) models.add(entry.message.model);
    } else if (entry.kind === "usage") {
      if (entry.model !== undefined && models.size < MAX_MODELS) models.add(entry.model);
      ledger = addUsage(ledger, entry);
    }
  }
  return { from, to, messages, models: [...models], usage: ledger.session };
}

/** Makes foreign Markdown safe to embed: no headings, no HTML, no open blocks. */
export function sanitizeMarkdown(text: string): string {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const safe = escapeOutsideFences(lines);
  // A quote closes everything that is open inside it.
  return safe ? safe.join("\n") : formatQuote(text);
}

/** Formats foreign text as a quote. */
function formatQuote(text: string): string {
  const escaped = createHtmlEscape();
  return text
    .replace(/\r\n?/g, "\n")
    .split("\n")
    .map((line) => `> ${escaped(escapeHeading(line))}`.trimEnd())
    .join("\n");
}

/** Formats text as a code block with a fence longer than any inside. */
export function formatCodeBlock(text: string, language = ""): string {
  const runs = text.match(/`{3,}/g) ?? [];
  const fence = "`".repeat(runs.reduce((most, run) => Math.max(most, run.length), 2) + 1);
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

/** Formats text on one line with all Markdown escaped. */
export function escapeInline(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_{}[\]<>()#+!|~&]/g, "\\$&");
}

/** Escapes text for HTML. */
function escapeMarkdownHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** An open fence. */
interface Fence {
  readonly indent: number;
  readonly mark: string;
}

/**
 * Escapes text outside code blocks; undefined if the end of a block is ambiguous. A block ends clearly if its last line
 * is indented like its first, and no line between is indented less.
 */
function escapeOutsideFences(lines: readonly string[]): readonly string[] | undefined {
  const safe: string[] = [];
  const escaped = createHtmlEscape();
  let fence: Fence | undefined;
  for (const [index, line] of lines.entries()) {
    const indent = line.length - line.trimStart().length;
    const mark = /^\s*((?:(?:[-*+>]|\d+[.)])\s*)*)(`{3,}|~{3,})(.*)$/.exec(line);
    if (fence) {
      if (line.trim() !== "" && indent < fence.indent) return undefined;
      const closes = mark?.[1] === "" && mark[2]?.startsWith(fence.mark) && mark[3]?.trim() === "";
      if (closes && indent !== fence.indent) return undefined;
      if (closes) fence = undefined;
      safe.push(line);
    } else if (mark) {
      // After a list or quote marker, or with backticks in the info string, the block is ambiguous.
      if (mark[1] !== "" || mark[3]?.includes("`")) return undefined;
      fence = { indent, mark: mark[2] as string };
      safe.push(line);
    } else safe.push(escaped(escapeHeading(line, lines[index - 1])));
  }
  return fence ? undefined : safe;
}

/** Escapes headings, which would break the outline, including underlines below text. */
function escapeHeading(line: string, before = ""): string {
  if (/^\s*#{1,6}(\s|$)/.test(line)) return line.replace("#", "\\#");
  if (/^\s*(=+|-+)\s*$/.test(line) && before.trim() !== "") return line.replace(/[=-]/, "\\$&");
  return line;
}

/**
 * Creates a function that escapes tags line by line. Code spans stay unchanged as long as they are unambiguous: the
 * paragraph has only pairs of single backticks.
 */
function createHtmlEscape(): (line: string) => string {
  let isClear = true;
  return (line) => {
    if (line.trim() === "") isClear = true;
    const runs = line.match(/`+/g) ?? [];
    isClear &&= runs.length % 2 === 0 && runs.every((run) => run === "`") && !line.includes("\\`");
    const pieces = isClear ? line.split(/(`[^`]*`)/) : [line];
    return pieces
      .map((piece, index) => (index % 2 === 1 ? piece : piece.replace(/<(?=[A-Za-z/!?])/g, "&lt;")))
      .join("");
  };
}
