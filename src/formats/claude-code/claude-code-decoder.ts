import { BoundedMap } from "../../base/bounded-map.ts";
import type { Json } from "../../index.ts";
import { toArray, toObject, toText } from "../../wire/fields.ts";
import type { Item, RecordItem } from "../port/item.ts";
import type { LineDecoder, LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { SharedState } from "./claude-code-conversation.ts";
import { KnownContents } from "./known-contents.ts";
import { Lanes } from "./lanes.ts";
import { type Fields, FORMAT } from "./line-records.ts";
import { toPlainId } from "./plain-id.ts";
import { type AgentMessage, extractAgentMessage, hasOnlyText } from "./progress-lines.ts";
import { RepeatedFields } from "./repeated-fields.ts";
import { TitleChoice } from "./title-choice.ts";

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
