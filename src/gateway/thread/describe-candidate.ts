import type { CachedLine } from "../../conversation/line-cache.ts";
import type { KeyedMessages } from "../identity/align-request.ts";
import type { ThreadCandidate, ThreadKind } from "../identity/choose-thread.ts";
import { replaceOpening } from "../identity/opening-key.ts";
import { type MergedReplies, mergeRuns } from "./merged-replies.ts";
import type { RequestProgress } from "./request-progress.ts";
import type { ThreadMeta } from "./thread-meta.ts";

/** The lookup that a candidate is described for; `opening` is its key. */
export interface CandidateLookup {
  readonly explicit: string | undefined;
  readonly opening: string | undefined;
  readonly request: KeyedMessages;
}

/** The parts of a thread that describe it. */
interface DescribedThread {
  readonly id: string;
  readonly kind: ThreadKind;
  readonly meta: ThreadMeta;
  readonly progress: RequestProgress;
  readonly mergedReplies: MergedReplies;
}

/** The facts that decide whether a request belongs to a thread with this line; no promise if nothing must be read. */
export function describeCandidate(
  thread: DescribedThread,
  { keys, roles, messages }: Pick<CachedLine, "keys" | "roles" | "messages">,
  { explicit, opening, request }: CandidateLookup,
): ThreadCandidate | Promise<ThreadCandidate> {
  const { id, kind, meta, progress, mergedReplies } = thread;
  const isAlike = explicit === undefined && opening === meta.firstKey;
  const line = { keys: isAlike ? replaceOpening(keys, meta.firstKey) : keys, roles };
  const describe = (own: KeyedMessages): ThreadCandidate => ({
    id,
    keys: own.keys,
    roles: own.roles,
    shape: meta.shape,
    kind,
    explicit,
    agent: meta.agent,
    ...progress.describe(roles, messages.at(-1)?.seq),
  });
  if (haveSameBeginning(line.keys, request.keys)) return describe(line);
  return mergedReplies
    .findRuns({ ...line, messages }, request)
    .then((runs) => describe(runs.length > 0 ? mergeRuns(line, request, runs) : line));
}

/** True if one of two lists begins with the other. */
function haveSameBeginning(one: readonly string[], other: readonly string[]): boolean {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) if (one[index] !== other[index]) return false;
  return true;
}
