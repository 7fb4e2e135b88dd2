import { isUtf8 } from "node:buffer";
import { basename } from "node:path";
import { dropUndefined } from "../../wire/fields.ts";
import type { ImportSource } from "../port/format.ts";
import type { Item, RecordItem } from "../port/item.ts";
import type { FileFacts } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import { TOOL_RESULTS } from "./claude-code-sources.ts";

/** Files with tool results too large for the conversation; each is emitted once, after the message it belongs to. */
export class ToolResultFiles {
  readonly #input: Input;
  /** Files by call id, the stem of their name. */
  readonly #files: Map<string, FileFacts>;

  private constructor(input: Input, files: readonly FileFacts[]) {
    this.#input = input;
    this.#files = new Map(files.map((file) => [file.name.replace(/\.[^.]*$/, ""), file]));
  }

  /** Lists the files of a source; undefined if it has none. */
  static async of(source: ImportSource, input: Input): Promise<ToolResultFiles | undefined> {
    const path = source.paths.find((one) => basename(one) === TOOL_RESULTS);
    const folder = path === undefined ? undefined : await input.folder(path);
    return folder && new ToolResultFiles(input, folder.files);
  }

  /** Emits the files of the results in an item. */
  async *readFilesOf(item: Item): AsyncGenerator<Item> {
    if (item.type !== "record" || item.body.kind !== "message") return;
    for (const part of item.body.message.parts ?? []) {
      const stem =
        part.type === "tool-result" ? findFileStem(part.callId, part.output, this.#files) : undefined;
      if (stem !== undefined) yield* this.#read(stem, item);
    }
  }

  /** Emits the files that no message refers to. */
  async *readUnclaimed(): AsyncGenerator<Item> {
    for (const stem of [...this.#files.keys()]) yield* this.#read(stem, {});
  }

  async *#read(stem: string, { at, child }: Partial<RecordItem>): AsyncGenerator<Item> {
    const file = this.#files.get(stem) as FileFacts;
    this.#files.delete(stem);
    const text = await this.#input.text(file.path);
    if (text === undefined) return;
    if (typeof text !== "string") {
      yield text;
      return;
    }
    const content = text.includes("\uFFFD") ? await this.#readTextOrBase64(file) : { text };
    const body = { kind: "raw", value: { toolResultFile: { name: file.name, ...content } } } as const;
    yield { type: "record", id: `${stem}:tool-result-file`, ...dropUndefined({ at, child }), body };
  }

  /** Reads a file as text, or as base64 if it is not UTF-8. */
  async #readTextOrBase64(file: FileFacts): Promise<{ readonly text: string } | { readonly base64: string }> {
    const pieces: Buffer[] = [];
    for await (const chunk of this.#input.bytes(file.path)) pieces.push(Buffer.from(chunk));
    const bytes = Buffer.concat(pieces);
    return isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
  }
}

/** Finds the file of a result: named after the call, or as the result says. */
function findFileStem(
  callId: string,
  output: unknown,
  files: ReadonlyMap<string, FileFacts>,
): string | undefined {
  if (files.has(callId)) return callId;
  const said =
    typeof output === "string" ? /[/\\]tool-results[/\\]([\w.-]+?)\.\w+/.exec(output)?.[1] : undefined;
  return said !== undefined && files.has(said) ? said : undefined;
}
