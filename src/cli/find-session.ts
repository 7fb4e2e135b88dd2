import { type Kernel, LonghaulError, type SessionId } from "../index.ts";
import { nearestWords } from "./nearest.ts";

const PAGE = 1_000;
const SHOWN = 5;
const MOST_FITTING = 100;

/**
 * The session of that id, or the only one whose id begins or ends with it. SESSION_NOT_FOUND names the nearest ids,
 * ARGUMENT_INVALID those that fit where several do.
 */
export async function findSession(kernel: Kernel, wanted: string): Promise<SessionId> {
  if (await kernel.find(wanted)) return wanted;
  let fitting: readonly SessionId[] = [];
  let nearest: readonly SessionId[] = [];
  for await (const id of sessionIds(kernel)) {
    if (fits(id, wanted)) fitting = addRoot(fitting, id);
    if (fitting.length > MOST_FITTING) break;
    if (fitting.length === 0) nearest = nearestWords(wanted, [...nearest, id], SHOWN);
  }
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  throw only === undefined ? notFound(wanted, nearest) : ambiguous(wanted, fitting);
}

/** The ids of sub-agents begin with that of their parent: where it fits, they do not count. */
function addRoot(roots: readonly SessionId[], id: SessionId): readonly SessionId[] {
  if (roots.some((root) => id.startsWith(`${root}/`))) return roots;
  return [...roots.filter((root) => !root.startsWith(`${id}/`)), id];
}

/** Imported ids begin with the name of their format: a piece of an id counts as its beginning, too. */
function fits(id: SessionId, wanted: string): boolean {
  return (
    id.startsWith(wanted) || id.endsWith(wanted) || id.split(/[:/]/).some((piece) => piece.startsWith(wanted))
  );
}

/** All sessions of a store, newest first, a page at a time. */
export async function* sessionIds(kernel: Kernel): AsyncGenerator<SessionId> {
  let before: SessionId | undefined;
  do {
    const page = await kernel.sessions({ limit: PAGE, ...(before !== undefined && { before }) });
    for (const { id } of page) yield id;
    before = page.length === PAGE ? page.at(-1)?.id : undefined;
  } while (before !== undefined);
}

function notFound(wanted: string, nearest: readonly SessionId[]): LonghaulError {
  const hint =
    nearest.length > 0 ? `Did you mean ${nearest.join(", ")}?` : '"longhaul sessions" lists those there are.';
  return new LonghaulError("SESSION_NOT_FOUND", `There is no session ${JSON.stringify(wanted)}. ${hint}`, {
    details: { session: wanted, ...(nearest.length > 0 && { nearest: nearest.join(", ") }) },
  });
}

function ambiguous(wanted: string, fitting: readonly SessionId[]): LonghaulError {
  const shown = fitting.slice(0, SHOWN).join(", ") + (fitting.length > SHOWN ? " and more" : "");
  return new LonghaulError("ARGUMENT_INVALID", `${JSON.stringify(wanted)} could be any of ${shown}.`, {
    details: { option: "session" },
  });
}
