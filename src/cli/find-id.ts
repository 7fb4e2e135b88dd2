import { type ErrorCode, LonghaulError } from "../kernel/index.ts";
import { nearestWords } from "./terminal/nearest-words.ts";

const SHOWN = 5;
const MAX_FITTING = 100;

/** A search for something by a piece of its id. */
interface IdSearch {
  readonly kind: "session" | "task";
  readonly ids: AsyncIterable<string>;
  readonly fits: (id: string) => boolean;
  /** Adds an id that fits to the others; by default all are kept. */
  readonly add?: (fitting: readonly string[], id: string) => readonly string[];
  readonly notFound: ErrorCode;
  /** The command that lists all ids. */
  readonly listing: string;
}

/** Finds the only id that fits. Throws `notFound` with the nearest ids, or ARGUMENT_INVALID with those that fit. */
export async function findId(wanted: string, search: IdSearch): Promise<string> {
  const { ids, fits, add = (fitting, id) => [...fitting, id] } = search;
  let fitting: readonly string[] = [];
  let nearest: readonly string[] = [];
  for await (const id of ids) {
    if (fits(id)) fitting = add(fitting, id);
    if (fitting.length > MAX_FITTING) break;
    if (fitting.length === 0) nearest = nearestWords(wanted, [...nearest, id], SHOWN);
  }
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  throw only === undefined ? notFound(wanted, nearest, search) : ambiguous(wanted, fitting, search);
}

function notFound(wanted: string, nearest: readonly string[], search: IdSearch): LonghaulError {
  const { kind, listing } = search;
  const hint = nearest.length > 0 ? `Did you mean ${nearest.join(", ")}?` : `"${listing}" lists them.`;
  return new LonghaulError(search.notFound, `There is no ${kind} ${JSON.stringify(wanted)}. ${hint}`, {
    details: { [kind]: wanted, ...(nearest.length > 0 && { nearest: nearest.join(", ") }) },
  });
}

function ambiguous(wanted: string, fitting: readonly string[], { kind }: IdSearch): LonghaulError {
  const shown = fitting.slice(0, SHOWN).join(", ") + (fitting.length > SHOWN ? " and more" : "");
  return new LonghaulError(
    "ARGUMENT_INVALID",
    `${JSON.stringify(wanted)} matches several ${kind}s: ${shown}. Give more of the id.`,
    { details: { option: kind } },
  );
}
