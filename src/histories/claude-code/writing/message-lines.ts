import type { Entry, Json, Message, MessageBody, Part, Role, ToolResultPart } from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { encodeAnthropicBlocks } from "../../../wire/anthropic/anthropic-block-encode.ts";
import type { Extras } from "../../../wire/block-content.ts";
import { toArray, toNumber, toObject, toText } from "../../../wire/fields.ts";
import type { PartSource } from "../../../wire/part-source.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { deriveUuid } from "../../writing/derive-uuid.ts";
import { OWN_FIELD, type OwnFields, type OwnOutput, type OwnPart } from "../own-fields.ts";

/** Claude Code's own text for empty messages. */
const FILLER = "(no content)";

/** An outgoing line with its id but without its parent. */
export interface DraftLine {
  readonly uuid: string;
  readonly at: number;
  /** The parent, if it is not the previous line. */
  readonly parent?: Json;
  readonly fields: JsonObject;
}

type MessageEntry = Entry<MessageBody>;

/** Meta fields that describe the original lines; all other fields are restored onto them. */
const LINE_FIELDS = ["uuid", "uuids", "id", "delays", "blocks", "extras", "message", "parentUuid"];

/** Builds the lines of a message: one per block of an assistant message, one for any other message. */
export async function buildMessageLines(
  entry: MessageEntry,
  session: PartSource,
): Promise<readonly DraftLine[]> {
  const { message: said } = entry;
  const own = toObject(said.meta?.["claude-code"]) ?? {};
  const isOwn = own.uuid !== undefined || own.uuids !== undefined;
  const { blocks, own: kept } = isOwn
    ? { blocks: await encodeAnthropicBlocks(said.parts, session, own.extras as Extras | undefined), own: {} }
    : await encodeLineContent(said, session);
  const beside = collectOwnFields(entry, kept);
  const rest = Object.fromEntries(Object.entries(own).filter(([field]) => !LINE_FIELDS.includes(field)));
  const fields = { ...rest, ...(beside && { [OWN_FIELD]: beside }) };
  const at = toNumber(said.meta?.at) ?? entry.at;
  const parent = own.parentUuid === undefined ? {} : { parent: own.parentUuid as Json };
  if (said.role === "assistant") return buildModelLines(entry, own, { blocks, fields, at, parent });
  const [first] = blocks;
  const content = blocks.length === 1 && first?.type === "text" && !own.extras ? first.text : blocks;
  const message = { role: "user", content, ...toObject(own.message) };
  const isAside = said.role === "system" ? { isMeta: true } : {};
  const uuid = toText(own.uuid) ?? deriveUuid(entry.id);
  return [{ uuid, at, ...parent, fields: { type: "user", message, ...isAside, ...fields } }];
}

/** Collects fields that the line's content cannot represent, for our own field. */
function collectOwnFields({ message }: MessageEntry, kept: Partial<OwnFields>): OwnFields | undefined {
  const { "claude-code": _, at: __, ...meta } = message.meta ?? {};
  const role = getLineRole(message) === message.role ? {} : { role: message.role };
  const isModelUnknown = message.role === "assistant" && message.model === undefined;
  const beside = {
    ...kept,
    ...role,
    ...(isModelUnknown && { isModelUnknown }),
    ...(Object.keys(meta).length > 0 && { meta }),
  };
  return Object.keys(beside).length > 0 ? beside : undefined;
}

interface ModelMessageDraft {
  readonly blocks: readonly JsonObject[];
  readonly fields: JsonObject;
  readonly at: number;
  readonly parent: { readonly parent?: Json };
}

