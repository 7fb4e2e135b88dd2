import type { Json } from "../model/json.ts";
import {
  buildLineRange,
  type CallArguments,
  getPathArgument,
  getRangeArgument,
  parseToolArguments,
} from "./call-arguments.ts";
import type { LineRange } from "./line-range.ts";

/** One file of a call that names several. */
interface ListedFile {
  readonly path: string;
  readonly range?: LineRange;
}

/**
 * The files of a call that names several (`files: […]`, `paths: […]`, `args: { file: … }`), each with its own ranges.
 */
export function listCallFiles(from: CallArguments): readonly ListedFile[] {
  const lists = [from.files, from.paths, parseToolArguments(from.args)?.file];
  const listed = lists.flatMap((list) => (Array.isArray(list) ? (list as readonly Json[]) : (list ?? [])));
  return listed.flatMap((file): readonly ListedFile[] => {
    if (typeof file === "string") return file === "" || file.startsWith("{") ? [] : [{ path: file }];
    const fields = parseToolArguments(file as Json);
    const path = fields && getPathArgument(fields);
    if (!fields || path === undefined) return [];
    const ranges = listRanges(fields);
    return ranges.length === 0 ? [{ path }] : ranges.map((range) => ({ path, range }));
  });
}

function listRanges(file: CallArguments): readonly LineRange[] {
  const lists = [file.line_ranges, file.lineRanges, file.line_range];
  const values = lists.flatMap((list) => (Array.isArray(list) ? (list as readonly Json[]) : (list ?? [])));
  const pairs = values.flatMap((value): readonly (LineRange | undefined)[] => {
    if (typeof value === "string") {
      const lines = /^(\d+)-(\d+)$/.exec(value);
      return lines ? [{ from: Number(lines[1]), to: Number(lines[2]) }] : [];
    }
    const fields = parseToolArguments(value as Json);
    return fields ? [buildLineRange(fields.start, fields.end)] : [];
  });
  const single = getRangeArgument(file);
  return [...pairs, single].filter((range) => range !== undefined);
}
