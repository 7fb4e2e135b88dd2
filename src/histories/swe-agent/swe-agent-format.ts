import { basename, dirname } from "node:path";
import type { Json, MessageInput, PartInput, Usage } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { SUM_META } from "../../model/usage.ts";
import { decodeAnthropicBlocks } from "../../wire/anthropic/decode-anthropic.ts";
import { omitFields, toArray, toNumber, toObject, toText } from "../../wire/fields.ts";
import {
  decodeChatCall,
  decodeChatContent,
  decodeChatOutput,
} from "../../wire/openai-chat/chat-content-decode.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import { KnownPrints } from "../deduplication/known-prints.ts";
import { buildFileSource, type Format, type ImportSource } from "../port/format.ts";
import type { Input } from "../reading/input.ts";
import type { Item, RecordItem } from "../reading/item.ts";
import type { JsonElement } from "../reading/json-elements.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";

const NAME = "swe-agent";

/** Trajectories of SWE-agent: actions as text before version 1, tool calls since. */
export const sweAgentFormat: Format = {
  name: NAME,
  title: "SWE-agent",
  processes: ["sweagent"],
  homes: () => [],
  async detect(folder) {
    const sources: ImportSource[] = [];
    for (const file of folder.files) {
      if (!/\.traj$/i.test(file.name) && !/\.json$/i.test(file.name)) continue;
      if (!isTrajectory(await folder.head(file))) continue;
      const title = file.name.replace(/\.[^.]+$/, "");
      const run = folder.name === title ? basename(dirname(folder.path)) : folder.name;
      sources.push(buildFileSource(NAME, file, { id: `${run}/${title}`, isUnnamed: true, title }));
    }
    return sources;
  },
  async *read(source, input) {
    const steps = new StepReader(input, source.path);
    try {
      yield* new TrajectoryReader(source, input, steps).read();
    } finally {
      await steps.close();
    }
  },
};

function isTrajectory(head: string): boolean {
  if (!/"(trajectory|history)"/.test(head)) return false;
  const { trajectory, history } = toObject(parseCutJson(head)) ?? {};
  const step = Array.isArray(trajectory) ? toObject(trajectory[0]) : undefined;
  const turn = Array.isArray(history) ? toObject(history[0]) : undefined;
  if (step && ("action" in step || "response" in step || "thought" in step)) return true;
  return turn !== undefined && "role" in turn && ("agent" in turn || "message_type" in turn);
}

/** A turn that waits for its observation. */
interface OpenTurn {
  readonly id: string;
  /** Index in the history; undefined if only the trajectory has the turn. */
  readonly index: number | undefined;
  readonly entry: JsonObject | undefined;
  readonly calls: readonly PendingAction[];
  readonly step: TrajectoryStep | undefined;
}

/** Reads messages from the history and fills gaps from the trajectory. */
class TrajectoryReader {
  readonly #source: ImportSource;
  readonly #input: Input;
  readonly #steps: StepReader;
  readonly #seen = new SeenMessages();
  readonly #facts: [string, Json][] = [];
  #agent: unknown;
  #open: OpenTurn | undefined;

  constructor(source: ImportSource, input: Input, steps: StepReader) {
    this.#source = source;
    this.#input = input;
    this.#steps = steps;
  }

