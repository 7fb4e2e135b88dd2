import { crc32 } from "node:zlib";
import { BoundedMap } from "../../../model/base/caches.ts";
import { rollDigests } from "../../../model/base/digest.ts";
import { redactSecrets } from "../../../model/secrets/redact-secrets.ts";
import { toArray, toObject, toText } from "../../../wire/fields.ts";
import type { WireName } from "../../../wire/wire.ts";
import type { PrintDetail, RequestLook, RequestPrint } from "../../cache/compare-prints.ts";
import { HOUR_TTL_MS, SHORT_TTL_MS } from "../../cache/diagnose-cache.ts";
import { type BodyFrame, type ByteRange, type CutBody, parseRange } from "../request/cut-body.ts";

/** Settings that providers make part of the prefix, or that choose another cache. */
const SETTINGS = [
  "thinking",
  "tool_choice",
  "output_config",
  "output_format",
  "speed",
  "reasoning",
  "reasoning_effort",
  "response_format",
  "text",
  "service_tier",
  "generationConfig",
] as const;
const SYSTEM_FIELDS = ["system", "instructions", "systemInstruction", "system_instruction"] as const;

/** The digests of a request as it is sent; `target` names its upstream and credential. */
export function buildRequestPrint(api: WireName, cut: CutBody, target: string): RequestPrint {
  const frame = readFrame(cut);
  const lead = api.startsWith("openai") ? countLead(cut) : 0;
  const leading = lead > 0 ? readLead(cut, lead) : undefined;
  const elements = digestElements(cut).slice(lead);
  const sizes: number[] = [];
  for (const { from, to } of cut.elements.slice(lead)) sizes.push(to - from);
  const marks = api === "anthropic" ? findMarks(cut, frame) : undefined;
  const detail: PrintDetail = {
    tools: frame.tools,
    lines: leading?.lines ?? frame.lines,
    shapes: leading?.shapes ?? frame.shapes,
    settings: frame.settings,
    elements,
    leadBytes: frame.bytes + (leading?.bytes ?? 0),
    sizes,
  };
  return {
    key: crc32(`${target} ${frame.cacheKey}`),
    tools: frame.toolsDigest,
    system: leading?.digest ?? frame.systemDigest,
    settings: frame.settingsDigest,
    count: elements.length,
    rolling: rollDigests(elements),
    lastMark: marks?.last,
    ttlMs: marks?.ttlMs,
    needsMarks: api === "anthropic",
    detail,
  };
}

/** Reads the content of a request for the description of a difference. */
export function lookAtRequest(api: WireName, cut: CutBody): RequestLook {
  const lead = api.startsWith("openai") ? countLead(cut) : 0;
  return {
    systemLine(index) {
      const line = (lead > 0 ? readLeadText(cut, lead) : readSystemText(cut)).split("\n")[index] ?? "";
      // The line becomes part of the log.
      return redactSecrets(line).text;
    },
    countBlocks(from, to) {
      let blocks = 0;
      for (let index = from; index < to; index++) {
        const range = cut.elements[index + lead];
        const content = range && toObject(parseRange(cut.bytes, range))?.content;
        blocks += Array.isArray(content) ? content.length : 1;
      }
      return blocks;
    },
    elementText(index) {
      const { from, to } = cut.elements[index + lead] ?? { from: 0, to: 0 };
      return cut.bytes.toString("utf8", from, Math.min(to, from + MAX_LOOK_BYTES));
    },
  };
}

const MAX_LOOK_BYTES = 4_000;

/** Everything of a request except its list. */
interface FramePrint {
  readonly tools: PrintDetail["tools"];
  /** Digests of the tools that the model is shown from the start. */
  readonly offered: readonly number[];
  readonly lines: readonly number[];
  readonly shapes: readonly number[];
  readonly settings: ReadonlyMap<string, number>;
  readonly cacheKey: string;
  readonly bytes: number;
  readonly toolsDigest: number;
  readonly systemDigest: number;
  readonly settingsDigest: number;
  /** Lifetime of the last breakpoint of tools or system. */
  readonly markMs: number | undefined;
}

/** An agent repeats the frame with every request, often in all of its conversations. */
const FRAMES = new WeakMap<BodyFrame, FramePrint>();
/** Frames by the digests of their bytes, for bodies that were changed on their way. */
const KNOWN_FRAMES = new BoundedMap<string, FramePrint>({ max: 100 });
/** Digests of the elements of earlier bodies, which the next body repeats. */
const ELEMENTS = new WeakMap<CutBody, readonly number[]>();

