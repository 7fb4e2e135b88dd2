import type { BlobPart, Entry, Json, Kernel, Part, Session, SessionId } from "../kernel/index.ts";
import { isLonghaulError, LonghaulError } from "../kernel/index.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { checkKernel, checkObject } from "./check-arguments.ts";
import type { ExportedSession, OutputPiece, Writer } from "./port/writer.ts";

const PAGE_ENTRIES = 200;

/** Called with a sentence about content that is missing or damaged and left out of an export. */
export type OnDamage = (damage: string) => void;

/** Writes a session in a foreign format, piece by piece; throws SESSION_NOT_FOUND. */
export async function* exportSession(
  kernel: Kernel,
  id: SessionId,
  writer: Writer,
  onDamage: OnDamage = () => undefined,
): AsyncGenerator<OutputPiece> {
  checkObject("writer", writer, "write");
  yield* writer.write(await createExportedSession(kernel, id, onDamage));
}

/** Creates the view of a session that writers read; throws SESSION_NOT_FOUND. */
export async function createExportedSession(
  kernel: Kernel,
  id: SessionId,
  onDamage: OnDamage = () => undefined,
): Promise<ExportedSession> {
  checkKernel(kernel);
  const record = await kernel.find(id);
  if (!record) {
    throw new LonghaulError("SESSION_NOT_FOUND", `There is no session ${JSON.stringify(id)} in this store.`, {
      details: { session: id },
    });
  }
  const [current] = await withSession(kernel, id, (session) => session.lines(1));
  return {
    record,
    line: current?.ranges ?? [],
    entries: (which) =>
      reportDamaged(which === "line" ? readLineEntries(kernel, id) : readLogEntries(kernel, id), onDamage),
    children: () => listChildren(kernel, id, onDamage),
    base64: (part) =>
      readUnlessDamaged(
        async () => Buffer.from(await kernel.blobs.bytes(part.digest)).toString("base64"),
        async () => "",
        onDamage,
      ),
    restore: async (part: Part) => {
      if (part.type !== "blob") return part;
      if (part.of === undefined) return toReadableMedia(kernel, part, onDamage);
      const left = () => kernel.blobs.restoreReadable(part);
      return readUnlessDamaged(() => kernel.blobs.restore(part), left, onDamage);
    },
    raw: async ({ blob, value }) => {
      if (!blob) return value as Json;
      return readUnlessDamaged(
        async () => JSON.parse(await kernel.blobs.text(blob.digest)) as Json,
        async () => null,
        onDamage,
      );
    },
  };
}

/**
 * Returns the media part, or a text placeholder if its bytes are missing or damaged: no format accepts half an image.
 */
async function toReadableMedia(kernel: Kernel, part: BlobPart, onDamage: OnDamage): Promise<Part> {
  const text = `[${part.mime}${part.name === undefined ? "" : ` ${part.name}`} is missing or damaged]`;
  return readUnlessDamaged<Part>(
    async () => {
      for await (const _ of kernel.blobs.stream(part.digest));
      return part;
    },
    async () => ({ type: "text", text }),
    onDamage,
  );
}

/** Passes entries on and reports the damaged ones. */
async function* reportDamaged(entries: AsyncGenerator<Entry>, onDamage: OnDamage): AsyncGenerator<Entry> {
  for await (const entry of entries) {
    if (entry.kind === "damaged") onDamage(`Entry ${entry.id} is damaged on disk. ${entry.problem}`);
    yield entry;
  }
}

async function readUnlessDamaged<T>(
  read: () => Promise<T>,
  otherwise: () => Promise<T>,
  onDamage: OnDamage,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isLonghaulError(error, "BLOB_CORRUPT") && !isLonghaulError(error, "BLOB_NOT_FOUND")) throw error;
    onDamage(error.message);
    return otherwise();
  }
}

async function withSession<T>(
  kernel: Kernel,
  id: SessionId,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  await using session = await kernel.session(id);
  return await use(session);
}

async function* readLineEntries(kernel: Kernel, id: SessionId): AsyncGenerator<Entry> {
  await using session = await kernel.session(id);
  yield* session.entries();
}

async function* readLogEntries(kernel: Kernel, id: SessionId): AsyncGenerator<Entry> {
  await using session = await kernel.session(id);
  yield* readRange(session, 1, (await session.head()).seq);
}

async function* readRange(session: Session, from: number, to: number): AsyncGenerator<Entry> {
  for (let next = from; next <= to; ) {
    const entries = await session.read({ from: next, to, limit: PAGE_ENTRIES });
    yield* entries;
    const last = entries.at(-1);
    if (!last) return;
    next = last.seq + 1;
  }
}

/** Yields sub-agents, oldest first. Forks are separate conversations and left out. */
async function* listChildren(
  kernel: Kernel,
  id: SessionId,
  onDamage: OnDamage,
): AsyncGenerator<ExportedSession> {
  const ids: SessionId[] = [];
  await withSession(kernel, id, async (session) => {
    for (let before: SessionId | undefined; ; ) {
      const page = await session.children(dropUndefined({ limit: 100, before }));
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
  for (const child of ids) yield await createExportedSession(kernel, child, onDamage);
}
