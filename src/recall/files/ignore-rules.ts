/** One parsed line of an ignore file. */
interface IgnoreRule {
  /** True if the rule re-includes paths that earlier rules ignore. */
  readonly isNegated: boolean;
  readonly isForFoldersOnly: boolean;
  /** Matches a path relative to the folder of the ignore file, without a slash at either end. */
  readonly pattern: RegExp;
}

/** The rules of one ignore file and their folder, relative to the root; "" is the root itself. */
export interface IgnoreFile {
  readonly folder: string;
  readonly rules: readonly IgnoreRule[];
}

/** Parses the text of a `.gitignore`. */
export function parseIgnoreFile(text: string): IgnoreRule[] {
  return toByteString(text.replace(/^\uFEFF/, ""))
    .split("\n")
    .flatMap((line) => {
      const rule = parseRule(line.replace(/\r$/, ""));
      return rule ? [rule] : [];
    });
}

/** One character per byte of UTF-8, because git compares bytes and `?` matches one of them. */
function toByteString(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Trailing spaces do not count unless a backslash precedes them. */
function parseRule(line: string): IgnoreRule | undefined {
  let pattern = line.replace(/((?:^|[^\\])(?:\\\\)*(?:\\ )?) +$/, "$1");
  if (pattern === "" || pattern.startsWith("#")) return undefined;
  const isNegated = pattern.startsWith("!");
  if (isNegated) pattern = pattern.slice(1);
  const isForFoldersOnly = pattern.endsWith("/");
  if (isForFoldersOnly) pattern = pattern.slice(0, -1);
  if (pattern === "") return undefined;
  // A slash anywhere but at the end anchors the pattern to the folder of its file.
  const isAnchored = pattern.includes("/");
  if (pattern.startsWith("/")) pattern = pattern.slice(1);
  const source = toPattern(pattern, isAnchored);
  if (source === undefined) return undefined;
  return {
    isNegated,
    isForFoldersOnly,
    pattern: new RegExp(`^${isAnchored ? "" : "(?:.*/)?"}${source}$`, "s"),
  };
}

/**
 * Converts a glob to a regular expression; undefined for one that matches nothing. A glob that is not anchored matches
 * single names.
 */
function toPattern(glob: string, isAnchored: boolean): string | undefined {
  // Git compares the part before the first special character separately, so stars right after that part count as being
  // at the start.
  const literal = glob.search(/[*?[\\]/);
  let source = "";
  for (let at = 0; at < glob.length; ) {
    const rest = glob.slice(at);
    const isStart = isAnchored && (at === 0 || at === literal || glob[at - 1] === "/");
    const stars = isStart ? (/^\*{2,}(?=\/|$)/.exec(rest)?.[0].length ?? 0) : 0;
    if (stars > 0) {
      source += stars < rest.length ? "(?:.*/)?" : ".*";
      at += stars + 1;
    } else if (glob[at] === "*") {
      source += "[^/]*";
      while (glob[at] === "*") at++;
    } else if (glob[at] === "?") {
      source += "[^/]";
      at++;
    } else if (glob[at] === "[") {
      const set = readSet(glob, at);
      if (!set) return undefined;
      source += set.source;
      at = set.next;
    } else {
      if (glob[at] === "\\") at++;
      // A trailing backslash makes the pattern invalid.
      if (at >= glob.length) return undefined;
      source += escapeCharacter(glob[at] as string);
      at++;
    }
  }
  return source;
}

const CLASSES: Readonly<Record<string, string>> = {
  alnum: "a-zA-Z0-9",
  alpha: "a-zA-Z",
  blank: " \\t",
  digit: "0-9",
  lower: "a-z",
  upper: "A-Z",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\s",
  xdigit: "a-fA-F0-9",
};

/** Parses a set in brackets; undefined if it does not end or names an unknown class. */
function readSet(glob: string, start: number): { source: string; next: number } | undefined {
  let at = start + 1;
  const isNegated = glob[at] === "!" || glob[at] === "^";
  if (isNegated) at++;
  let inside = "";
  for (let isFirst = true; ; isFirst = false) {
    if (at >= glob.length) return undefined;
    if (glob[at] === "]" && !isFirst) break;
    const named = /^\[:([a-z]*):\]/.exec(glob.slice(at));
    if (named) {
      const members = CLASSES[named[1] as string];
      if (members === undefined) return undefined;
      inside += members;
      at += named[0].length;
      continue;
    }
    const from = readMember(glob, at);
    if (!from) return undefined;
    at = from.next;
    if (glob[at] === "-" && glob[at + 1] !== "]" && at + 1 < glob.length) {
      const to = readMember(glob, at + 1);
      if (!to) return undefined;
      at = to.next;
      // A reversed range has no members.
      if (from.character <= to.character)
        inside += `${escapeCharacter(from.character)}-${escapeCharacter(to.character)}`;
    } else inside += escapeCharacter(from.character);
  }
  const source = isNegated ? `(?!/)[^${inside}]` : inside === "" ? "(?!)" : `(?!/)[${inside}]`;
  return { source, next: at + 1 };
}

function readMember(glob: string, at: number): { character: string; next: number } | undefined {
  const next = glob[at] === "\\" ? at + 1 : at;
  const character = glob[next];
  return character === undefined ? undefined : { character, next: next + 1 };
}

function escapeCharacter(character: string): string {
  return /[\\^$.*+?()[\]{}|/-]/.test(character) ? `\\${character}` : character;
}

/**
 * True if a path, relative to the root, is ignored. The deepest ignore file with a matching rule decides, and in a file
 * the last matching line. `files` are those of the folders on the path, the root's first. Everything inside an ignored
 * folder is ignored regardless of other rules; callers do not walk into such folders.
 */
export function isIgnored(path: string, isFolder: boolean, files: readonly IgnoreFile[]): boolean {
  for (const { folder, rules } of [...files].reverse()) {
    if (folder !== "" && !path.startsWith(`${folder}/`)) continue;
    const own = toByteString(folder === "" ? path : path.slice(folder.length + 1));
    const rule = rules.findLast((one) => (isFolder || !one.isForFoldersOnly) && one.pattern.test(own));
    if (rule) return !rule.isNegated;
  }
  return false;
}
