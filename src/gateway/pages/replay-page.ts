import type { ReplayRunner } from "../../api/jobs/index.ts";
import type { Kernel } from "../../index.ts";
import type { PageReply } from "./page-reply.ts";
import {
  checkMethod,
  createNoSessionFault,
  type PageRequest,
  readSessionArgument,
  readWholeArgument,
} from "./page-request.ts";

const WINDOW_LIMITS = { otherwise: 64_000, max: 10_000_000 };
/** The reader waits for the result, so longer conversations are left to the command line. */
const MAX_ENTRIES = 2_000;

/** The cost and retention of a session under each policy. */
export async function buildReplayPage(
  kernel: Kernel,
  replays: ReplayRunner,
  callRequest: PageRequest,
): Promise<PageReply> {
  checkMethod(callRequest, "GET", "HEAD");
  const session = readSessionArgument(callRequest);
  const window = readWholeArgument(callRequest, "window", WINDOW_LIMITS);
  const policies = callRequest.query
    .get("policy")
    ?.split(",")
    .map((name) => name.trim());
  if (!(await kernel.find(session))) throw createNoSessionFault(session);
  const request = { session, window, maxEntries: MAX_ENTRIES, ...(policies && { policies }) };
  return { json: await replays.run(request, callRequest.signal) };
}
