import type { Json } from "../../index.ts";
import { arrayOf, objectOf, textOf } from "../content/fields.ts";
import type { Item, RecordItem } from "../item.ts";
import type { LineDecoder, LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { Shared } from "./conversation.ts";
import { KnownContents } from "./known-contents.ts";
import { Lanes } from "./lanes.ts";
import { type Fields, FORMAT } from "./line-records.ts";
import { plainId } from "./plain-id.ts";
import { type AgentMessage, agentMessageOf, saysOnly } from "./progress.ts";
import { RecentMap } from "./recent-map.ts";
import { RepeatedFields } from "./repeated-fields.ts";
import { Titles } from "./titles.ts";

/** Fields that most lines repeat. */
const REPEATED = ["sessionId", "cwd", "version", "gitBranch", "userType", "entrypoint", "slug", "teamName"];
/** Fields repeated in a sub-agent's own file. */
const REPEATED_BY_AGENT = [...REPEATED, "agentId"];

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
export function makeDecoder(file: DecodedFile, state: Json | undefined): LineDecoder {
  return new Decoder(file, objectOf(state) ?? {});
}

class Decoder implements LineDecoder {
  readonly #file: DecodedFile;
  readonly #shared: Shared;
  readonly #titles: Titles;
  readonly #lanes: Lanes;
  /** Sub-agents of lines in old files, which do not name them, by line id. */
  readonly #sidechains: RecentMap<string>;
  /** Prompts of sub-agents by name. */
  readonly #prompts: KnownContents;
  /** Decoded items that were not returned yet. */
  #items: Item[] = [];
  /** True once a record had a time: earlier records wait for it, or they would be dated today. */
  #isTimed: boolean;
  /** The facts that were reported last. */
  #told: Fields;

  constructor(file: DecodedFile, state: JsonObject) {
    const facts = (objectOf(state.facts) ?? {}) as Fields;
    const isAgent = file.agentId !== undefined;
    this.#file = file;
    this.#shared = {
      facts: new RepeatedFields(facts, isAgent ? REPEATED_BY_AGENT : REPEATED),
      contents: new KnownContents(arrayOf(state.contents) as [string, string][]),
      reported: new RecentMap(
        MAX_REPORTED,
        (arrayOf(state.reported) as readonly string[]).map((gist) => [gist, true] as const),
      ),
      tell: (item) => this.#items.push(item),
    };
    this.#titles = new Titles(state.title);
    this.#sidechains = new RecentMap(MAX_SIDECHAIN_LINES, arrayOf(state.sidechains) as [string, string][]);
    this.#prompts = new KnownContents(arrayOf(state.prompts) as [string, string][]);
    this.#lanes = new Lanes(this.#shared, state);
    this.#isTimed = state.facts !== undefined;
    this.#told = this.#shared.facts.toJSON();
  }

  get isSettled(): boolean {
    return this.#isTimed && this.#lanes.heldBytes <= MAX_SAVED_BYTES;
  }

  decode(line: LineRecord): readonly Item[] {
    const agent = agentMessageOf(line);
    if (agent && agent.agentId !== this.#file.agentId) this.#agentMessage(agent, line);
    else {
      this.#lanes.get(this.#childOf(line.record), line.line).take(line);
      this.#lanes.retireAgents(line);
    }
    const title = this.#titles.see(line.record, (uuid) => this.#lanes.has(uuid));
    if (title !== undefined) this.#shared.tell({ type: "session", title });
    this.#tell();
    return this.#taken();
  }

  end(): readonly Item[] {
    this.#lanes.flush(this.#file.isLive ?? false);
    this.#tell();
    return this.#taken(true);
  }

  state(): Json {
    const { facts, contents, reported } = this.#shared;
    return {
      facts: facts.toJSON(),
      contents: contents.toJSON(),
      reported: reported.newest(MAX_REPORTED).map(([gist]) => gist),
      title: this.#titles.toJSON(),
      sidechains: this.#sidechains.newest(SAVED_SIDECHAIN_LINES).map((pair) => [...pair]),
      prompts: this.#prompts.toJSON(),
      ...this.#lanes.toJSON(),
    };
  }

  #taken(isEnd = false): readonly Item[] {
    const items = this.#items;
    const at = this.#isTimed ? undefined : items.find(isTimed)?.at;
    this.#isTimed ||= isEnd || at !== undefined || items.length > MAX_UNTIMED;
    if (!this.#isTimed) return [];
    this.#items = [];
    return at === undefined ? items : items.map((item) => (item.type === "record" ? { at, ...item } : item));
  }

  #agentMessage({ agentId, line, prompt, callId }: AgentMessage, outer: LineRecord): void {
    const child = childName(agentId);
    const lane = this.#lanes.get(child, line.line, callId);
    if (prompt !== undefined) this.#prompt(child, prompt, line.record);
    lane.take(line);
    this.#lanes.get("", line.line).pass(outer.record);
  }

  /** A sub-agent's prompt is normally its first message; otherwise it is stored as meta. */
  #prompt(child: string, prompt: string, record: JsonObject): void {
    const isRepeated = this.#prompts.has(child, prompt);
    if (!isRepeated) this.#prompts.set(child, prompt);
    const isKnown = isRepeated || saysOnly(record, prompt);
    this.#shared.tell(
      isKnown ? { type: "copy", bytes: prompt.length } : { type: "session", child, meta: { prompt } },
    );
  }

  /** Reports repeated fields as soon as they are known. */
  #tell(): void {
    const facts = this.#shared.facts.toJSON();
    if (facts === this.#told) return;
    this.#told = facts;
    this.#shared.tell({ type: "session", meta: { [FORMAT]: { ...this.#file.facts, ...facts } } });
  }

  #childOf(record: JsonObject): string {
    const agentId = textOf(record.agentId);
    if (this.#file.agentId !== undefined) return "";
    const isOfAgent = record.isSidechain === true || record.type === "content-replacement";
    if (isOfAgent && agentId !== undefined) return childName(agentId);
    if (record.isSidechain !== true) return "";
    const uuid = textOf(record.uuid) ?? "";
    const child = this.#sidechains.get(textOf(record.parentUuid) ?? "") ?? childName(uuid);
    this.#sidechains.set(uuid, child);
    return child;
  }
}

function isTimed(item: Item): item is RecordItem {
  return item.type === "record" && item.at !== undefined;
}

function childName(agentId: string): string {
  return `agent-${plainId(agentId)}`;
}
