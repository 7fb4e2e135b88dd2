import { join } from "node:path";
import type { Json } from "../../kernel/index.ts";
import { toObject } from "../../wire/fields.ts";
import {
  buildFileSource,
  type Format,
  type ImportSource,
  type SourceFacts,
  type System,
} from "../port/format.ts";
import { decodeLines, type LineRecord } from "../reading/decode-lines.ts";
import { type FileFacts, type Folder, MAX_KEPT_HEADS } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";
import { buildKeptRecord } from "./foreign-records.ts";

/** The description of an agent that writes a JSONL file for each conversation. */
interface LinesDescription<State>
  extends Pick<Format, "name" | "title" | "homes" | "retention">,
    Partial<Pick<Format, "processes">> {
  /** Recognizes a file by its first records; undefined if it is not the agent's. */
  recognize(
    first: readonly JsonObject[],
    file: FileFacts,
    folder: Folder,
  ): Promise<SourceFacts | undefined> | SourceFacts | undefined;
  /** Names of files in the same folder that belong to the conversation; they become raw records. */
  sideFiles?(file: FileFacts): readonly string[];
  /** State at the beginning of a file; it must be JSON. */
  begin(): State;
  /** Turns a line into items; may keep what later lines complete in the state. */
  decode(line: LineRecord, state: State, source: ImportSource): Iterable<Item>;
  /** The items that the state holds at the current end; they are versioned, because they may grow. */
  end?(state: State, source: ImportSource): Iterable<Item>;
}

const FIRST_LINES = 20;
/** The first records of files that are looked at now: each of the agents below looks at each of them. */
const parsed = new WeakMap<FileFacts, readonly JsonObject[]>();

/** Creates the reader of an agent that writes JSONL. */
export function createLinesFormat<State>(description: LinesDescription<State>): Format {
  const { name, title, processes = [], retention } = description;
  return {
    name,
    title,
    processes,
    homes: (system) => description.homes(system),
    ...(retention && { retention }),
    async detect(folder) {
      const sources: ImportSource[] = [];
      for (const file of folder.files) {
        if (!file.name.endsWith(".jsonl")) continue;
        const first = parsed.get(file) ?? parseFirstLines(await folder.head(file));
        if (folder.files.length <= MAX_KEPT_HEADS) parsed.set(file, first);
        const facts = first.length > 0 ? await description.recognize(first, file, folder) : undefined;
        if (!facts) continue;
        const beside = description.sideFiles?.(file) ?? [];
        const side = folder.files.filter((other) => beside.includes(other.name)).map(({ path }) => path);
        sources.push(buildFileSource(name, file, facts, side));
      }
      return sources;
    },
    async *read(source, input) {
      yield* readFilesBeside(source, input);
      yield* decodeLines(input, source.path, (saved) => {
        const state = (saved ?? description.begin()) as State;
        return {
          isSettled: true,
          state: () => structuredClone(state) as Json,
          decode: (line) => description.decode(line, state, source),
          end: () => description.end?.(state, source) ?? [],
        };
      });
    },
  };
}

/** Keeps the small files next to a conversation as raw records. */
async function* readFilesBeside(source: ImportSource, input: Input): AsyncGenerator<Item> {
  for (const path of source.paths.slice(1)) {
    const read = await input.json(path);
    if (read && "type" in read) yield read;
    else if (read) {
      const id = `file:${path.split(/[\\/]/).at(-1)}`;
      yield buildKeptRecord(
        { id, isMutable: true },
        { file: id.slice("file:".length), value: read.value as Json },
      );
    }
  }
}

/** Reads a small JSON file of a folder while looking for conversations; undefined if it is not there. */
export async function readHeadObject(folder: Folder, name: string): Promise<JsonObject | undefined> {
  const file = folder.files.find((one) => one.name === name);
  return file && toObject(parseCutJson(await folder.head(file)));
}

/** Parses the first lines of a file; the last of them may be cut. */
function parseFirstLines(head: string): readonly JsonObject[] {
  return head
    .split("\n", FIRST_LINES)
    .flatMap((line) => (line.trim().startsWith("{") ? [toObject(parseCutJson(line)) ?? {}] : []));
}

/** Folders of an application below the home, for each platform; `name` is that of the application. */
export function listDataFolders({ home, platform, env }: System, name: string): readonly string[] {
  if (platform === "darwin") return [join(home, "Library", "Application Support", name)];
  if (platform === "win32") return [join(env.APPDATA || join(home, "AppData", "Roaming"), name)];
  return [join(env.XDG_CONFIG_HOME || join(home, ".config"), name)];
}
