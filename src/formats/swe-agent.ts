import { basename, dirname } from "node:path";
import type { Json, Usage } from "../index.ts";
import { definedFields, numberOf, objectOf, textOf } from "./content/fields.ts";
import type { Format, Source } from "./format.ts";
import type { Item } from "./item.ts";
import { parseCutJson } from "./reading/cut-json.ts";
import type { Input } from "./reading/input.ts";
import type { JsonElement } from "./reading/json-elements.ts";
import type { JsonObject } from "./reading/json-lines.ts";
import { ARRAYS, leftoversOfStep, SeenMessages, type Step, Steps, wordsOf } from "./swe-agent/steps.ts";
import {
  messageRecords,
  type OpenCall,
  observationRecords,
  stepTurn,
  turnRecords,
} from "./swe-agent/turns.ts";

const NAME = "swe-agent";

/** Trajectories of SWE-agent: actions as text before version 1, tool calls since. */
export const sweAgent: Format = {
  name: NAME,
  title: "SWE-agent",
  processes: ["sweagent"],
  homes: () => [],
  async detect(folder) {
    const sources: Source[] = [];
    for (const file of folder.files) {
      if (!/\.traj$/i.test(file.name) && !/\.json$/i.test(file.name)) continue;
      if (!isTrajectory(await folder.head(file))) continue;
      const { path, sizeBytes, modifiedAt } = file;
      const title = file.name.replace(/\.[^.]+$/, "");
      const run = folder.name === title ? basename(dirname(folder.path)) : folder.name;
      const id = `${run}/${title}`;
      sources.push({ format: NAME, id, path, paths: [path], sizeBytes, modifiedAt, title });
    }
    return sources;
  },
  async *read(source, input) {
    const steps = new Steps(input, source.path);
    try {
      yield* new TrajectoryReader(source, input, steps).read();
    } finally {
      await steps.close();
    }
  },
};

function isTrajectory(head: string): boolean {
  if (!/"(trajectory|history)"/.test(head)) return false;
  const { trajectory, history } = objectOf(parseCutJson(head)) ?? {};
  const step = Array.isArray(trajectory) ? objectOf(trajectory[0]) : undefined;
  const turn = Array.isArray(history) ? objectOf(history[0]) : undefined;
  if (step && ("action" in step || "response" in step || "thought" in step)) return true;
  return turn !== undefined && "role" in turn && ("agent" in turn || "message_type" in turn);
}

/** A turn that waits for its observation. */
interface OpenTurn {
  readonly id: string;
  /** Index in the history; undefined if only the trajectory has the turn. */
  readonly index: number | undefined;
  readonly entry: JsonObject | undefined;
  readonly calls: readonly OpenCall[];
  readonly step: Step | undefined;
}

/** Reads messages from the history and fills gaps from the trajectory. */
class TrajectoryReader {
  readonly #source: Source;
  readonly #input: Input;
  readonly #steps: Steps;
  readonly #seen = new SeenMessages();
  readonly #facts: [string, Json][] = [];
  #agent: unknown;
  #open: OpenTurn | undefined;

  constructor(source: Source, input: Input, steps: Steps) {
    this.#source = source;
    this.#input = input;
    this.#steps = steps;
  }

  async *read(): AsyncGenerator<Item> {
    const { path, title } = this.#source;
    yield { type: "session", ...(title !== undefined && { title }) };
    for await (const element of this.#input.jsonElements(path, ARRAYS)) {
      if (element.problem !== undefined && !(element.isCut && this.#input.isLive))
        yield problemOf(path, element);
      if (element.value === undefined || element.field === "trajectory") continue;
      if (element.field === "history") yield* this.#entry(element);
      else yield* this.#field(element);
    }
    yield* this.#closeTurn();
    for await (const step of this.#steps.rest()) yield* this.#loneStep(step);
    if (this.#facts.length > 0) yield { type: "session", meta: { [NAME]: Object.fromEntries(this.#facts) } };
  }

  async *#entry({ value, index }: JsonElement): AsyncGenerator<Item> {
    const id = `#${index}`;
    const entry = objectOf(value);
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
      const found = await this.#steps.matching(entry);
      for (const step of found?.before ?? []) yield* this.#loneStep(step);
      const { records, calls, copiedBytes } = turnRecords(entry, id, this.#agent);
      yield* records;
      if (copiedBytes > 0) yield { type: "copy", bytes: copiedBytes };
      this.#open = { id, index, entry, calls, step: found?.step };
    } else if (this.#open && !isDemo && entry.role !== "system") yield* this.#closeTurn(entry, id);
    else yield* messageRecords(entry, id, this.#agent);
  }

  /** Emits the observation of the open turn, from the history or else from the trajectory. */
  *#closeTurn(entry?: JsonObject, id?: string): Generator<Item> {
    const open = this.#open;
    this.#open = undefined;
    if (!open || (!entry && !open.step)) return;
    const observation = entry && wordsOf(entry.content);
    const told = {
      ...(open.entry && { turn: open.entry }),
      ...(observation !== undefined && { observation }),
    };
    const { left, copiedBytes } = open.step
      ? leftoversOfStep(open.step, told, this.#seen)
      : { left: undefined, copiedBytes: 0 };
    const besides = entry && besidesContent(entry, this.#agent);
    const place = id ?? (open.index === undefined ? `${open.id}:observation` : `#${open.index + 1}`);
    yield* observationRecords(
      entry ? entry.content : (open.step?.fields.observation ?? ""),
      place,
      open.calls,
      {
        version: entry ? "history" : "trajectory",
        left: left || besides ? { ...besides, ...left } : undefined,
      },
    );
    if (copiedBytes > 0) yield { type: "copy", bytes: copiedBytes };
  }

  *#loneStep(step: Step): Generator<Item> {
    yield* this.#closeTurn();
    const { records, calls } = stepTurn(step);
    yield* records;
    this.#open = { id: `step-${step.index}`, index: undefined, entry: undefined, calls, step };
    yield* this.#closeTurn();
  }

  *#field({ field, index, value }: JsonElement): Generator<Item> {
    yield* this.#closeTurn();
    if (field === "info") {
      const usage = usageOf(value);
      if (usage) yield { type: "record", id: "usage", body: { kind: "usage", usage } };
    }
    if (field === "environment" && textOf(value)) this.#facts.push([field, value as string]);
    else {
      const id = index === undefined ? field : `${field}#${index}`;
      yield { type: "record", id, body: { kind: "raw", value: { [field]: value as Json } } };
    }
  }
}

/** Returns the fields of an observation that a tool result cannot represent. */
function besidesContent(entry: JsonObject, agent: unknown): { readonly [field: string]: Json } | undefined {
  const known = ["role", "content", "tool_call_ids", ...(entry.agent === agent ? ["agent"] : [])];
  const left = Object.entries(entry).filter(([field]) => !known.includes(field));
  return left.length > 0 ? (Object.fromEntries(left) as { [field: string]: Json }) : undefined;
}

function usageOf(info: unknown): Usage | undefined {
  const stats = objectOf(objectOf(info)?.model_stats);
  if (!stats) return undefined;
  return definedFields({
    inputTokens: numberOf(stats.tokens_sent),
    outputTokens: numberOf(stats.tokens_received),
    cost: numberOf(stats.instance_cost),
  });
}

function problemOf(path: string, { line, problem, value }: JsonElement): Item {
  const severity = value === undefined ? "lost" : "damaged";
  return { type: "problem", path, line, severity, reason: problem as string };
}
