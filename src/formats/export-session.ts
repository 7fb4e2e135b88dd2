import type { Entry, Json, Kernel, Part, Session, SessionId } from "../index.ts";
import { LonghaulError } from "../index.ts";
import { checkHas, checkKernel } from "./check-arguments.ts";
import type { ExportedSession, OutputPiece, Writer } from "./writing/writer.ts";

const PAGE_ENTRIES = 200;

/** Writes a session in a foreign format, piece by piece. SESSION_NOT_FOUND if there is none of that id. */
export async function* exportSession(
  kernel: Kernel,
  id: SessionId,
  writer: Writer,
): AsyncGenerator<OutputPiece> {
  checkHas("writer", writer, "write");
  yield* writer.write(await exportedSession(kernel, id));
}

/** A session as writers see it. */
export async function exportedSession(kernel: Kernel, id: SessionId): Promise<ExportedSession> {
  checkKernel(kernel);
  const record = await kernel.find(id);
  if (!record) {
    throw new LonghaulError("SESSION_NOT_FOUND", `There is no session ${JSON.stringify(id)} in this store.`, {
      details: { session: id },
    });
  }
  const [current] = await reading(kernel, id, (session) => session.lines(1));
  return {
    record,
    line: current?.ranges ?? [],
    entries: (which) => (which === "line" ? lineEntries(kernel, id) : logEntries(kernel, id)),
    children: () => childrenOf(kernel, id),
    base64: async (part) => Buffer.from(await kernel.blobs.bytes(part.digest)).toString("base64"),
    restore: async (part: Part) => (part.type === "blob" ? kernel.blobs.restore(part) : part),
    raw: async (entry) =>
      entry.blob ? (JSON.parse(await kernel.blobs.text(entry.blob.digest)) as Json) : (entry.value as Json),
  };
}

async function reading<T>(kernel: Kernel, id: SessionId, use: (session: Session) => Promise<T>): Promise<T> {
  await using session = await kernel.session(id);
  return use(session);
}

async function* lineEntries(kernel: Kernel, id: SessionId): AsyncGenerator<Entry> {
  await using session = await kernel.session(id);
  const [current] = await session.lines(1);
  for (const { session: owner, from, to } of current?.ranges ?? []) {
    if (owner === id) yield* rangeEntries(session, from, to);
    else {
      await using other = await kernel.session(owner);
      yield* rangeEntries(other, from, to);
    }
  }
}

async function* logEntries(kernel: Kernel, id: SessionId): AsyncGenerator<Entry> {
  await using session = await kernel.session(id);
  yield* rangeEntries(session, 1, (await session.head()).seq);
}

async function* rangeEntries(session: Session, from: number, to: number): AsyncGenerator<Entry> {
  for (let next = from; next <= to; ) {
    const entries = await session.read({ from: next, to, limit: PAGE_ENTRIES });
    yield* entries;
    const last = entries.at(-1);
    if (!last) return;
    next = last.seq + 1;
  }
}

/** Children only: a fork is a conversation of its own. Oldest first. */
async function* childrenOf(kernel: Kernel, id: SessionId): AsyncGenerator<ExportedSession> {
  const ids: SessionId[] = [];
  await reading(kernel, id, async (session) => {
    for (let before: SessionId | undefined; ; ) {
      const page = await session.children({ limit: 100, ...(before !== undefined && { before }) });
      ids.unshift(
        ...page
          .filter(({ relation }) => relation === "child")
          .map((child) => child.id)
          .reverse(),
      );
      if (page.length < 100) return;
      before = page.at(-1)?.id;
    }
  });
  for (const child of ids) yield await exportedSession(kernel, child);
}
