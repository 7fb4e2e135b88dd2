import type { Json } from "../../model/json.ts";
import { type Arguments, argumentsOf, pathOf, rangeBetween, rangeOf } from "./arguments.ts";
import type { LineRange } from "./line-range.ts";

/** One file of a call that names several. */
export interface ListedFile {
  readonly path: string;
  readonly range?: LineRange;
}

/**
 * The files of a call that names several (`files: […]`, `paths: […]`, `args: { file: … }`), each with its own ranges.
 */
export function filesOf(from: Arguments): readonly ListedFile[] {
  const lists = [from.files, from.paths, argumentsOf(from.args)?.file];
  const listed = lists.flatMap((list) => (Array.isArray(list) ? (list as readonly Json[]) : (list ?? [])));
  return listed.flatMap((file): readonly ListedFile[] => {
    if (typeof file === "string") return file === "" || file.startsWith("{") ? [] : [{ path: file }];
    const fields = argumentsOf(file as Json);
    const path = fields && pathOf(fields);
    if (!fields || path === undefined) return [];
    const ranges = rangesOf(fields);
    return ranges.length === 0 ? [{ path }] : ranges.map((range) => ({ path, range }));
  });
}

function rangesOf(file: Arguments): readonly LineRange[] {
  const lists = [file.line_ranges, file.lineRanges, file.line_range];
  const values = lists.flatMap((list) => (Array.isArray(list) ? (list as readonly Json[]) : (list ?? [])));
  const pairs = values.flatMap((value): readonly (LineRange | undefined)[] => {
    if (typeof value === "string") {
      const lines = /^(\d+)-(\d+)$/.exec(value);
      return lines ? [{ from: Number(lines[1]), to: Number(lines[2]) }] : [];
    }
    const fields = argumentsOf(value as Json);
    return fields ? [rangeBetween(fields.start, fields.end)] : [];
  });
  const single = rangeOf(file);
  return [...pairs, single].filter((range) => range !== undefined);
}
