import type { ThreadKind } from "../identity/choose-thread.ts";
import { findProject } from "../identity/find-project.ts";
import { getMessageText } from "../identity/request-facts.ts";
import type { ThreadLookup } from "./thread-lookup.ts";
import type { ThreadMeta } from "./thread-meta.ts";

/** The metadata of a new thread. Some agents state their project in the first messages instead of the system prompt. */
export function buildThreadMeta(
  { shape, firstKey, caller, facts, opening }: ThreadLookup,
  kind: ThreadKind,
): ThreadMeta {
  const { agent } = caller;
  const project = facts.project ?? findProject(opening().map(getMessageText));
  return {
    kind,
    shape,
    firstKey,
    ...(facts.client !== undefined && { client: facts.client }),
    ...(agent !== undefined && { agent }),
    ...(project !== undefined && { project }),
  };
}