/** The digests of everything of a request but its messages. */
export function readFrame(cut: CutBody): FramePrint {
  const known = cut.frame && FRAMES.get(cut.frame);
  if (known) return known;
  const names = ["tools", "prompt_cache_key", ...SYSTEM_FIELDS, ...SETTINGS] as const;
  const digests = names.map((name) => digestField(cut, name));
  const key = digests.join(" ");
  const print = KNOWN_FRAMES.use(key) ?? buildFrame(cut);
  KNOWN_FRAMES.set(key, print);
  if (cut.frame) FRAMES.set(cut.frame, print);
  return print;
}

function digestField({ bytes, fields }: CutBody, name: string): number | undefined {
  const range = fields.get(name);
  return range && crc32(bytes.subarray(range.from, range.to));
}

function buildFrame(cut: CutBody): FramePrint {
  const { bytes, fields } = cut;
  const systemRange = SYSTEM_FIELDS.map((name) => fields.get(name)).find((range) => range !== undefined);
  const settings = new Map<string, number>();
  for (const name of SETTINGS) {
    const digest = digestField(cut, name);
    if (digest !== undefined) settings.set(name, digest);
  }
  const read = (range: ByteRange | undefined) => (range ? bytes.toString("utf8", range.from, range.to) : "");
  const toolsText = read(fields.get("tools"));
  const parsed = toArray(parseText(toolsText));
  const tools = parsed.map(digestTool);
  const system = digestLines(readSystemText(cut));
  return {
    tools,
    offered: listOffered(parsed),
    ...system,
    settings,
    toolsDigest: rollDigests(tools.map(({ digest }) => digest)),
    systemDigest: rollDigests(system.lines),
    settingsDigest: rollDigests([...settings.values()]),
    cacheKey: read(fields.get("prompt_cache_key")),
    bytes: toolsText.length + (systemRange ? systemRange.to - systemRange.from : 0),
    markMs: findTextMark(read(systemRange)) ?? findTextMark(toolsText),
  };
}

/** A tool without its breakpoint, by name. */
function digestTool(value: unknown): PrintDetail["tools"][number] {
  const { cache_control: _, ...tool } = toObject(value) ?? {};
  const inner = toObject(tool.function);
  const name = toText(tool.name) ?? toText(inner?.name) ?? toText(tool.type) ?? "tool";
  return { name, digest: crc32(JSON.stringify(tool)) };
}

/** Digests of the tools that the model is shown from the start; a deferred tool is no part of the prefix. */
export function listOffered(tools: readonly unknown[]): readonly number[] {
  return tools
    .filter((tool) => toObject(tool)?.defer_loading !== true)
    .map((tool) => digestTool(tool).digest);
}

/** The digest of a system prompt, or of a part of one. */
export function digestSystem(value: unknown): number {
  return rollDigests(digestLines(joinTexts(value)).lines);
}

/** The text of the system prompt in its own field. */
function readSystemText(cut: CutBody): string {
  for (const name of SYSTEM_FIELDS) {
    const range = cut.fields.get(name);
    if (range) return joinTexts(parseText(cut.bytes.toString("utf8", range.from, range.to)));
  }
  return "";
}

/** The texts of a system prompt, each from its own line on. */
function joinTexts(value: unknown): string {
  if (typeof value === "string") return value;
  const { parts, content, text } = toObject(value) ?? {};
  if (typeof text === "string") return text;
  const list = Array.isArray(value) ? value : (parts ?? content ?? []);
  return typeof list === "string" ? list : toArray(list).map(joinTexts).join("\n");
}

/** A line that Claude Code changes from request to request, and that Anthropic leaves out of the prefix. */
const BILLING = "x-anthropic-billing-header:";

function digestLines(text: string): {
  readonly lines: readonly number[];
  readonly shapes: readonly number[];
} {
  const all = text === "" ? [] : text.split("\n");
  const lines = all.map((line) => (line.startsWith(BILLING) ? 0 : digestText(line)));
  // Only lines with a digit or the name of a day can differ from another line just in their values.
  const shapes = all.map((line, index) =>
    VALUES.test(line) && lines[index] !== 0 ? digestText(blankValues(line)) : (lines[index] as number),
  );
  return { lines, shapes };
}

const VALUES = /\d|day\b/;

/** A digest of a short text, several times as fast as one of bytes. */
function digestText(text: string): number {
  let digest = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    digest = Math.imul(digest ^ text.charCodeAt(index), 0x01000193);
  return digest >>> 0;
}

/** A line without the values that change from request to request: numbers, dates, ids. */
function blankValues(line: string): string {
  return line
    .replace(/\b[0-9a-f]{8,}(?:-[0-9a-f]{4,})*\b/gi, "#")
    .replace(
      /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b|\b[ap]m\b/gi,
      "#",
    )
    .replace(/\d+/g, "0");
}

