import type { Kernel } from "../../index.ts";
import type { ThreadCandidate } from "../identity/choose-thread.ts";
import type { CandidateLookup } from "./describe-candidate.ts";
import type { Thread } from "./thread.ts";
import { getComparedMessages, type ThreadLookup } from "./thread-lookup.ts";

interface CandidateDeps {
  readonly kernel: Pick<Kernel, "maintenance">;
  /** When the gateway was started, in milliseconds. */
  readonly startedAt: number;
}

/** Descriptions of threads; a promise if some of them must be read. */
export type Candidates = readonly ThreadCandidate[] | Promise<readonly ThreadCandidate[]>;

/** Describes the threads that a request may belong to; no promise if all of them are in memory. */
export function listCandidates(
  threads: readonly Thread[],
  deps: CandidateDeps,
  request: ThreadLookup,
): Candidates {
  const { caller, firstKey } = request;
  const lookup = { explicit: caller.explicit, opening: firstKey, request: getComparedMessages(request) };
  const candidates = threads.map((thread) => describeWithAge(thread, deps, lookup));
  const isKnown = candidates.every((candidate) => !(candidate instanceof Promise));
  return isKnown ? (candidates as readonly ThreadCandidate[]) : Promise.all(candidates);
}

function describeWithAge(
  thread: Thread,
  deps: CandidateDeps,
  lookup: CandidateLookup,
): ThreadCandidate | Promise<ThreadCandidate> {
  const candidate = thread.describeCandidate(lookup);
  return candidate instanceof Promise
    ? candidate.then((described) => markAbandoned(thread, described, deps))
    : markAbandoned(thread, candidate, deps);
}

/**
 * Marks a thread that is empty and older than this gateway: its request was forwarded, but its gateway was killed
 * before it stored it. In a store that gateways share, another one may be about to fill it.
 */
function markAbandoned(
  { session }: Thread,
  candidate: ThreadCandidate,
  { kernel, startedAt }: CandidateDeps,
): ThreadCandidate | Promise<ThreadCandidate> {
  if (candidate.keys.length > 0 || candidate.isInFlight || kernel.maintenance.sharedStates) return candidate;
  return session
    .record()
    .then(({ createdAt }) => (createdAt < startedAt ? { ...candidate, isAbandoned: true } : candidate));
}
