import type { LineRange } from "./line-range.ts";

/** The files and lines that a reading command shows. Without paths, it reads its piped input. */
export interface ShellRead {
  readonly paths: readonly string[];
  readonly ranges?: readonly LineRange[];
}

type Reader = (words: readonly string[]) => ShellRead | undefined;

const HEAD_LINES = 10;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["cat", (words) => parsePlainRead(words, /^-[nbsAetuv]+$/)],
  ["bat", (words) => parsePlainRead(words, /^(?:-[pn]+|--plain|--paging=never|--style=\w+)$/)],
  ["less", (words) => parsePlainRead(words, /^-[NRFX]+$/)],
  ["more", (words) => parsePlainRead(words, /^$/)],
  ["nl", (words) => parsePlainRead(dropArguments(words, /^-[bwsnv]$/), /^-[bwsnv]\S+$/)],
  ["type", (words) => parsePlainRead(words, /^$/)],
  ["get-content", (words) => parsePlainRead(words, /^-(?:raw|path|literalpath)$/i)],
  ["head", parseHead],
  ["tail", parseTail],
  ["sed", parseSed],
]);

/** The files that a single command reads; undefined if it does anything else or its effect is uncertain. */
export function parseShellRead([name, ...words]: readonly string[]): ShellRead | undefined {
  return READERS.get((name ?? "").toLowerCase())?.(words);
}

/** Reads file names after options that do not affect which lines are shown. */
function parsePlainRead(words: readonly string[], allowed: RegExp): ShellRead | undefined {
  const options = words.filter((word) => word.startsWith("-") && word !== "--");
  if (!options.every((option) => allowed.test(option))) return undefined;
  return { paths: words.filter((word) => !word.startsWith("-")) };
}

function dropArguments(words: readonly string[], taking: RegExp): readonly string[] {
  return words.filter((word, index) => !taking.test(word) && !taking.test(words[index - 1] ?? ""));
}

function parseHead(words: readonly string[]): ShellRead | undefined {
  const counted = parseLineCount(words);
  if (counted?.sign !== "") return undefined;
  return { paths: counted.paths, ranges: [{ from: 1, to: counted.count }] };
}

function parseTail(words: readonly string[]): ShellRead | undefined {
  const counted = parseLineCount(words);
  if (!counted || counted.sign === "-") return undefined;
  const { count, paths, sign } = counted;
  const range =
    sign === "+" ? { from: Math.max(1, count), to: Number.POSITIVE_INFINITY } : { from: -count, to: -1 };
  return { paths, ranges: [range] };
}

interface LineCount {
  readonly sign: string;
  readonly count: number;
  readonly paths: readonly string[];
}

/** Parses `-n 20`, `-n20`, `-20` and `--lines=20`, or no count at all. */
function parseLineCount(words: readonly string[]): LineCount | undefined {
  const isApart = words[0] === "-n" || words[0] === "--lines";
  const given = isApart ? words[1] : /^(?:-n|--lines=|-)([+-]?\d+)$/.exec(words[0] ?? "")?.[1];
  const paths = words.slice(isApart ? 2 : given === undefined ? 0 : 1).filter((word) => word !== "--");
  const count = /^([+-]?)(\d+)$/.exec(given ?? `${HEAD_LINES}`);
  if (!count || paths.some((path) => path.startsWith("-"))) return undefined;
  return { sign: count[1] as string, count: Number(count[2]), paths };
}

/** Understands `sed -n '10,20p' file`, with one or more ranges, and no other sed script. */
function parseSed([option, script, ...paths]: readonly string[]): ShellRead | undefined {
  if (option !== "-n" || paths.some((path) => path.startsWith("-"))) return undefined;
  const stretches = (script ?? "").replace(/;$/, "").split(";");
  const ranges = stretches.flatMap((stretch) => {
    const lines = /^\s*(\d+)(?:,\s*(\d+|\$))?p\s*$/.exec(stretch);
    const from = Number(lines?.[1]);
    const to = lines?.[2] === "$" ? Number.POSITIVE_INFINITY : Number(lines?.[2] ?? from);
    return lines && from <= to ? [{ from, to }] : [];
  });
  return ranges.length === stretches.length ? { paths, ranges } : undefined;
}