/** Number of leading instruction elements of OpenAI's formats. */
function countLead({ bytes, elements }: CutBody): number {
  const isLead = ({ from, to }: ByteRange) =>
    /"role"\s*:\s*"(?:system|developer)"/.test(bytes.toString("latin1", from, Math.min(to, from + 64)));
  const other = elements.findIndex((range) => !isLead(range));
  return other < 0 ? elements.length : other;
}

function readLeadText({ bytes, elements }: CutBody, lead: number): string {
  return elements
    .slice(0, lead)
    .map((range) => joinTexts(toObject(parseRange(bytes, range))?.content))
    .join("\n");
}

/** The leading instructions of the last requests, by their bytes. */
let lastLead: { readonly bytes: Buffer; readonly print: LeadPrint } | undefined;
interface LeadPrint extends ReturnType<typeof digestLines> {
  readonly digest: number;
  readonly bytes: number;
}

function readLead(cut: CutBody, lead: number): LeadPrint {
  const first = cut.elements[0] as ByteRange;
  const last = cut.elements[lead - 1] as ByteRange;
  const bytes = cut.bytes.subarray(first.from, last.to);
  if (lastLead?.bytes.equals(bytes)) return lastLead.print;
  const own = digestLines(readLeadText(cut, lead));
  const print = { ...own, digest: rollDigests(own.lines), bytes: bytes.length };
  lastLead = { bytes: Buffer.from(bytes), print };
  return print;
}

/** Digests of the elements, without breakpoints. */
function digestElements(cut: CutBody): readonly number[] {
  const known = (cut.like && ELEMENTS.get(cut.like)?.slice(0, cut.same)) ?? [];
  const digests = [...known];
  const kept = cut.kept && ELEMENTS.get(cut.kept.from);
  for (const range of cut.elements.slice(known.length))
    digests.push(kept?.[cut.kept?.indexes.get(range.from) ?? -1] ?? digestElement(cut.bytes, range));
  ELEMENTS.set(cut, digests);
  return digests;
}

const MARK = Buffer.from("cache_control");
const SINGLE_TEXT =
  /^(\{.*?"content"\s*:\s*)\[\s*\{\s*"type"\s*:\s*"text"\s*,\s*"text"\s*:\s*("(?:[^"\\]|\\.)*")\s*\}\s*\](.*)$/s;
const BLOCKS = Buffer.from(`"content":[{"type":"text"`);
const HEAD_BYTES = 80;

/** Clients move their breakpoint, and write a message with one as a list and the same one without as a plain text. */
function digestElement(bytes: Buffer, { from, to }: ByteRange): number {
  const element = bytes.subarray(from, to);
  const isMarked = element.includes(MARK);
  const isList = element.subarray(0, HEAD_BYTES).includes(BLOCKS);
  if (!isMarked && !isList) return crc32(element);
  const text = element.toString("utf8");
  const bare = isMarked
    ? text
        .replace(/,\s*"cache_control"\s*:\s*\{[^{}]*\}/g, "")
        .replace(/"cache_control"\s*:\s*\{[^{}]*\}\s*,/g, "")
    : text;
  const single = SINGLE_TEXT.exec(bare);
  return crc32(single ? `${single[1]}${single[2]}${single[3]}` : bare);
}

/** The last breakpoint, and its lifetime. */
function findMarks(
  { bytes, elements, fields }: CutBody,
  { markMs }: FramePrint,
): { readonly last: number | undefined; readonly ttlMs: number | undefined } {
  // A mark of the whole request lets Anthropic put the breakpoint at its end.
  const whole = fields.get("cache_control");
  const wholeMs = whole && findTextMark(`"cache_control":${bytes.toString("utf8", whole.from, whole.to)}`);
  if (wholeMs !== undefined) return { last: elements.length - 1, ttlMs: wholeMs };
  for (let index = elements.length - 1; index >= 0; index--) {
    const { from, to } = elements[index] as ByteRange;
    if (!bytes.subarray(from, to).includes(MARK)) continue;
    const ttlMs = findTextMark(bytes.toString("utf8", from, to));
    if (ttlMs !== undefined) return { last: index, ttlMs };
  }
  return { last: markMs === undefined ? undefined : -1, ttlMs: markMs };
}

/** The lifetime of the last breakpoint in JSON; undefined without any. */
function findTextMark(text: string): number | undefined {
  const marks = [...text.matchAll(/"cache_control"\s*:\s*\{([^{}]*)\}/g)];
  const last = marks.at(-1)?.[1];
  return last === undefined ? undefined : /"ttl"\s*:\s*"1h"/.test(last) ? HOUR_TTL_MS : SHORT_TTL_MS;
}

function parseText(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
