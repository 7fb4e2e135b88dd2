import { parseArgs } from "node:util";

/** Command-line options. */
export interface Options {
  readonly messages: number;
  readonly images: number;
  readonly imageBytes: number;
  readonly keep: boolean;
  readonly json: boolean;
  readonly help: boolean;
}

export const HELP = `A marathon in one session: appends, pages, looks up, rewinds, edits and reopens, and
shows what memory that took. Everything happens in a temporary folder, removed at the end.

  npm run demo                       the whole marathon, about 700 MB in the temporary folder
  npm run demo -- --messages 1000    a short one

  --messages N   messages to append (default 100000)
  --images N     images among them (default 100)
  --image-mb N   size of an image in MB (default 5)
  --keep         keep the folder and print its path
  --json         print the figures as one JSON object; the story goes to stderr
  --help         print this

Ctrl-C ends it cleanly. NO_COLOR=1 turns colours off; TMPDIR says where temporary folders go.
`;

/** An invalid command line; the message states the reason. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Parses the command line; throws UsageError naming the invalid option. */
export function readOptions(args: readonly string[]): Options {
  const { messages, images, "image-mb": imageMb, ...flags } = parse(args);
  return {
    messages: wholeNumber("messages", messages, 10, 100_000_000),
    images: wholeNumber("images", images, 0, 1_000_000),
    imageBytes: Math.round(number("image-mb", imageMb, 0.001, 500) * 1e6),
    ...flags,
  };
}

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        messages: { type: "string", default: "100000" },
        images: { type: "string", default: "100" },
        "image-mb": { type: "string", default: "5" },
        keep: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  return within(name, text, "a whole number", min, max, Number.isInteger);
}

function number(name: string, text: string, min: number, max: number): number {
  return within(name, text, "a number", min, max, Number.isFinite);
}

function within(
  name: string,
  text: string,
  expected: string,
  min: number,
  max: number,
  isOfKind: (value: number) => boolean,
): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (isOfKind(value) && value >= min && value <= max) return value;
  throw new UsageError(`--${name} is ${JSON.stringify(text)}; expected ${expected} from ${min} to ${max}.`);
}
