import { createHmac, randomBytes } from "node:crypto";
import { computeDigest } from "./digest.ts";

/** Content of a fence: recalled text, results of memory tools, pinned memories, a summarizer's input, quotes. */
type FenceTag = "context" | "memory-data" | "memories" | "conversation-data" | "quoted-data";

const RECALLED_TAGS: readonly FenceTag[] = ["context", "memory-data", "memories"];
/** Opens a fence around content that is stored elsewhere. */
const RECALLED_OPENING = /^<(context|memory-data|memories) mark="([0-9a-f]{12})">\n/gm;
/** The same in a JSON string. */
const ESCAPED_OPENING = /<(context|memory-data|memories) mark=\\"([0-9a-f]{12})\\">\\n/g;
const OPENING_LINE = /^<([a-z-]+) mark="([0-9a-f]{12})">$/;
const MARK_DIGITS = 12;
/** A text with more openings was not made by us. */
const MAX_FENCES = 64;

/**
 * Secrets of the stores that this process has opened, the latest last: fences are made with that one and recognized with
 * all. Before the first store, fences hold within the process.
 */
let secrets: readonly string[] = [randomBytes(16).toString("hex")];
const MAX_SECRETS = 16;

/** Makes the fences of recalled content with the secret of a store, so that no text can forge one. */
export function addFenceSecret(secret: string): void {
  secrets = [...secrets.filter((one) => one !== secret), secret].slice(-MAX_SECRETS);
}

/**
 * Wraps a text in delimiters with a mark derived from the text, so that nothing inside the text can forge it. Foreign
 * content must be escaped before.
 */
export function fenceWithMark(tag: FenceTag, text: string): string {
  const isRecalled = RECALLED_TAGS.includes(tag);
  const mark = isRecalled ? computeSecretMark(text, secrets.at(-1) ?? "") : computeMark(text);
  return `<${tag} mark="${mark}">\n${text}\n${buildClosing(tag, mark)}`;
}

/** The end and content of a genuine fence that opens at line `at`; undefined if there is none. */
export function findFenceAt(
  tag: FenceTag,
  lines: readonly string[],
  at: number,
): { readonly end: number; readonly inside: readonly string[] } | undefined {
  const [, found, mark] = OPENING_LINE.exec(lines[at] ?? "") ?? [];
  if (found !== tag || mark === undefined) return undefined;
  const end = lines.indexOf(buildClosing(tag, mark), at + 1);
  const inside = lines.slice(at + 1, end);
  return end > 0 && isGenuine(tag, inside.join("\n"), mark) ? { end, inside } : undefined;
}

/**
 * A text without genuine fences of recalled content, which is stored elsewhere and must not be found twice. Some agents
 * hand on the reply of a tool as JSON, where the fence and its content are escaped.
 */
export function removeRecalled(text: string): string {
  const rest = text.includes(' mark="') ? removeFences(text, PLAIN_FORM) : text;
  return rest.includes(' mark=\\"') ? removeFences(rest, JSON_FORM) : rest;
}

/** The way in which a fence is written. */
interface FenceForm {
  /** The tag and the mark are its groups. */
  readonly opening: RegExp;
  readonly write: (text: string) => string;
  /** Undefined if the text is not written in this way. */
  readonly read: (text: string) => string | undefined;
}

const PLAIN_FORM: FenceForm = { opening: RECALLED_OPENING, write: (text) => text, read: (text) => text };
const JSON_FORM: FenceForm = { opening: ESCAPED_OPENING, write: escapeJson, read: unescapeJson };

function removeFences(text: string, { opening: pattern, write, read }: FenceForm): string {
  const kept: string[] = [];
  let end = 0;
  let openings = 0;
  for (const { 0: opening, 1: tag = "", 2: mark = "", index } of text.matchAll(pattern)) {
    if (index < end) continue;
    if (++openings > MAX_FENCES) break;
    const closing = write(`\n${buildClosing(tag, mark)}`);
    const start = index + opening.length;
    const close = text.indexOf(closing, start);
    const content = close < 0 ? undefined : read(text.slice(start, close));
    if (content === undefined || !isGenuine(tag as FenceTag, content, mark)) continue;
    kept.push(text.slice(end, index));
    end = close + closing.length;
  }
  return kept.join("") + text.slice(end);
}

/** A text as it stands in a JSON string, without its quotes. */
export function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The text of a JSON string without its quotes; undefined if it is not one. */
function unescapeJson(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return undefined;
  }
}

function isGenuine(tag: FenceTag, text: string, mark: string): boolean {
  if (!RECALLED_TAGS.includes(tag)) return computeMark(text) === mark;
  return secrets.some((secret) => computeSecretMark(text, secret) === mark);
}

function computeSecretMark(text: string, secret: string): string {
  return createHmac("sha256", secret).update(text).digest("hex").slice(0, MARK_DIGITS);
}

function computeMark(text: string): string {
  return computeDigest(text, MARK_DIGITS);
}

function buildClosing(tag: string, mark: string): string {
  return `</${tag} mark="${mark}">`;
}
