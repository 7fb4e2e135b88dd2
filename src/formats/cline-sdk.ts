import { join } from "node:path";
import type { Json, MessageInput, Role } from "../index.ts";
import { ElementFile } from "./cline/element-file.ts";
import { inOrder } from "./cline/record-order.ts";
import { withoutCached } from "./cline/shown-message.ts";
import { titleOf } from "./cline/title.ts";
import { versionOf } from "./cline/version.ts";
import { Compaction } from "./cline-sdk/compaction.ts";
import { contentOf } from "./cline-sdk/content.ts";
import { sourcesIn } from "./cline-sdk/detect.ts";
import { definedFields, fieldsBesides, numberOf, objectOf, textOf, timeOf } from "./content/fields.ts";
import type { Format, Source } from "./format.ts";
import type { Item, ProblemItem } from "./item.ts";
import type { Input } from "./reading/input.ts";
import type { JsonObject } from "./reading/json-lines.ts";

const FORMAT = "cline-sdk";

/** Cline from version 4 on, and its command line: one file of messages for each session and sub-agent. */
export const clineSdk: Format = {
  name: FORMAT,
  title: "Cline SDK",
  processes: ["cline"],
  homes: ({ home, env }) => [join(env.CLINE_DIR ?? join(home, ".cline"), "data", "sessions")],
  detect: sourcesIn,
  read: readSource,
};

async function* readSource(source: Source, input: Input): AsyncGenerator<Item> {
  const reader = new SessionReader(source, input);
  yield* inOrder(reader.items(), { source, resume: input.resume, isWhole: () => reader.isWhole });
}

class SessionReader {
  readonly #input: Input;
  readonly #main: string;
  readonly #manifest: string | undefined;
  readonly #sidecar: string | undefined;
  readonly #file: ElementFile;
  isWhole = true;

  constructor({ paths }: Source, input: Input) {
    const [main = "", ...beside] = paths;
    this.#input = input;
    this.#main = main;
    this.#sidecar = beside.find((path) => /\.compaction\.json(\.gz|\.zst)?$/i.test(path));
    this.#manifest = beside.find((path) => path !== this.#sidecar);
    this.#file = new ElementFile(input, main);
  }

  async *items(): AsyncGenerator<Item> {
    const manifest = yield* this.#object(this.#manifest);
    const state = yield* this.#object(this.#sidecar);
    const first = (await this.#file.peek())?.value;
    yield sessionItem(manifest, this.#file.fields, first);
    yield* this.#messages(state && new Compaction(state));
    // Some of what the file says of the whole stands behind the messages.
    yield sessionItem(manifest, this.#file.fields, first);
    this.isWhole &&= this.#file.isWhole;
    await this.#file.close();
  }

  async *#messages(compaction: Compaction | undefined): AsyncGenerator<Item> {
    let last = "";
    for (let element = await this.#file.take(); element; element = await this.#file.take()) {
      yield* this.#file.problems.splice(0);
      last = `#${element.index}`;
      yield* messageItems(element.value, last, this.#file.fields);
      const wasComplete = compaction?.isComplete;
      compaction?.see(element.value);
      if (compaction?.isComplete && !wasComplete && compaction.isValid)
        yield compaction.overlay(last, (message) => messageOf(message, this.#file.fields));
    }
    yield* this.#file.problems.splice(0);
    if (!compaction || compaction.isValid || compaction.count === 0) return;
    yield compaction.raw();
    yield this.#unused();
  }

  #unused(): ProblemItem {
    const reason = "the window beside the conversation was made from other messages; kept, but not applied";
    return { type: "problem", path: this.#sidecar ?? this.#main, severity: "damaged", reason };
  }

  async *#object(path: string | undefined): AsyncGenerator<Item, JsonObject | undefined> {
    const read = path === undefined ? undefined : await this.#input.json(path);
    if (read === undefined || "value" in read) return objectOf(read?.value);
    this.isWhole = false;
    yield read;
    return undefined;
  }
}

function sessionItem(
  manifest: JsonObject | undefined,
  fields: ReadonlyMap<string, unknown>,
  first: JsonObject | undefined,
): Item {
  const metadata = objectOf(manifest?.metadata);
  const file = Object.fromEntries(fields) as { [field: string]: Json };
  const title = textOf(metadata?.title) ?? titleOf(manifest?.prompt, first?.content);
  const createdAt = timeOf(manifest?.started_at) ?? timeOf(first?.ts);
  return {
    type: "session",
    ...definedFields({ title, createdAt }),
    // Where its files lay says nothing about the session.
    meta: {
      [FORMAT]: { ...file, ...definedFields({ manifest: manifest && fieldsBesides(manifest, PATHS) }) },
    },
  };
}

const PATHS = ["messages_path", "compaction_path"];

function* messageItems(value: JsonObject, id: string, fields: ReadonlyMap<string, unknown>): Generator<Item> {
  const message = messageOf(value, fields);
  const at = timeOf(value.ts);
  const times = definedFields({ at });
  // Ids and times are made anew now and then; the message is still the same.
  const version = versionOf(fieldsBesides(value, ["id", "ts"]));
  if (!message) {
    yield { type: "record", id, version, ...times, body: { kind: "raw", value: { element: value as Json } } };
    return;
  }
  yield { type: "record", id, version, ...times, body: { kind: "message", message } };
  const usage = usageOf(objectOf(value.metrics));
  const model = objectOf(value.modelInfo);
  if (usage)
    yield {
      type: "record",
      id: `${id}:usage`,
      version: versionOf(usage),
      ...times,
      body: {
        kind: "usage",
        usage,
        request: id,
        ...definedFields({ model: textOf(model?.id), provider: textOf(model?.provider) }),
      },
    };
}

function messageOf(value: JsonObject, fields: ReadonlyMap<string, unknown>): MessageInput | undefined {
  const { role, content } = value;
  if (role !== "user" && role !== "assistant" && role !== "system") return undefined;
  if (typeof content !== "string" && !Array.isArray(content)) return undefined;
  const { parts, extras } = contentOf(content);
  const isAnswer = parts.length > 0 && parts.every(({ type }) => type === "tool-result");
  // What the whole file says is not said again with every message.
  const repeated = ["agent", "sessionId"].filter((field) => value[field] === fields.get(field));
  const rest = fieldsBesides(value, ["role", "content", "metrics", ...repeated]);
  const own = { ...rest, ...definedFields({ extras }) };
  const speaker: Role = isAnswer ? "tool" : role;
  return {
    role: speaker,
    parts,
    ...definedFields({ model: textOf(objectOf(value.modelInfo)?.id) }),
    ...(Object.keys(own).length > 0 && { meta: { [FORMAT]: own as Json } }),
  };
}

function usageOf(metrics: JsonObject | undefined) {
  const usage = definedFields({
    inputTokens: numberOf(metrics?.inputTokens),
    outputTokens: numberOf(metrics?.outputTokens),
    cacheReadTokens: numberOf(metrics?.cacheReadTokens),
    cacheWriteTokens: numberOf(metrics?.cacheWriteTokens),
    cost: numberOf(metrics?.cost),
  });
  return Object.keys(usage).length > 0 ? withoutCached(usage) : undefined;
}
