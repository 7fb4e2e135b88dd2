import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { findMemoryOwner, isOwnSession } from "../../model/session-key.ts";
import { AgentMemory } from "../faces/memory.ts";
import type { Kernel, MemoryScope, SessionId } from "../index.ts";

/** The owner and the reach of an agent's memory. */
interface AgentMemoryOptions {
  /** Owner of the memories; default: the agent of the local user. */
  readonly agent?: string | undefined;
  /** Sessions and files that may be searched; default: everything except other agents' memories. */
  readonly scope?: MemoryScope | undefined;
  readonly mayForgetUsers?: boolean | undefined;
}

/** The memory of an agent over the sessions, blobs and memories of a kernel. */
export function openAgentMemory(
  kernel: Kernel,
  { agent, scope, mayForgetUsers }: AgentMemoryOptions = {},
): AgentMemory {
  return new AgentMemory({
    memory: kernel.memory,
    memories: kernel.memories(agent),
    find: (session) => kernel.find(session),
    restore: (part) => kernel.blobs.restore(part),
    async *originals(entry) {
      await using session = await kernel.session(entry.slice(0, entry.lastIndexOf("#")));
      yield* session.expand(entry);
    },
    results: (source) => readResults(kernel, source, scope),
    ...dropUndefined({ scope, mayForgetUsers }),
  });
}

/** Bounds of the tool results that are compared with a note. */
const MAX_LISTED = 50;
const MAX_CONVERSATIONS = 3;
const MAX_MESSAGES = 500;
const MAX_CHARACTERS = 8_000_000;

async function listNewest(kernel: Kernel, scope: MemoryScope | undefined): Promise<readonly SessionId[]> {
  const ids = (await kernel.sessions({ limit: MAX_LISTED })).map(({ id }) => id);
  const isOwn = (id: SessionId) => findMemoryOwner(id) === undefined && isOwnSession(scope?.prefixes, id);
  return ids.filter(isOwn).slice(0, MAX_CONVERSATIONS);
}

async function* readResults(
  kernel: Kernel,
  source: SessionId | undefined,
  scope: MemoryScope | undefined,
): AsyncGenerator<string> {
  const known = source === undefined ? undefined : await kernel.find(source);
  const ids = known ? [known.id] : await listNewest(kernel, scope);
  let characters = 0;
  for (const id of ids) {
    await using session = await kernel.session(id);
    let messages = 0;
    for await (const entry of session.entries({ direction: "older", kinds: ["message"] })) {
      if (++messages > MAX_MESSAGES || characters > MAX_CHARACTERS) break;
      if (entry.kind !== "message") continue;
      for (const part of entry.message.parts) {
        if (part.type !== "tool-result") continue;
        for (const output of part.output) {
          const whole =
            output.type === "blob" && output.of === "text"
              ? await kernel.blobs.restore(output).catch(() => output)
              : output;
          if (whole.type !== "text") continue;
          characters += whole.text.length;
          yield whole.text;
        }
      }
    }
  }
}
