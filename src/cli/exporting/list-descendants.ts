import type { Kernel, SessionId } from "../../index.ts";

const PAGE_SESSIONS = 100;

/** Yields all sub-agents below a session, each after its parent. Forks are separate conversations and left out. */
export async function* listDescendants(kernel: Kernel, id: SessionId): AsyncGenerator<SessionId> {
  await using session = await kernel.session(id);
  for (let before: SessionId | undefined; ; ) {
    const page = await session.children({ limit: PAGE_SESSIONS, ...(before !== undefined && { before }) });
    for (const child of page) {
      if (child.relation !== "child") continue;
      yield child.id;
      yield* listDescendants(kernel, child.id);
    }
    if (page.length < PAGE_SESSIONS) return;
    before = page.at(-1)?.id;
  }
}