function buildModelLines(
  entry: MessageEntry,
  own: JsonObject,
  made: ModelMessageDraft,
): readonly DraftLine[] {
  const { blocks, fields, at, parent } = made;
  const uuids = toArray(own.uuids);
  const delays = toArray(own.delays);
  const message = {
    id: toText(own.id) ?? deriveMessageId(entry.id),
    type: "message",
    role: "assistant",
    model: entry.message.model ?? "<synthetic>",
  };
  const ends = { stop_reason: null, stop_sequence: null, ...toObject(own.message) };
  return splitBlocks(blocks, toArray(own.blocks), uuids.length).map((content, index) => ({
    uuid: toText(uuids[index]) ?? deriveUuid(index === 0 ? entry.id : `${entry.id}.${index}`),
    at: at + (toNumber(delays[index]) ?? 0),
    ...(index === 0 && parent),
    // Our own field is written only on the first line.
    fields: {
      type: "assistant",
      message: { ...message, content, ...ends },
      ...(index === 0 ? fields : omitOwnField(fields)),
    },
  }));
}

/** Splits the blocks into lines: as imported, or one block each. */
function splitBlocks(
  blocks: readonly JsonObject[],
  counts: readonly unknown[],
  lines: number,
): readonly (readonly JsonObject[])[] {
  const sizes = counts.length > 0 ? counts.map((count) => toNumber(count) ?? 0) : Array(lines).fill(1);
  const isAsItWas =
    sizes.length === lines && lines > 0 && sizes.reduce((sum, size) => sum + size, 0) === blocks.length;
  if (!isAsItWas) return blocks.map((block) => [block]);
  let from = 0;
  return sizes.map((size) => {
    from += size;
    return blocks.slice(from - size, from);
  });
}

function omitOwnField({ [OWN_FIELD]: _, ...fields }: JsonObject): JsonObject {
  return fields;
}

/** Derives an assistant message id from a name. */
function deriveMessageId(name: string): string {
  return `msg_${computeDigest(name, 24)}`;
}

/** Content of a line, and the fields that it cannot represent. */
interface LineContent {
  readonly blocks: readonly JsonObject[];
  readonly own: Pick<OwnFields, "parts" | "outputs" | "names" | "isFiller">;
}

/** Converts a message of another format to blocks that Claude Code can continue with. */
async function encodeLineContent({ parts }: Message, session: PartSource): Promise<LineContent> {
  const blocks: JsonObject[] = [];
  const kept: OwnPart[] = [];
  const outputs: OwnOutput[] = [];
  const names: (readonly [number, string])[] = [];
  for (const [index, stored] of parts.entries()) {
    const part = await session.restore(stored);
    if ((part.type === "tool-result" || part.type === "blob") && part.name !== undefined)
      names.push([index, part.name]);
    if (part.type === "tool-result")
      for (const one of await collectForeignOutputs(index, part, session)) outputs.push(one);
    const stand = buildStandIn(part);
    if (stand) kept.push({ index, part: part as OwnPart["part"], isLeftOut: stand.isLeftOut });
    if (stand?.isLeftOut) continue;
    const [block] = await encodeAnthropicBlocks([stand?.part ?? part], session);
    if (block) blocks.push(block);
  }
  const isFiller = blocks.length === 0;
  return {
    blocks: isFiller ? [{ type: "text", text: FILLER }] : blocks,
    own: dropUndefined({
      parts: kept.length > 0 ? kept : undefined,
      outputs: outputs.length > 0 ? outputs : undefined,
      names: names.length > 0 ? names : undefined,
      isFiller: isFiller || undefined,
    }),
  };
}

/** Returns the pieces of a tool's output that the line holds as text. */
async function collectForeignOutputs(
  index: number,
  { output }: ToolResultPart,
  session: PartSource,
): Promise<readonly OwnOutput[]> {
  const foreign: OwnOutput[] = [];
  for (const [piece, stored] of output.entries()) {
    const part = await session.restore(stored);
    if (part.type === "raw" && part.format !== "claude-code") foreign.push({ index, piece, part });
  }
  return foreign;
}

type StandIn =
  | { readonly isLeftOut: true; readonly part?: undefined }
  | { readonly isLeftOut: false; readonly part: Part };

