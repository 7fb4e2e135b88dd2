import { join } from "node:path";
import type { Json } from "../index.ts";
import { ElementFile } from "./cline/element-file.ts";
import { inOrder } from "./cline/record-order.ts";
import { titleOf } from "./cline/title.ts";
import { Compaction } from "./cline-sdk/compaction.ts";
import { sourcesIn } from "./cline-sdk/detect.ts";
import { type FileFields, messageItems, messageOf } from "./cline-sdk/message.ts";
import { definedFields, fieldsBesides, objectOf, textOf, timeOf } from "./content/fields.ts";
import type { Format, Source } from "./format.ts";
import type { Item, ProblemItem } from "./item.ts";
import type { Input } from "./reading/input.ts";
import type { JsonObject } from "./reading/json-lines.ts";

const FORMAT = "cline-sdk";

/** Cline from version 4 on, and its CLI: one file of messages per session and sub-agent. */
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
  try {
    yield* inOrder(reader.items(), { source, resume: input.resume, isWhole: () => reader.isWhole });
  } finally {
    await reader.close();
  }
}

class SessionReader {
  readonly #input: Input;
  readonly #main: string;
  readonly #manifest: string | undefined;
  readonly #sidecar: string | undefined;
  readonly #file: ElementFile;
  readonly #modifiedAt: number;
  isWhole = true;

  constructor({ paths, modifiedAt }: Source, input: Input) {
    const [main = "", ...beside] = paths;
    this.#input = input;
    this.#main = main;
    this.#sidecar = beside.find((path) => /\.compaction\.json(\.gz|\.zst)?$/i.test(path));
    this.#manifest = beside.find((path) => path !== this.#sidecar);
    this.#file = new ElementFile(input, main);
    this.#modifiedAt = modifiedAt;
  }

  async *items(): AsyncGenerator<Item> {
    const manifest = yield* this.#object(this.#manifest);
    const state = yield* this.#object(this.#sidecar);
    const first = (await this.#file.peek())?.value;
    yield sessionItem(manifest, this.#file.fields, first);
    const startedAt = timeOf(manifest?.started_at) ?? timeOf(first?.ts) ?? this.#modifiedAt;
    yield* this.#messages(state && new Compaction(state), startedAt);
    // Some fields of the file follow the messages.
    yield sessionItem(manifest, this.#file.fields, first);
    this.isWhole &&= this.#file.isWhole;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async *#messages(compaction: Compaction | undefined, startedAt: number): AsyncGenerator<Item> {
    let last = "";
    // The newest messages may have no time yet.
    let at = startedAt;
    for (let element = await this.#file.take(); element; element = await this.#file.take()) {
      yield* this.#file.problems.splice(0);
      last = `#${element.index}`;
      at = timeOf(element.value.ts) ?? at;
      yield* messageItems(element.value, { id: last, at }, this.#file.fields);
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
  fields: FileFields,
  first: JsonObject | undefined,
): Item {
  const metadata = objectOf(manifest?.metadata);
  const file = Object.fromEntries(fields) as { [field: string]: Json };
  const title = textOf(metadata?.title) ?? titleOf(manifest?.prompt, first?.content);
  const createdAt = timeOf(manifest?.started_at) ?? timeOf(first?.ts);
  return {
    type: "session",
    ...definedFields({ title, createdAt }),
    // The paths of its files say nothing about the session.
    meta: {
      [FORMAT]: { ...file, ...definedFields({ manifest: manifest && fieldsBesides(manifest, PATHS) }) },
    },
  };
}

const PATHS = ["messages_path", "compaction_path"];
