import type { Json } from "../../kernel/index.ts";
import { BoundedMap } from "../../model/base/caches.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toArray, toNumber, toObject, toText } from "../../wire/fields.ts";
import type { LineDecoder, LineRecord } from "../reading/decode-lines.ts";
import type { Item, RecordItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { ClaudeCodeConversation, type SharedState } from "./claude-code-conversation.ts";
import { getLineKind, getMessageId, getToolResults, type LineKind } from "./claude-code-lines.ts";
import { KnownContents } from "./known-contents.ts";
import { type Fields, FORMAT } from "./line-records.ts";
import { toPlainId } from "./plain-id.ts";
import {
  type AgentMessage,
  extractAgentMessage,
  extractCommandOutput,
  hasOnlyText,
  isRunning,
} from "./progress-lines.ts";
import { RepeatedFields } from "./repeated-fields.ts";

/** Fields that most lines repeat. */
const REPEATED_FIELDS = [
  "sessionId",
  "cwd",
  "version",
  "gitBranch",
  "userType",
  "entrypoint",
  "slug",
  "teamName",
];
/** Fields repeated in a sub-agent's own file. */
const AGENT_REPEATED_FIELDS = [...REPEATED_FIELDS, "agentId"];

/** Maximum size of held lines in a checkpoint; above it, the next checkpoint waits until the lines are complete. */
const MAX_SAVED_BYTES = 64 * 1024;
const MAX_SIDECHAIN_LINES = 10_000;
const SAVED_SIDECHAIN_LINES = 50;
const MAX_REPORTED = 64;
const MAX_UNTIMED = 1_000;

/** Sources of titles with their ranks; a title chosen by a person wins. */
const RANKS: Readonly<Record<string, { readonly rank: number; readonly field: string }>> = {
  summary: { rank: 1, field: "summary" },
  "ai-title": { rank: 2, field: "aiTitle" },
  "custom-title": { rank: 3, field: "customTitle" },
};

/** Maximum sub-agents that are tracked at once. */
const MAX_AGENTS = 32;
/** A sub-agent that was silent for this many lines adds nothing more to its last message. */
const MAX_SILENT_LINES = 300;

/** Maximum bytes of held lines: a message still open beyond it continues as another one. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
/** Approximate memory of a dropped line while other lines are held. */
const SKIPPED_LINE_BYTES = 100;

/** The conversation that a file holds. */
export interface DecodedFile {
  /** Id of the sub-agent whose own file this is; absent for a session's file. */
  readonly agentId?: string;
  /** Facts about the conversation from outside its lines. */
  readonly facts?: Fields;
  /** The file may still be growing. */
  readonly isLive?: boolean;
}

/** Creates a decoder for a session or sub-agent, from the beginning or from a saved state. */
export function createClaudeCodeDecoder(file: DecodedFile, state: Json | undefined): LineDecoder {
  return new ClaudeCodeDecoder(file, toObject(state) ?? {});
}

class ClaudeCodeDecoder implements LineDecoder {
  readonly #file: DecodedFile;
  readonly #shared: SharedState;
  readonly #titles: TitleChoice;
  readonly #lanes: Lanes;
  /** Sub-agents of lines in old files, which do not name them, by line id. */
  readonly #sidechains: BoundedMap<string, string>;
  /** Prompts of sub-agents by name. */
  readonly #prompts: KnownContents;
  /** Decoded items that were not returned yet. */
  #items: Item[] = [];
  /** True once a record had a time: earlier records wait for it, or they would be dated today. */
  #isTimed: boolean;
  /** The facts that were reported last. */
  #reportedFacts: Fields;
  /** The session that this one was forked from (`--fork-session`); the lines that it copied name it. */
  #origin: string | undefined;
  #reportedOrigin: string | undefined;

  constructor(file: DecodedFile, state: JsonObject) {
    const facts = (toObject(state.facts) ?? {}) as Fields;
    const isAgent = file.agentId !== undefined;
    this.#file = file;
    this.#shared = {
      facts: new RepeatedFields(facts, isAgent ? AGENT_REPEATED_FIELDS : REPEATED_FIELDS),
      contents: new KnownContents(toArray(state.contents) as [string, string][]),
      seenReports: new BoundedMap(
        { max: MAX_REPORTED },
        (toArray(state.reported) as readonly string[]).map((gist) => [gist, true] as const),
      ),
      emit: (item) => this.#items.push(item),
    };
    this.#titles = new TitleChoice(state.title);
    this.#sidechains = new BoundedMap(
      { max: MAX_SIDECHAIN_LINES },
      toArray(state.sidechains) as [string, string][],
    );
    this.#prompts = new KnownContents(toArray(state.prompts) as [string, string][]);
    this.#lanes = new Lanes(this.#shared, state);
    this.#isTimed = state.facts !== undefined;
    this.#reportedFacts = this.#shared.facts.toJSON();
    this.#origin = toText(state.origin);
    this.#reportedOrigin = this.#origin;
  }

  get isSettled(): boolean {
    return this.#isTimed && this.#lanes.heldBytes <= MAX_SAVED_BYTES;
  }

  decode(line: LineRecord): readonly Item[] {
    this.#origin ??= toText(toObject(line.record.forkedFrom)?.sessionId);
    const agent = extractAgentMessage(line);
    if (agent && agent.agentId !== this.#file.agentId) this.#addAgentMessage(agent, line);
    else {
      this.#lanes.get(this.#findChild(line.record), line.line).addLine(line);
      this.#lanes.retireAgents(line);
    }
    const title = this.#titles.chooseTitle(line.record, (uuid) => this.#lanes.has(uuid));
    if (title !== undefined) this.#shared.emit({ type: "session", title });
    this.#reportFacts();
    return this.#takeItems();
  }

  end(): readonly Item[] {
    this.#lanes.flush(this.#file.isLive ?? false);
    this.#reportFacts();
    return this.#takeItems(true);
  }

  state(): Json {
    const { facts, contents, seenReports: reported } = this.#shared;
    return {
      facts: facts.toJSON(),
      ...(this.#origin !== undefined && { origin: this.#origin }),
      contents: contents.toJSON(),
      reported: reported.listNewest(MAX_REPORTED).map(([gist]) => gist),
      title: this.#titles.toJSON(),
      sidechains: this.#sidechains.listNewest(SAVED_SIDECHAIN_LINES).map((pair) => [...pair]),
      prompts: this.#prompts.toJSON(),
      ...this.#lanes.toJSON(),
    };
  }

  #takeItems(isEnd = false): readonly Item[] {
    const items = this.#items;
    const at = this.#isTimed ? undefined : items.find(isTimed)?.at;
    this.#isTimed ||= isEnd || at !== undefined || items.length > MAX_UNTIMED;
    if (!this.#isTimed) return [];
    this.#items = [];
    return at === undefined ? items : items.map((item) => (item.type === "record" ? { at, ...item } : item));
  }

  #addAgentMessage({ agentId, line, prompt, callId }: AgentMessage, outer: LineRecord): void {
    const child = toChildName(agentId);
    const lane = this.#lanes.get(child, line.line, callId);
    if (prompt !== undefined) this.#addPrompt(child, prompt, line.record);
    lane.addLine(line);
    this.#lanes.get("", line.line).skipLine(outer.record);
  }

  /** A sub-agent's prompt is normally its first message; otherwise it is stored as meta. */
  #addPrompt(child: string, prompt: string, record: JsonObject): void {
    const isRepeated = this.#prompts.has(child, prompt);
    if (!isRepeated) this.#prompts.set(child, prompt);
    const isKnown = isRepeated || hasOnlyText(record, prompt);
    this.#shared.emit(
      isKnown ? { type: "copy", bytes: prompt.length } : { type: "session", child, meta: { prompt } },
    );
  }

  /** Reports repeated fields as soon as they are known. */
  #reportFacts(): void {
    const facts = this.#shared.facts.toJSON();
    if (facts === this.#reportedFacts && this.#origin === this.#reportedOrigin) return;
    this.#reportedFacts = facts;
    this.#reportedOrigin = this.#origin;
    const relation = this.#origin === undefined ? {} : { forkedFrom: `${FORMAT}/${this.#origin}` };
    this.#shared.emit({
      type: "session",
      meta: { [FORMAT]: { ...this.#file.facts, ...facts }, ...relation },
    });
  }

  #findChild(record: JsonObject): string {
    const agentId = toText(record.agentId);
    if (this.#file.agentId !== undefined) return "";
    const isOfAgent = record.isSidechain === true || record.type === "content-replacement";
    if (isOfAgent && agentId !== undefined) return toChildName(agentId);
    if (record.isSidechain !== true) return "";
    const uuid = toText(record.uuid) ?? "";
    const child = this.#sidechains.get(toText(record.parentUuid) ?? "") ?? toChildName(uuid);
    this.#sidechains.set(uuid, child);
    return child;
  }
}

