import type { Kernel } from "../../index.ts";
import type { KeyedMessages } from "../identity/align-request.ts";
import type { ThreadCandidate } from "../identity/choose-thread.ts";
import type { Thread } from "./thread.ts";

/** The parts of a request by which threads are described. */
interface CandidateRequest {
  readonly explicit: string | undefined;
  readonly firstKey: string | undefined;
  readonly messages: KeyedMessages;
}

interface CandidateDeps {
  readonly kernel: Pick<Kernel, "maintenance">;
  /** When the gateway was started, in milliseconds. */
  readonly startedAt: number;
}

/** Describes the threads that a request may belong to. */
export function listCandidates(
  threads: readonly Thread[],
  deps: CandidateDeps,
  { explicit, firstKey, messages }: CandidateRequest,
): Promise<readonly ThreadCandidate[]> {
  return Promise.all(
    threads.map(async (thread) => {
      const candidate = await thread.describeCandidate(explicit, firstKey, messages);
      return (await isAbandoned(thread, candidate, deps)) ? { ...candidate, isAbandoned: true } : candidate;
    }),
  );
}

/**
 * True for a thread that is empty and older than this gateway: its request was forwarded, but its gateway was killed
 * before it stored it. In a store that gateways share, another one may be about to fill it.
 */
async function isAbandoned(
  { session }: Thread,
  { keys, isInFlight }: ThreadCandidate,
  { kernel, startedAt }: CandidateDeps,
): Promise<boolean> {
  if (keys.length > 0 || isInFlight || kernel.maintenance.sharedStates) return false;
  const { createdAt } = await session.record();
  return createdAt < startedAt;
}