  async *read(): AsyncGenerator<Item> {
    const { path, title } = this.#source;
    yield dropUndefined({ type: "session", title });
    for await (const element of this.#input.jsonElements(path, ARRAYS)) {
      const problem = this.#input.elementProblem(path, element);
      if (problem) yield problem;
      if (element.value === undefined || element.field === "trajectory") continue;
      if (element.field === "history") yield* this.#readEntry(element);
      else yield* this.#readField(element);
    }
    yield* this.#closeTurn();
    for await (const step of this.#steps.rest()) yield* this.#readLoneStep(step);
    if (this.#facts.length > 0) yield { type: "session", meta: { [NAME]: Object.fromEntries(this.#facts) } };
  }

  async *#readEntry({ value, index }: JsonElement): AsyncGenerator<Item> {
    const id = `#${index}`;
    const entry = toObject(value);
    if (!entry) {
      yield { type: "record", id, body: { kind: "raw", value: value as Json } };
      return;
    }
    this.#seen.add(entry);
    if (this.#agent === undefined && typeof entry.agent === "string") {
      this.#agent = entry.agent;
      this.#facts.push(["agent", entry.agent]);
    }
    const isDemo = entry.is_demo === true;
    if (entry.role === "assistant" && !isDemo) {
      yield* this.#closeTurn();
      const found = await this.#steps.findStep(entry);
      for (const step of found?.before ?? []) yield* this.#readLoneStep(step);
      const { records, calls, copiedBytes } = buildTurn(entry, id, this.#agent);
      yield* records;
      if (copiedBytes > 0) yield { type: "copy", bytes: copiedBytes };
      this.#open = { id, index, entry, calls, step: found?.step };
    } else if (this.#open && !isDemo && entry.role !== "system") yield* this.#closeTurn(entry, id);
    else yield* buildPlainRecords(entry, id, this.#agent);
  }

  /** Emits the observation of the open turn, from the history or else from the trajectory. */
  *#closeTurn(entry?: JsonObject, id?: string): Generator<Item> {
    const open = this.#open;
    this.#open = undefined;
    if (!open || (!entry && !open.step)) return;
    const observation = entry && joinContentText(entry.content);
    const told = dropUndefined({
      turn: open.entry || undefined,
      observation,
    });
    const { left, copiedBytes } = open.step
      ? collectStepLeftovers(open.step, told, this.#seen)
      : { left: undefined, copiedBytes: 0 };
    const extra = entry && omitKnownFields(entry, this.#agent);
    const place = id ?? (open.index === undefined ? `${open.id}:observation` : `#${open.index + 1}`);
    yield* buildObservationRecords(
      entry ? entry.content : (open.step?.fields.observation ?? ""),
      place,
      open.calls,
      {
        version: entry ? "history" : "trajectory",
        left: left || extra ? { ...extra, ...left } : undefined,
      },
    );
    if (copiedBytes > 0) yield { type: "copy", bytes: copiedBytes };
  }

  *#readLoneStep(step: TrajectoryStep): Generator<Item> {
    yield* this.#closeTurn();
    const { records, calls } = buildStepTurn(step);
    yield* records;
    this.#open = { id: `step-${step.index}`, index: undefined, entry: undefined, calls, step };
    yield* this.#closeTurn();
  }

  *#readField({ field, index, value }: JsonElement): Generator<Item> {
    yield* this.#closeTurn();
    if (field === "info") {
      const usage = toUsage(value);
      if (usage) yield { type: "record", id: "usage", body: { kind: "usage", usage, meta: SUM_META } };
    }
    if (field === "environment" && toText(value)) this.#facts.push([field, value as string]);
    else {
      const id = index === undefined ? field : `${field}#${index}`;
      yield { type: "record", id, body: { kind: "raw", value: { [field]: value as Json } } };
    }
  }
}

/** Returns the fields of an observation that a tool result cannot represent. */
function omitKnownFields(entry: JsonObject, agent: unknown): { readonly [field: string]: Json } | undefined {
  const known = ["role", "content", "tool_call_ids", ...(entry.agent === agent ? ["agent"] : [])];
  const left = Object.entries(entry).filter(([field]) => !known.includes(field));
  return left.length > 0 ? (Object.fromEntries(left) as { [field: string]: Json }) : undefined;
}

function toUsage(info: unknown): Usage | undefined {
  const stats = toObject(toObject(info)?.model_stats);
  if (!stats) return undefined;
  return dropUndefined({
    inputTokens: toNumber(stats.tokens_sent),
    outputTokens: toNumber(stats.tokens_received),
    cost: toNumber(stats.instance_cost),
  });
}

/** A call that waits for its observation. */
interface PendingAction {
  readonly callId: string;
  readonly name: string;
}

/** An assistant turn: its records and calls. */
interface AgentTurn {
  readonly records: readonly RecordItem[];
  readonly calls: readonly PendingAction[];
  /** Bytes of the entry that repeat other fields of it. */
  readonly copiedBytes: number;
}

/** Builds records of messages without calls: system prompt, task, demonstrations. */
function buildPlainRecords(entry: JsonObject, id: string, agent: unknown): readonly RecordItem[] {
  const { parts, extras } = decodeChatContent(entry.content, NAME);
  const role = entry.role === "system" || entry.role === "assistant" ? entry.role : "user";
  const rest = omitFields(entry, ["role", "content", ...(entry.agent === agent ? ["agent"] : [])]);
  return buildRecords(id, { role, parts }, { ...rest, ...(extras && { extras: extras as Json }) });
}

/** Builds the records of an assistant turn from the history: its text, and its action or calls. */
function buildTurn(entry: JsonObject, id: string, agent: unknown): AgentTurn {
  const thinking = decodeAnthropicBlocks(toArray(entry.thinking_blocks), NAME).parts;
  const { parts: said, extras } = decodeChatContent(entry.content === "" ? null : entry.content, NAME);
  const called = toArray(entry.tool_calls).flatMap((value) => decodeChatCall(value)?.part ?? []);
  const calls = called.length > 0 ? called : [toActionCall(entry.action, id)];
  const isThoughtCopy = isCutFrom(joinContentText(entry.content), String(entry.thought ?? ""));
  const known = [
    "role",
    "content",
    ...(thinking.length > 0 ? ["thinking_blocks"] : []),
    ...(called.length > 0 ? ["tool_calls"] : ["action"]),
    ...(isThoughtCopy ? ["thought"] : []),
    ...(entry.agent === agent ? ["agent"] : []),
  ];
  const left = { ...omitFields(entry, known), ...(extras && { extras: extras as Json }) };
  const message: MessageInput = { role: "assistant", parts: [...thinking, ...said, ...calls] };
  return {
    records: buildRecords(id, message, left),
    copiedBytes: isThoughtCopy && entry.thought ? Buffer.byteLength(JSON.stringify(entry.thought)) : 0,
    calls: calls.flatMap((part) =>
      part.type === "tool-call" ? [{ callId: part.callId, name: part.name }] : [],
    ),
  };
}

/** Builds an assistant turn that only the trajectory has. */
function buildStepTurn(step: TrajectoryStep): AgentTurn {
  const { response, action } = step.fields;
  return buildTurn(
    { role: "assistant", content: toText(response) ?? "", action },
    `step-${step.index}`,
    undefined,
  );
}

/** Builds the observation's records; `left` holds further fields of the step. */
function buildObservationRecords(
  content: unknown,
  id: string,
  calls: readonly PendingAction[],
  more: { readonly version: string; readonly left: Leftovers | undefined },
): readonly RecordItem[] {
  const parts: readonly PartInput[] = calls.map(({ callId, name }, index) => ({
    type: "tool-result",
    callId,
    name,
    // One observation answers all calls of a turn; nearly always there is only one.
    output: index === 0 ? decodeChatOutput(content, NAME) : [],
  }));
  const [message, ...others] = buildRecords(id, { role: "tool", parts }, more.left ?? {});
  return message ? [{ ...message, version: more.version }, ...others] : [];
}

/** Converts an action, a shell line with extra commands: its first word is the tool's name if it is a valid one. */
function toActionCall(action: unknown, id: string): PartInput & PendingAction {
  const command = typeof action === "string" ? action : "";
  const word = command.trim().split(/\s/)[0] ?? "";
  const name = /^[\w-]{1,64}$/.test(word) ? word : "bash";
  return { type: "tool-call", callId: `action-${id.replace(/\W/g, "")}`, name, input: { command } };
}

function buildRecords(id: string, message: MessageInput, left: Leftovers): readonly RecordItem[] {
  const { small, large } = splitLeftovers(Object.keys(left).length > 0 ? left : undefined);
  const body = {
    kind: "message",
    message: { ...message, ...(small && { meta: { [NAME]: small } }) },
  } as const;
  const record: RecordItem = { type: "record", id, body };
  return large
    ? [record, { type: "record", id: `${id}:extra`, body: { kind: "raw", value: large } }]
    : [record];
}

/** One step of the trajectory: it repeats a turn of the history and adds details. */
interface TrajectoryStep {
  readonly index: number;
  readonly fields: JsonObject;
}

/** Arrays of a file that are read element by element. */
const ARRAYS: readonly string[] = ["trajectory", "history", "attempts"];

/** Maximum steps to look ahead for a turn; skipped steps are missing from the history. */
const MAX_AHEAD = 4;

/** Reads the steps of a trajectory in parallel with the history, whichever comes first in the file. */
class StepReader {
  readonly #steps: AsyncGenerator<TrajectoryStep>;
  #ahead: TrajectoryStep[] = [];

  constructor(input: Input, path: string) {
    this.#steps = readSteps(input, path);
  }

  /** Finds the step of a turn, and the steps before it without a turn; undefined if none of the next steps matches. */
  async findStep(
    turn: JsonObject,
  ): Promise<{ readonly before: readonly TrajectoryStep[]; readonly step: TrajectoryStep } | undefined> {
    for (let at = 0; at < MAX_AHEAD; at++) {
      const step = await this.#peek(at);
      if (!step) return undefined;
      if (isStepOfTurn(step.fields, turn)) {
        const before = this.#ahead.slice(0, at);
        this.#ahead = this.#ahead.slice(at + 1);
        return { before, step };
      }
    }
    return undefined;
  }

  /** Yields the remaining steps. */
  async *rest(): AsyncGenerator<TrajectoryStep> {
    yield* this.#ahead;
    yield* this.#steps;
  }

  /** Stops reading. */
  async close(): Promise<void> {
    await this.#steps.return(undefined);
  }

  async #peek(at: number): Promise<TrajectoryStep | undefined> {
    while (this.#ahead.length <= at) {
      const { value } = await this.#steps.next();
      if (!value) return undefined;
      this.#ahead.push(value);
    }
    return this.#ahead[at];
  }
}

async function* readSteps(input: Input, path: string): AsyncGenerator<TrajectoryStep> {
  for await (const { field, index, value } of input.jsonElements(path, ARRAYS)) {
    const fields = toObject(value);
    if (field === "trajectory" && index !== undefined && fields) yield { index, fields };
  }
}

function isStepOfTurn(step: JsonObject, turn: JsonObject): boolean {
  if (typeof step.response === "string" && step.response === joinContentText(turn.content)) return true;
  return step.action !== undefined && step.action === turn.action && step.thought === turn.thought;
}

/** Joins the text of a message's content, a string or a list. */
function joinContentText(content: unknown): string {
  if (typeof content === "string") return content;
  return toArray(content)
    .map((part) => toObject(part)?.text)
    .filter((text) => typeof text === "string")
    .join("");
}

/** Tells whether `cut` is `whole` with one stretch removed, as a thought is a response without its action. */
function isCutFrom(whole: string, cut: string): boolean {
  let same = 0;
  while (same < cut.length && whole[same] === cut[same]) same++;
  return cut.length <= whole.length && whole.endsWith(cut.slice(same));
}

const MAX_SEEN = 100_000;

/** Recognizes messages that a step repeats from the model's input; remembers the latest 100,000. */
class SeenMessages {
  readonly #seen = new KnownPrints(MAX_SEEN);

  /** Remembers a message; returns false if it was known. */
  add(message: unknown): boolean {
    const { role, content } = toObject(message) ?? {};
    return this.#seen.add(`${String(role)}\n${joinContentText(content)}`);
  }
}

/** The history's turn for a step, and the observation after it. */
interface HistoryTurn {
  readonly turn?: JsonObject;
  readonly observation?: string;
}

/** Returns the fields of a step that the log lacks, and the number of bytes that are copies. */
function collectStepLeftovers(
  { fields }: TrajectoryStep,
  { turn, observation }: HistoryTurn,
  seen: SeenMessages,
): { readonly left: Leftovers | undefined; readonly copiedBytes: number } {
  const response = joinContentText(turn?.content ?? fields.response);
  const asked = toArray(fields.query ?? fields.messages).flatMap((message, index) =>
    seen.add(message) ? [{ index, message: message as Json }] : [],
  );
  const isThoughtCopy = fields.thought === turn?.thought || isCutFrom(response, String(fields.thought ?? ""));
  const isObserved = observation?.includes(String(fields.observation ?? ""));
  const held = [
    ...(turn === undefined || fields.action === turn.action ? ["action"] : []),
    ...(isThoughtCopy ? ["thought"] : []),
    ...(fields.response === response ? ["response"] : []),
    // Without an observation in the history, the log uses the step's.
    ...(observation === undefined || isObserved ? ["observation"] : []),
  ];
  const rest = omitFields(fields, [...held, "query", "messages"]);
  const left = { ...rest, ...(asked.length > 0 && { query: asked }) };
  const copies = held.filter((field) => {
    if (field === "observation") return observation !== undefined;
    return field === "thought" || turn !== undefined;
  });
  const askedBytes = countBytes(fields.query ?? fields.messages) - countBytes(asked);
  const copiedBytes = copies.reduce((sum, field) => sum + countBytes(fields[field]), Math.max(0, askedBytes));
  return { left: Object.keys(left).length > 0 ? left : undefined, copiedBytes };
}

function countBytes(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}