function isTimed(item: Item): item is RecordItem {
  return item.type === "record" && item.at !== undefined;
}

function toChildName(agentId: string): string {
  return `agent-${toPlainId(agentId)}`;
}

/** Chooses the title of a conversation among those in its lines. */
class TitleChoice {
  #rank: number;

  constructor(state: unknown) {
    this.#rank = toNumber(state) ?? 0;
  }

  /** Returns the title in a line, unless a better one is known. Summaries of other conversations are ignored. */
  chooseTitle(record: JsonObject, isOwn: (uuid: string) => boolean): string | undefined {
    const kind =
      typeof record.type === "string" && Object.hasOwn(RANKS, record.type) ? RANKS[record.type] : undefined;
    const title = kind && toText(record[kind.field]);
    if (!kind || title === undefined || kind.rank < this.#rank) return undefined;
    if (record.type === "summary" && !isOwn(toText(record.leafUuid) ?? "")) return undefined;
    this.#rank = kind.rank;
    return title;
  }

  toJSON(): Json {
    return this.#rank;
  }
}

interface Agent {
  /** Number of the last line that concerned the sub-agent. */
  line: number;
  /** The call that started the sub-agent. */
  readonly callId: string | undefined;
}

/** The conversations of a file: its own, named "", and those of active sub-agents. */
class Lanes {
  readonly #shared: SharedState;
  readonly #lanes = new Map<string, Lane>();
  readonly #agents = new Map<string, Agent>();

