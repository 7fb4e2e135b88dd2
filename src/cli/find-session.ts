import { type Kernel, LonghaulError, type SessionId } from "../index.ts";
import { nearestWords } from "./nearest.ts";

const PAGE = 1_000;
const SHOWN = 5;
const MOST_FITTING = 100;

/**
 * Finds the session with that id, or the only session whose id begins or ends with the text or has a piece that begins
 * with it. Throws SESSION_NOT_FOUND with the nearest ids, or ARGUMENT_INVALID with the matching ids if there are
 * several.
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

/** Adds an id unless its ancestor matches already: ids of sub-agents begin with the id of their parent. */
function addRoot(roots: readonly SessionId[], id: SessionId): readonly SessionId[] {
  if (roots.some((root) => id.startsWith(`${root}/`))) return roots;
  return [...roots.filter((root) => !root.startsWith(`${id}/`)), id];
}

/**
 * Matches the beginning or end of an id, or the beginning of a piece: imported ids begin with the name of their format.
 */
function fits(id: SessionId, wanted: string): boolean {
  return (
    id.startsWith(wanted) || id.endsWith(wanted) || id.split(/[:/]/).some((piece) => piece.startsWith(wanted))
  );
}

/** Yields the ids of all sessions, newest first, reading page by page. */
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
