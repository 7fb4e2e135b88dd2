/** Numbers that a tool puts before the lines of a file. */
export interface LineNumbering {
  /** Marks that may stand before the number of the first line. */
  readonly openings: readonly string[];
  readonly blanks: string;
  /** Characters that can end the number. */
  readonly marks: string;
  /** A blank after the mark belongs to the number. */
  readonly hasGap: boolean;
  /** True if a numbered text begins with a number; else numbers may begin on any line. */
  readonly isFromStart: boolean;
}

/** Facts about the copies that one tool writes. */
export interface CopyRules {
  /** Shorter texts may match by chance, or mean something on their own. */
  readonly minLength: number;
  /** Minimum length of a text found inside another one; a single line, such as a path, may need to be longer. */
  readonly minInside: { readonly lines: number; readonly line: number };
  /** True if short texts and numbers are copies of a known field with the same name and value. */
  readonly comparesFields: boolean;
  /** True if an object is a copy of a text that is its JSON. */
  readonly comparesObjects: boolean;
  /** True if white space around a text does not count. */
  readonly isTrimmed: boolean;
  readonly numbering: LineNumbering | undefined;
  /** Begins a copy of a text that is known without it. */
  readonly prefix: string | undefined;
  /** Ends a copy that is cut off. */
  readonly ellipsis: string | undefined;
  /** Elements of lists stay, are removed, or leave null so that the others keep their positions. */
  readonly lists: "stay" | "shrink" | "leave gaps";
  /** Values that go with the copies: none, objects that only had copies, or everything empty. */
  readonly drops: "nothing" | "emptied" | "empty";
  /** Deeper objects and lists stay unchanged. */
  readonly maxDepth: number;
  /** Unit of the reported size. */
  readonly unit: "characters" | "JSON bytes";
}

/** Rules for tools whose records repeat content in other fields. */
export const COPY_RULES = {
  /** `toolUseResult` repeats the call, the result that the model saw, and the files they are about. */
  "claude-code": {
    minLength: 16,
    minInside: { lines: 16, line: 16 },
    comparesFields: true,
    comparesObjects: false,
    isTrimmed: true,
    numbering: { openings: [], blanks: " ", marks: "→\t", hasGap: false, isFromStart: true },
    prefix: "Error: ",
    ellipsis: undefined,
    lists: "leave gaps",
    drops: "empty",
    maxDepth: 63,
    unit: "characters",
  },
  /** Events for the display repeat items. */
  codex: {
    minLength: 64,
    minInside: { lines: 64, line: 64 },
    comparesFields: false,
    comparesObjects: true,
    isTrimmed: false,
    numbering: undefined,
    prefix: undefined,
    ellipsis: undefined,
    lists: "shrink",
    drops: "nothing",
    maxDepth: 6,
    unit: "JSON bytes",
  },
  /** A tool's metadata repeats its input and its output: cut off, or without line numbers. */
  opencode: {
    minLength: 16,
    minInside: { lines: 64, line: 256 },
    comparesFields: false,
    comparesObjects: false,
    isTrimmed: false,
    numbering: {
      openings: ["<content>", "<file>"],
      blanks: " \t",
      marks: ":|",
      hasGap: true,
      isFromStart: false,
    },
    prefix: undefined,
    ellipsis: "\n\n...",
    lists: "stay",
    drops: "emptied",
    maxDepth: Number.POSITIVE_INFINITY,
    unit: "JSON bytes",
  },
  /** Details of a result repeat its output. */
  pi: {
    minLength: 256,
    minInside: { lines: 256, line: 256 },
    comparesFields: false,
    comparesObjects: false,
    isTrimmed: false,
    numbering: undefined,
    prefix: undefined,
    ellipsis: undefined,
    lists: "stay",
    drops: "emptied",
    maxDepth: Number.POSITIVE_INFINITY,
    unit: "JSON bytes",
  },
} as const satisfies Readonly<Record<string, CopyRules>>;
