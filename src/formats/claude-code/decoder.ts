import type { Json } from "../../index.ts";
import { arrayOf, objectOf, textOf } from "../content/fields.ts";
import { fingerprint } from "../content/fingerprint.ts";
import type { Item } from "../item.ts";
import type { LineDecoder, LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { Shared } from "./conversation.ts";
import { KnownContents } from "./known-contents.ts";
import { Lane } from "./lane.ts";
import { type Fields, FORMAT } from "./line-records.ts";
import { resultsOf } from "./lines.ts";
import { plainId } from "./plain-id.ts";
import { type AgentMessage, agentMessageOf, saysOnly } from "./progress.ts";
import { RecentMap } from "./recent-map.ts";
import { RepeatedFields } from "./repeated-fields.ts";
import { Titles } from "./titles.ts";

/** Fields that lines repeat. */
const REPEATED = ["sessionId", "cwd", "version", "gitBranch", "userType", "entrypoint", "slug", "teamName"];
/** Fields that only the lines of a sub-agent's own file repeat. */
const REPEATED_BY_AGENT = [...REPEATED, "agentId"];

/** Lines that are held go into a checkpoint up to here; above it, the next checkpoint waits until they are whole. */
const MAX_SAVED_BYTES = 64 * 1024;
const MAX_LANES = 32;
/** A sub-agent that was silent for so many lines has nothing more to add to its last message. */
const MAX_SILENT_LINES = 300;
const MAX_SIDECHAIN_LINES = 10_000;
const SAVED_SIDECHAIN_LINES = 50;
const MAX_REPORTED = 64;

/** Which conversation a file holds. */
export interface DecodedFile {
  /** The sub-agent whose own file it is; left out for a session's file. */
  readonly agentId?: string;
  /** What is known of the conversation besides its lines. */
  readonly facts?: Fields;
  /** It may still be growing. */
  readonly isLive?: boolean;
}

/** Decodes the lines of a session or a sub-agent, from the beginning or from a state. */
export function makeDecoder(file: DecodedFile, state: Json | undefined): LineDecoder {
  return new Decoder(file, objectOf(state) ?? {});
}

class Decoder implements LineDecoder {
  readonly #file: DecodedFile;
  readonly #shared: Shared;
  readonly #titles: Titles;
  /** The conversation of the file itself is "". */
  readonly #lanes = new Map<string, Lane>();
  /** Where each sub-agent was heard of last, and the call that started it. */
  readonly #agents = new Map<string, { line: number; readonly callId: string | undefined }>();
  /** Which sub-agent lines of old files belong to, which name none. */
  readonly #sidechains: RecentMap<string>;
  /** What sub-agents were asked. */
  readonly #prompts: RecentMap<string>;
  /** What came out and was not handed on yet. */
  #items: Item[] = [];
  /** The facts that were told last. */
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
    this.#prompts = new RecentMap(MAX_LANES, arrayOf(state.prompts) as [string, string][]);
    for (const [child, lane] of Object.entries(objectOf(state.lanes) ?? {}))
      this.#lanes.set(child, new Lane(this.#shared, child === "" ? undefined : child, lane as Json));
    for (const [child, line, callId] of arrayOf(state.agents) as [string, number, string | null][])
      this.#agents.set(child, { line, callId: callId ?? undefined });
    this.#told = this.#shared.facts.toJSON();
  }

  get isSettled(): boolean {
    let bytes = 0;
    for (const lane of this.#lanes.values()) bytes += lane.heldBytes;
    return bytes <= MAX_SAVED_BYTES;
  }

  decode(line: LineRecord): readonly Item[] {
    const agent = this.#file.agentId === undefined ? agentMessageOf(line) : undefined;
    if (agent) this.#agentMessage(agent, line);
    else {
      const child = this.#childOf(line.record);
      this.#lane(child, line.line).take(line);
      if (this.#agents.size > 0) this.#retireAgents(line);
    }
    const title = this.#titles.see(line.record, (uuid) => this.#lanes.get("")?.has(uuid) ?? false);
    if (title !== undefined) this.#shared.tell({ type: "session", title });
    this.#tell();
    return this.#taken();
  }

  end(): readonly Item[] {
    for (const lane of this.#lanes.values()) lane.flush(this.#file.isLive);
    this.#tell();
    return this.#taken();
  }

  state(): Json {
    const { facts, contents, reported } = this.#shared;
    return {
      facts: facts.toJSON(),
      contents: contents.toJSON().map((pair) => [...pair]),
      reported: reported.newest(MAX_REPORTED).map(([gist]) => gist),
      title: this.#titles.toJSON(),
      sidechains: this.#sidechains.newest(SAVED_SIDECHAIN_LINES).map((pair) => [...pair]),
      prompts: this.#prompts.newest(MAX_LANES).map((pair) => [...pair]),
      lanes: Object.fromEntries([...this.#lanes].map(([child, lane]) => [child, lane.toJSON()])),
      agents: [...this.#agents].map(([child, { line, callId = null }]) => [child, line, callId]),
    };
  }

  #taken(): readonly Item[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  #agentMessage({ agentId, line, prompt, callId }: AgentMessage, outer: LineRecord): void {
    const child = childName(agentId);
    const lane = this.#lane(child, line.line, callId);
    if (prompt !== undefined) this.#prompt(child, prompt, line.record);
    lane.take(line);
    this.#lane("", line.line).pass(outer.record);
  }

  /** What a sub-agent was asked is its first message; where it is not, it is kept beside. */
  #prompt(child: string, prompt: string, record: JsonObject): void {
    const gist = fingerprint(prompt);
    const isKnown = this.#prompts.get(child) === gist || saysOnly(record, prompt);
    this.#prompts.set(child, gist);
    this.#shared.tell(
      isKnown ? { type: "copy", bytes: prompt.length } : { type: "session", child, meta: { prompt } },
    );
  }

  /** What repeats is told as soon as it is known. */
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

  #lane(child: string, line: number, callId?: string): Lane {
    const agent = this.#agents.get(child);
    if (agent) agent.line = line;
    const known = this.#lanes.get(child);
    if (known) return known;
    for (const oldest of this.#agents.keys()) {
      if (this.#lanes.size < MAX_LANES) break;
      this.#retire(oldest);
    }
    const lane = new Lane(this.#shared, child === "" ? undefined : child);
    this.#lanes.set(child, lane);
    if (child !== "") this.#agents.set(child, { line, callId });
    if (child !== "" && callId !== undefined) this.#shared.tell({ type: "session", child, meta: { callId } });
    return lane;
  }

  /** Sub-agents whose call is answered, or that are long silent, have ended: what is held of them comes out. */
  #retireAgents({ record, line }: LineRecord): void {
    const answered = record.isSidechain === true ? [] : resultsOf(record).map(({ tool_use_id: id }) => id);
    for (const [child, agent] of this.#agents) {
      const isAnswered = agent.callId !== undefined && answered.includes(agent.callId);
      if (isAnswered || line - agent.line > MAX_SILENT_LINES) this.#retire(child);
    }
  }

  #retire(child: string): void {
    this.#lanes.get(child)?.flush();
    this.#lanes.delete(child);
    this.#agents.delete(child);
  }
}

function childName(agentId: string): string {
  return `agent-${plainId(agentId)}`;
}
