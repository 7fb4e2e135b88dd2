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
import { type AgentMessage, agentMessageOf, saysOnly } from "./progress.ts";
import { RecentMap } from "./recent-map.ts";
import { RepeatedFields } from "./repeated-fields.ts";
import { Titles } from "./titles.ts";
import { REPEATED_USAGE } from "./usage.ts";

/** Fields that lines repeat. */
const REPEATED = ["sessionId", "cwd", "version", "gitBranch", "userType", "entrypoint", "slug", "teamName"];
/** Fields that only the lines of a sub-agent's own file repeat. */
const REPEATED_BY_AGENT = [...REPEATED, "agentId"];

/** Lines that are held go into a checkpoint up to here; above it, the next checkpoint waits until they are whole. */
const MAX_SAVED_BYTES = 64 * 1024;
const MAX_LANES = 32;
const MAX_SIDECHAIN_LINES = 10_000;
const SAVED_SIDECHAIN_LINES = 50;
const MAX_REPORTED = 64;

/** Which conversation a file holds. */
export interface DecodedFile {
  /** The sub-agent whose own file it is; left out for a session's file. */
  readonly agentId?: string;
  /** What is known of the conversation besides its lines. */
  readonly facts?: Fields;
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
  /** Which sub-agent lines of old files belong to, which name none. */
  readonly #sidechains: RecentMap<string>;
  /** What sub-agents were asked. */
  readonly #prompts: RecentMap<string>;
  /** What came out and was not handed on yet. */
  #items: Item[] = [];
  /** The facts that were told last. */
  #told: readonly [Fields, Fields];

  constructor(file: DecodedFile, state: JsonObject) {
    const { line, usage } = (objectOf(state.facts) ?? {}) as { line?: Fields; usage?: Fields };
    const isAgent = file.agentId !== undefined;
    this.#file = file;
    this.#shared = {
      facts: {
        line: new RepeatedFields(line ?? {}, isAgent ? REPEATED_BY_AGENT : REPEATED),
        usage: new RepeatedFields(usage ?? {}, REPEATED_USAGE),
      },
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
    this.#told = this.#facts();
  }

  get isSettled(): boolean {
    let bytes = 0;
    for (const lane of this.#lanes.values()) bytes += lane.heldBytes;
    return bytes <= MAX_SAVED_BYTES;
  }

  decode(line: LineRecord): readonly Item[] {
    const agent = this.#file.agentId === undefined ? agentMessageOf(line) : undefined;
    if (agent) this.#agentMessage(agent, line);
    else this.#lane(this.#childOf(line.record)).take(line);
    const title = this.#titles.see(line.record, (uuid) => this.#lanes.get("")?.has(uuid) ?? false);
    if (title !== undefined) this.#shared.tell({ type: "session", title });
    this.#tell();
    return this.#taken();
  }

  end(): readonly Item[] {
    for (const lane of this.#lanes.values()) lane.flush();
    this.#tell();
    return this.#taken();
  }

  state(): Json {
    const { facts, contents, reported } = this.#shared;
    return {
      facts: { line: facts.line.toJSON(), usage: facts.usage.toJSON() },
      contents: contents.toJSON().map((pair) => [...pair]),
      reported: reported.newest(MAX_REPORTED).map(([gist]) => gist),
      title: this.#titles.toJSON(),
      sidechains: this.#sidechains.newest(SAVED_SIDECHAIN_LINES).map((pair) => [...pair]),
      prompts: this.#prompts.newest(MAX_LANES).map((pair) => [...pair]),
      lanes: Object.fromEntries([...this.#lanes].map(([child, lane]) => [child, lane.toJSON()])),
    };
  }

  #taken(): readonly Item[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  #agentMessage({ agentId, line, prompt, callId }: AgentMessage, outer: LineRecord): void {
    const child = `agent-${agentId}`;
    const lane = this.#lane(child, callId);
    if (prompt !== undefined) this.#prompt(child, prompt, line.record);
    lane.take(line);
    this.#lane("").pass(outer.record);
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
    const facts = this.#facts();
    if (facts.every((fact, index) => fact === this.#told[index])) return;
    this.#told = facts;
    const [line, usage] = facts;
    const own = { ...this.#file.facts, ...line, ...(Object.keys(usage).length > 0 && { usage }) };
    this.#shared.tell({ type: "session", meta: { [FORMAT]: own } });
  }

  #facts(): readonly [Fields, Fields] {
    return [this.#shared.facts.line.toJSON(), this.#shared.facts.usage.toJSON()];
  }

  #childOf(record: JsonObject): string {
    const agentId = textOf(record.agentId);
    if (this.#file.agentId !== undefined) return "";
    if (record.type === "content-replacement" && agentId !== undefined) return `agent-${agentId}`;
    if (record.isSidechain !== true) return "";
    if (agentId !== undefined) return `agent-${agentId}`;
    const uuid = textOf(record.uuid) ?? "";
    const child = this.#sidechains.get(textOf(record.parentUuid) ?? "") ?? `agent-${uuid}`;
    this.#sidechains.set(uuid, child);
    return child;
  }

  #lane(child: string, callId?: string): Lane {
    const known = this.#lanes.get(child);
    if (known) return known;
    for (const [oldest, lane] of this.#lanes) {
      if (this.#lanes.size < MAX_LANES) break;
      if (oldest === "") continue;
      lane.flush();
      this.#lanes.delete(oldest);
    }
    const lane = new Lane(this.#shared, child === "" ? undefined : child);
    this.#lanes.set(child, lane);
    if (child !== "" && callId !== undefined) this.#shared.tell({ type: "session", child, meta: { callId } });
    return lane;
  }
}
