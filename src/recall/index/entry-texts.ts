import { type RestorePart, readBlobText } from "../../log/spilled-parts.ts";
import type { ChunkAuthor } from "../../log/store/memory-store.ts";
import { removeRecalled } from "../../model/base/fence.ts";
import { walkJson } from "../../model/base/walk-json.ts";
import type { Entry } from "../../model/entry.ts";
import type { Json } from "../../model/json.ts";
import type { Message, Role } from "../../model/message.ts";
import type { SingleEdit } from "../../model/overlay.ts";
import type { Part, ToolCallPart } from "../../model/part.ts";
import { parseToolArguments } from "../../window/effects/call-arguments.ts";
import { isCommitCommand } from "../../window/effects/commit.ts";
import { findTouches } from "../../window/effects/find-touches.ts";
import { RECALLED_META } from "../retrieval/context-block.ts";
import { EVIDENCE } from "../text/evidence.ts";

/** One text of an entry; `part` identifies it permanently, so that a chunk finds its text again. */
export interface EntryText {
  readonly part: number;
  readonly text: string;
  readonly author: ChunkAuthor;
  /** Bits of `EVIDENCE`. */
  readonly evidence: number;
  /** Items of a plan in this text that are being worked on. */
  readonly active?: readonly string[];
  /** Number of such an item whose text is in an earlier entry. */
  readonly activeId?: string;
}

/** Maximum indexed length of one text. */
const MAX_CHARACTERS = 2_000_000;

const AUTHORS: Readonly<Record<Role, ChunkAuthor>> = {
  system: "none",
  user: "user",
  assistant: "assistant",
  tool: "tool",
};

/** Kinds of entries that are indexed. */
export const INDEXED_KINDS = ["message", "overlay"] as const;

/** All texts of an entry: messages, reasoning, tool inputs and outputs, and summaries. */
export async function readEntryTexts(entry: Entry, restore: RestorePart): Promise<EntryText[]> {
  if (entry.kind === "message") return readMessageTexts(entry.message, restore);
  if (entry.kind === "overlay") return listSummaryTexts(entry.edit.type === "plan" ? [] : [entry.edit]);
  return [];
}

/** The speaker of an entry, if the caller has named one. */
export function findSpeaker(entry: Entry): string | undefined {
  if (entry.kind !== "message") return undefined;
  const speaker = entry.message.meta?.speaker;
  return typeof speaker === "string" && speaker !== "" ? speaker.slice(0, 200) : undefined;
}

async function readMessageTexts({ role, parts, meta }: Message, restore: RestorePart): Promise<EntryText[]> {
  const texts: EntryText[] = [];
  // Recalled text is found at its original place.
  if (meta?.longhaul === RECALLED_META.longhaul) return texts;
  // Numbers all parts, including those inside tool results, so that each has its own number.
  let part = 0;
  const add = (text: string, author: ChunkAuthor, evidence: Pick<EntryText, "evidence">): void => {
    if (text.trim() !== "") texts.push({ part, text: text.slice(0, MAX_CHARACTERS), author, ...evidence });
    part++;
  };
  for (const own of parts) {
    if (own.type === "tool-result") {
      for (const output of own.output)
        add(removeRecalled(await readPartText(output, restore)), "tool", { evidence: 0 });
    } else add(removeRecalled(await readPartText(own, restore)), AUTHORS[role], readEvidence(own));
  }
  return texts;
}

function readEvidence(part: Part): Pick<EntryText, "evidence" | "active" | "activeId"> {
  const evidence = detectEvidence(part);
  const plan = part.type === "tool-call" ? parsePlanCall(part) : undefined;
  return plan ? { evidence: evidence | EVIDENCE.plan, ...plan } : { evidence };
}

/** The text of a part; that of a large one is read from its blob. */
export async function readPartText(part: Part, restore: RestorePart): Promise<string> {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool-call":
      return `${part.name}\n${[...listStrings(part.input)].join("\n")}`;
    case "blob":
      return part.of === undefined ? (part.name ?? "") : readBlobText(part, restore, readPartText);
    default:
      return "";
  }
}

/** All texts and numbers in a tool's input; the first one of a field follows its name. */
function* listStrings(input: Json): Generator<string> {
  for (const { names, value } of walkJson(input)) yield [...names, value].join(": ");
}

/** Summaries of a range; text quoted by a policy's plan is already in the log, word for word. */
function listSummaryTexts(edits: readonly (SingleEdit | { readonly type: "revert" })[]): EntryText[] {
  const texts = edits.flatMap((edit) =>
    edit.type === "summarize"
      ? (edit.messages ?? []).flatMap(({ parts }) =>
          parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
        )
      : [],
  );
  return texts.map((text, part) => ({
    part,
    text: text.slice(0, MAX_CHARACTERS),
    author: "none",
    evidence: 0,
  }));
}

/** The evidence bits of a part; 0 for prose and tool results. */
export function detectEvidence(part: Part): number {
  if (part.type === "reasoning") return EVIDENCE.reasoning;
  if (part.type !== "tool-call") return 0;
  let bits: number = EVIDENCE.call;
  for (const { kind, command } of findTouches(part)) {
    if (kind === "edit" || kind === "write") bits |= EVIDENCE.edit;
    if (command !== undefined && isCommitCommand(command)) bits |= EVIDENCE.commit;
  }
  return bits;
}

/** The plan that a tool call writes. */
interface PlanCall {
  /** Texts of the items that are being worked on. */
  readonly active: readonly string[];
  /** Number of an item of an earlier call that is being worked on from now on. */
  readonly activeId?: string;
}

/** Fields in which agents keep the text of an item. */
const ITEM_TEXTS = ["content", "step", "title", "description", "text"] as const;
const ACTIVE = /^in[ _-]?progress$/i;

/**
 * The plan in a call's input: a list of items with a status, or the new status of one item; undefined for other calls.
 */
export function parsePlanCall({ input }: ToolCallPart): PlanCall | undefined {
  const fields = parseToolArguments(input);
  if (!fields) return undefined;
  const items = Object.values(fields).find(isItemList);
  if (items) {
    const active = items.filter(({ status }) => typeof status === "string" && ACTIVE.test(status));
    return { active: active.flatMap((item) => findItemText(item) ?? []) };
  }
  const { taskId, status } = fields;
  if ((typeof taskId !== "string" && typeof taskId !== "number") || typeof status !== "string")
    return undefined;
  return { active: [], ...(ACTIVE.test(status) && { activeId: String(taskId) }) };
}

type Item = { readonly [name: string]: Json };

function isItemList(value: Json): value is readonly Item[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (item) => item !== null && typeof item === "object" && "status" in item && !!findItemText(item),
    )
  );
}

function findItemText(item: Json): string | undefined {
  const fields = item as Item;
  const name = ITEM_TEXTS.find((field) => typeof fields[field] === "string" && fields[field] !== "");
  return name === undefined ? undefined : (fields[name] as string);
}
