import type { Kernel, SessionId } from "../../index.ts";

const PAGE = 100;

/** Yields all sub-agents below a session, each after its parent. Forks are separate conversations and left out. */
export async function* descendants(kernel: Kernel, id: SessionId): AsyncGenerator<SessionId> {
  await using session = await kernel.session(id);
  for (let before: SessionId | undefined; ; ) {
    const page = await session.children({ limit: PAGE, ...(before !== undefined && { before }) });
    for (const child of page) {
      if (child.relation !== "child") continue;
      yield child.id;
      yield* descendants(kernel, child.id);
    }
    if (page.length < PAGE) return;
    before = page.at(-1)?.id;
  }
}