  constructor(shared: SharedState, state: JsonObject) {
    this.#shared = shared;
    for (const [child, lane] of Object.entries(toObject(state.lanes) ?? {}))
      this.#lanes.set(child, new Lane(shared, child === "" ? undefined : child, lane as Json));
    for (const [child, line, callId] of toArray(state.agents) as [string, number, string | null][])
      this.#agents.set(child, { line, callId: callId ?? undefined });
  }

  get heldBytes(): number {
    let bytes = 0;
    for (const lane of this.#lanes.values()) bytes += lane.heldBytes;
    return bytes;
  }

  /** Tells whether a line with this id was read in the file's own conversation. */
  has(uuid: string): boolean {
    return this.#lanes.get("")?.has(uuid) ?? false;
  }

  /** Returns the lane of a conversation, opening it if necessary, and notes that `line` concerns it. */
  get(child: string, line: number, callId?: string): Lane {
    const agent = this.#agents.get(child);
    if (agent) agent.line = line;
    return this.#lanes.get(child) ?? this.#open(child, line, callId);
  }

  /** Retires sub-agents whose call the line answers, or that have been silent for long, and emits their held lines. */
  retireAgents({ record, line }: LineRecord): void {
    if (this.#agents.size === 0) return;
    const answered =
      record.isSidechain === true ? [] : getToolResults(record).map(({ tool_use_id: id }) => id);
    for (const [child, agent] of this.#agents) {
      const isAnswered = agent.callId !== undefined && answered.includes(agent.callId);
      if (isAnswered || line - agent.line > MAX_SILENT_LINES) this.#retire(child);
    }
  }

  /** Emits all held lines. */
  flush(isGrowing: boolean): void {
    for (const lane of this.#lanes.values()) lane.flush(isGrowing);
  }

  toJSON(): { readonly [field: string]: Json } {
    return {
      lanes: Object.fromEntries([...this.#lanes].map(([child, lane]) => [child, lane.toJSON()])),
      agents: [...this.#agents].map(([child, { line, callId = null }]) => [child, line, callId]),
    };
  }

  #open(child: string, line: number, callId: string | undefined): Lane {
    const lane = new Lane(this.#shared, child === "" ? undefined : child);
    if (child !== "") {
      for (const oldest of this.#agents.keys()) {
        if (this.#agents.size < MAX_AGENTS) break;
        this.#retire(oldest);
      }
      this.#agents.set(child, { line, callId });
      if (callId !== undefined) this.#shared.emit({ type: "session", child, meta: { callId } });
    }
    this.#lanes.set(child, lane);
    return lane;
  }

  #retire(child: string): void {
    this.#lanes.get(child)?.flush();
    this.#lanes.delete(child);
    this.#agents.delete(child);
  }
}

interface HeldLine {
  readonly line: LineRecord;
  readonly kind: LineKind;
}

/**
 * Turns one conversation's lines into records. The lines of one assistant message are interleaved with those of its
 * tools: they are held until the message is complete, and come out as one message followed by all the others.
 */
class Lane {
  readonly #shared: SharedState;
  readonly #conversation: ClaudeCodeConversation;
  #held: HeldLine[] = [];
  /** Ids and parents of lines in between that become no record. */
  #passed: JsonObject[] = [];
  #ids = new Set<string>();
  #heldBytes = 0;
  #copiedBytes = 0;
  /** Position and text of the newest held progress of each command. */
  #outputs = new Map<string, { readonly index: number; readonly text: string }>();

  constructor(shared: SharedState, child: string | undefined, state?: Json) {
    const saved = toObject(state) ?? {};
    this.#shared = shared;
    this.#conversation = new ClaudeCodeConversation(shared, child, toObject(saved.conversation));
    for (const line of toArray(saved.held) as readonly LineRecord[])
      this.#hold({ line, kind: getLineKind(line.record) });
    for (const record of toArray(saved.passed)) this.skipLine(record as JsonObject);
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Tells whether a line with this id was read before. */
  has(uuid: string): boolean {
    return this.#ids.has(uuid) || this.#conversation.has(uuid);
  }

  addLine(line: LineRecord): void {
    const { record } = line;
    const uuid = toText(record.uuid);
    if (uuid !== undefined && this.has(uuid)) {
      this.#shared.emit({ type: "copy", bytes: line.sizeBytes });
      return;
    }
    const kind = getLineKind(record);
    if (!this.#belongsToMessage(record, kind)) this.flush();
    if (this.#held.length > 0 || kind === "assistant") this.#hold({ line, kind });
    else this.#conversation.addLine(line, kind);
    if (this.#heldBytes > MAX_HELD_BYTES) this.flush();
  }

  /** Skips a line that becomes no record. */
  skipLine({ uuid, parentUuid }: JsonObject): void {
    const id = toText(uuid);
    if (id === undefined) return;
    const passed = { uuid: id, ...dropUndefined({ parentUuid }) };
    if (this.#held.length === 0) {
      this.#conversation.skipLine(passed);
      return;
    }
    this.#passed.push(passed);
    this.#ids.add(id);
    this.#heldBytes += SKIPPED_LINE_BYTES;
  }

  /** Emits all held lines; while the file may still grow, it leaves out partial output of running commands. */
  flush(isGrowing = false): void {
    const held = this.#held;
    const passed = this.#passed;
    const copiedBytes = this.#copiedBytes;
    if (held.length === 0) return;
    this.#held = [];
    this.#passed = [];
    this.#ids = new Set();
    this.#heldBytes = 0;
    this.#copiedBytes = 0;
    this.#outputs = new Map();
    const others = held.filter(({ kind }) => kind !== "assistant");
    const neighbours = others.map(({ line }) => line);
    this.#conversation.addMessage(held.flatMap(({ line, kind }) => (kind === "assistant" ? [line] : [])));
    for (const { line, kind } of others) {
      const output = isGrowing ? extractCommandOutput(line.record) : undefined;
      if (output && isRunning(output, neighbours)) this.#conversation.skipLine(line.record);
      else this.#conversation.addLine(line, kind, neighbours);
    }
    for (const record of passed) this.#conversation.skipLine(record);
    if (copiedBytes > 0) this.#shared.emit({ type: "copy", bytes: copiedBytes });
  }

  toJSON(): Json {
    return dropUndefined({
      conversation: this.#conversation.toJSON(),
      held: this.#held.length > 0 ? (this.#held.map(({ line }) => line) as unknown as Json) : undefined,
      passed: this.#passed.length > 0 ? ([...this.#passed] as Json) : undefined,
    });
  }

  /** Tells whether the held message may continue after this line. */
  #belongsToMessage(record: JsonObject, kind: LineKind): boolean {
    const [first] = this.#held;
    if (!first) return true;
    switch (kind) {
      case "assistant": {
        const id = getMessageId(record);
        return id !== undefined && id === getMessageId(first.line.record);
      }
      case "prompt":
      case "boundary":
        return false;
      case "result":
      case "aside":
        return this.#ids.has(record.parentUuid as string) || !this.#conversation.isBranch(record);
      default:
        return true;
    }
  }

  #hold(held: HeldLine): void {
    const { line } = held;
    const { record } = line;
    const uuid = toText(record.uuid);
    if (uuid !== undefined) this.#ids.add(uuid);
    this.#heldBytes += line.sizeBytes;
    const output = extractCommandOutput(record);
    const earlier = output && this.#outputs.get(output.callId);
    if (output && earlier && output.text.startsWith(earlier.text)) {
      const { line: dropped } = this.#held[earlier.index] as HeldLine;
      this.#held[earlier.index] = held;
      this.#outputs.set(output.callId, { index: earlier.index, text: output.text });
      this.#heldBytes -= dropped.sizeBytes;
      this.#copiedBytes += dropped.sizeBytes;
      this.skipLine(dropped.record);
      return;
    }
    this.#held.push(held);
    if (output) this.#outputs.set(output.callId, { index: this.#held.length - 1, text: output.text });
  }
}