/** Returns the replacement for a part that Claude Code would refuse or change; undefined for all others. */
function buildStandIn(part: Part): StandIn | undefined {
  switch (part.type) {
    case "reasoning": {
      // Anthropic accepts thinking only with its own signature.
      const isSigned = typeof part.opaque === "string" || typeof toObject(part.opaque)?.redacted === "string";
      return isSigned ? undefined : { isLeftOut: true };
    }
    case "raw":
      return part.format === "claude-code" ? undefined : { isLeftOut: true };
    case "tool-call":
      return toObject(part.input)
        ? undefined
        : { isLeftOut: false, part: { ...part, input: { input: part.input } } };
    default:
      return undefined;
  }
}

/** Returns the role that the importer derives from the line. */
function getLineRole({ role, parts }: Message): Role {
  if (role === "assistant") return role;
  return parts.length > 0 && parts.every(({ type }) => type === "tool-result") ? "tool" : "user";
}

/** Facts about a written entry. */
interface WrittenEntry {
  readonly uuid: string;
  /** The record id that an import of the written line gets. */
  readonly record: string;
  readonly calls: readonly (string | undefined)[];
}

/** Maximum entries and lines to remember. */
const MAX_ENTRIES = 10_000;

/** Remembers recent lines: where the next line attaches, and ids that later entries refer to. */
export class WrittenEntries {
  readonly #entries = new BoundedMap<string, WrittenEntry>({ max: MAX_ENTRIES });
  readonly #lines = new BoundedMap<string, true>({ max: MAX_ENTRIES });
  readonly #callers = new BoundedMap<string, string>({ max: MAX_ENTRIES });
  /** The last line on the active line, and the last line overall. */
  #tip: string | null = null;
  #end: string | null = null;
  #isAtTip = true;
  #newest = 0;

  /** The line that the active line continues from. */
  get tip(): string | null {
    return this.#tip;
  }

  /** True if the last written line is on the active line. */
  get isAtTip(): boolean {
    return this.#isAtTip;
  }

  has(uuid: string): boolean {
    return this.#lines.has(uuid);
  }

  /** Returns the parent of the next line. */
  getParent(isOnLine: boolean): string | null {
    return isOnLine ? this.#tip : this.#end;
  }

  addLine(uuid: string, isOnLine: boolean): void {
    this.#lines.set(uuid, true);
    this.#end = uuid;
    this.#isAtTip = isOnLine;
    if (isOnLine) this.#tip = uuid;
  }

  /** Attaches following lines off the active line to this entry. */
  goBackTo(seq: number): void {
    this.#end = this.#entries.get(String(seq))?.uuid ?? this.#end;
  }

  addEntry(seq: number, entry: WrittenEntry): void {
    this.#entries.set(String(seq), entry);
    this.#newest = Math.max(this.#newest, seq);
  }

  /** Notes the line of a call. */
  addCaller(callId: string, uuid: string): void {
    this.#callers.set(callId, uuid);
  }

  findCaller(callId: string): string | undefined {
    return this.#callers.get(callId);
  }

  findRecord(seq: number): string | undefined {
    return this.#entries.get(String(seq))?.record;
  }

  /** Returns the call id of a tool result in an entry: the one at the index of a part, or else the first. */
  findCall(seq: number, part?: number): string | undefined {
    const calls = this.#entries.get(String(seq))?.calls ?? [];
    return part === undefined ? calls.find((call) => call !== undefined) : calls[part];
  }

  /** Returns the first line of the first message after an entry. */
  findFirstAfter(seq: number): string | undefined {
    for (let next = seq + 1; next <= this.#newest && next <= seq + MAX_ENTRIES; next++) {
      const uuid = this.#entries.get(String(next))?.uuid;
      if (uuid !== undefined) return uuid;
    }
    return undefined;
  }
}
