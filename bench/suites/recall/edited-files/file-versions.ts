import type { ToolCallPart } from "../../../../src/model/part.ts";
import type { Touch } from "../../../../src/window/effects/touch.ts";
import { applyEdit, findWrittenText } from "./apply-edit.ts";
import { parseShownLines } from "./shown-lines.ts";

interface Version {
  /** Time from which the text holds; a file that was read first has always been there. */
  readonly fromMs: number;
  readonly text: string;
}

interface FileHistory {
  readonly versions: Version[];
  /** Lines known of the last version, by number; undefined if all of it is known. */
  shown: Map<number, string> | undefined;
}

/**
 * The contents of a project's files over time, as far as an agent's calls and their results show them. A file that is
 * first seen by reading has had these contents before, since no call changed them.
 */
export class FileVersions {
  readonly #files = new Map<string, FileHistory>();

  /** Notes the effect of a call on a file; calls come in the order of time. */
  add(path: string, touch: Touch, call: ToolCallPart, output: string, atMs: number): void {
    if (touch.kind === "read") this.#addRead(path, touch, output, atMs);
    if (touch.kind === "write" || touch.kind === "edit") this.#addChange(path, call, atMs);
  }

  /** The files at a time, with their texts; folders that were listed by a read are none. */
  listAt(atMs: number): Map<string, string> {
    const found = new Map<string, string>();
    const folders = new Set([...this.#files.keys()].flatMap(listFolders));
    for (const [path, { versions }] of this.#files) {
      if (folders.has(path)) continue;
      const version = versions.findLast(({ fromMs }) => fromMs <= atMs);
      if (version) found.set(path, version.text);
    }
    return found;
  }

  /** True if the file existed at a time. */
  hasAt(path: string, atMs: number): boolean {
    return (this.#files.get(path)?.versions[0]?.fromMs ?? Number.POSITIVE_INFINITY) <= atMs;
  }

  #addRead(path: string, { range }: Touch, output: string, atMs: number): void {
    const lines = parseShownLines(output, range?.from ?? 1);
    if (lines.size === 0) return;
    const file = this.#files.get(path) ?? { versions: [], shown: undefined };
    this.#files.set(path, file);
    const last = file.versions.at(-1);
    const isWhole = range === undefined;
    if (!isWhole && last && file.shown === undefined) return;
    file.shown = isWhole ? undefined : new Map([...(file.shown ?? []), ...lines]);
    const all = [...(file.shown ?? lines)].sort(([left], [right]) => left - right);
    const text = all.map(([, line]) => line).join("\n");
    if (!last) file.versions.push({ fromMs: 0, text });
    else if (text !== last.text) {
      // Before the first change, later reads complete the first version.
      const isCompletion = file.versions.length === 1 && last.fromMs === 0;
      if (isCompletion) file.versions.pop();
      file.versions.push({ fromMs: isCompletion ? 0 : atMs, text });
    }
  }

  #addChange(path: string, call: ToolCallPart, atMs: number): void {
    const file = this.#files.get(path);
    const written = findWrittenText(call, path);
    const last = file?.versions.at(-1);
    if (written !== undefined) {
      this.#files.set(path, {
        versions: [...(file?.versions ?? []), { fromMs: atMs, text: written }],
        shown: undefined,
      });
    } else if (file && last) file.versions.push({ fromMs: atMs, text: applyEdit(last.text, call, path) });
  }
}

function listFolders(path: string): string[] {
  const steps = path.split("/");
  return steps.slice(1).map((_, count) => steps.slice(0, count + 1).join("/"));
}
