import { join } from "node:path";
import type { Json } from "../../index.ts";
import { dropUndefined, omitFields, toObject, toText, toTime } from "../../wire/fields.ts";
import { ElementFile } from "../cline/element-file.ts";
import { trackRecordOrder } from "../cline/record-order.ts";
import { buildTaskTitle } from "../cline/task-title.ts";
import type { Format, ImportSource } from "../port/format.ts";
import type { Item, ProblemItem } from "../port/item.ts";
import type { Input } from "../reading/input.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { ClineSdkCompaction } from "./cline-sdk-compaction.ts";
import { decodeClineSdkElement, decodeClineSdkMessage, type FileFields } from "./cline-sdk-message.ts";
import { detectClineSdkSources } from "./cline-sdk-sources.ts";

const FORMAT = "cline-sdk";

/** Cline from version 4 on, and its CLI: one file of messages per session and sub-agent. */
export const clineSdkFormat: Format = {
  name: FORMAT,
  title: "Cline SDK",
  processes: ["cline"],
  homes: ({ home, env }) => [join(env.CLINE_DIR ?? join(home, ".cline"), "data", "sessions")],
  detect: detectClineSdkSources,
  read: readSource,
};

async function* readSource(source: ImportSource, input: Input): AsyncGenerator<Item> {
  const reader = new SessionReader(source, input);
  try {
    yield* trackRecordOrder(reader.readItems(), {
      source,
      resume: input.resume,
      isWhole: () => reader.isWhole,
    });
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

  constructor({ paths, modifiedAt }: ImportSource, input: Input) {
    const [main = "", ...beside] = paths;
    this.#input = input;
    this.#main = main;
    this.#sidecar = beside.find((path) => /\.compaction\.json(\.gz|\.zst)?$/i.test(path));
    this.#manifest = beside.find((path) => path !== this.#sidecar);
    this.#file = new ElementFile(input, main);
    this.#modifiedAt = modifiedAt;
  }

  async *readItems(): AsyncGenerator<Item> {
    const manifest = yield* this.#readObject(this.#manifest);
    const state = yield* this.#readObject(this.#sidecar);
    const first = (await this.#file.peek())?.value;
    yield buildSessionItem(manifest, this.#file.fields, first);
    const startedAt = toTime(manifest?.started_at) ?? toTime(first?.ts) ?? this.#modifiedAt;
    yield* this.#readMessages(state && new ClineSdkCompaction(state), startedAt);
    // Some fields of the file follow the messages.
    yield buildSessionItem(manifest, this.#file.fields, first);
    this.isWhole &&= this.#file.isWhole;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async *#readMessages(compaction: ClineSdkCompaction | undefined, startedAt: number): AsyncGenerator<Item> {
    let last = "";
    // The newest messages may have no time yet.
    let at = startedAt;
    for (let element = await this.#file.take(); element; element = await this.#file.take()) {
      yield* this.#file.problems.splice(0);
      last = `#${element.index}`;
      at = toTime(element.value.ts) ?? at;
      yield* decodeClineSdkElement(element.value, { id: last, at }, this.#file.fields);
      const wasComplete = compaction?.isComplete;
      compaction?.addMessage(element.value);
      if (compaction?.isComplete && !wasComplete && compaction.isValid)
        yield compaction.buildOverlay(last, (message) => decodeClineSdkMessage(message, this.#file.fields));
    }
    yield* this.#file.problems.splice(0);
    if (!compaction || compaction.isValid || compaction.count === 0) return;
    yield compaction.buildRawRecord();
    yield this.#buildUnusedProblem();
  }

  #buildUnusedProblem(): ProblemItem {
    const reason = "the window beside the conversation was made from other messages; kept, but not applied";
    return { type: "problem", path: this.#sidecar ?? this.#main, severity: "damaged", reason };
  }

  async *#readObject(path: string | undefined): AsyncGenerator<Item, JsonObject | undefined> {
    const read = path === undefined ? undefined : await this.#input.json(path);
    if (read === undefined || "value" in read) return toObject(read?.value);
    this.isWhole = false;
    yield read;
    return undefined;
  }
}

function buildSessionItem(
  manifest: JsonObject | undefined,
  fields: FileFields,
  first: JsonObject | undefined,
): Item {
  const metadata = toObject(manifest?.metadata);
  const file = Object.fromEntries(fields) as { [field: string]: Json };
  const title = toText(metadata?.title) ?? buildTaskTitle(manifest?.prompt, first?.content);
  const createdAt = toTime(manifest?.started_at) ?? toTime(first?.ts);
  return {
    type: "session",
    ...dropUndefined({ title, createdAt }),
    // The paths of its files say nothing about the session.
    meta: {
      [FORMAT]: { ...file, ...dropUndefined({ manifest: manifest && omitFields(manifest, PATH_FIELDS) }) },
    },
  };
}

const PATH_FIELDS = ["messages_path", "compaction_path"];
