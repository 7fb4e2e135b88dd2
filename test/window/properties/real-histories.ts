import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importSources } from "../../../src/histories/import-sources.ts";
import { type Kernel, openKernel } from "../../../src/kernel/index.ts";
import type { Message } from "../../../src/model/message.ts";

const data = process.env.LONGHAUL_DATA ?? "../shared/data";
const manifest = join(data, "transcripts/manifest.json");
const recordings = join(data, "../recordings");

/** Whether this machine has real transcripts, and recorded requests of real clients. */
export const HAS_TRANSCRIPTS = existsSync(manifest);
export const HAS_RECORDINGS = existsSync(recordings);

const FILES_A_FORMAT = 3;
const MAX_PACKED_BYTES = 150_000;

/** The messages of some small transcripts of each format; blobs are not loaded. */
export async function readTranscripts(): Promise<readonly (readonly Message[])[]> {
  const files: { gz: string; fmt: string; gz_bytes: number }[] = JSON.parse(readFileSync(manifest, "utf8"));
  const small = files.filter(({ gz_bytes }) => gz_bytes < MAX_PACKED_BYTES);
  const chosen = [...Map.groupBy(small, ({ fmt }) => fmt).values()].flatMap((of) =>
    of.slice(0, FILES_A_FORMAT),
  );
  return imported(chosen.map(({ gz }) => join(data, "transcripts", gz)));
}

/** The messages of recorded requests of real clients. */
export async function readRecordings(): Promise<readonly (readonly Message[])[]> {
  const folder = mkdtempSync(join(tmpdir(), "longhaul-test-"));
  try {
    const paths = globSync("**/*POST*.json", { cwd: recordings }).flatMap((file, index) => {
      const { body } = JSON.parse(readFileSync(join(recordings, file), "utf8"));
      if (typeof body !== "object" || body === null) return [];
      const path = join(folder, `${index}.json`);
      writeFileSync(path, JSON.stringify(body));
      return [path];
    });
    return await imported(paths);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function imported(paths: readonly string[]): Promise<readonly (readonly Message[])[]> {
  await using kernel = await openKernel({ path: ":memory:" });
  const { sources } = await importSources(kernel, paths);
  const histories: (readonly Message[])[] = [];
  for (const id of new Set(sources.map(({ session }) => session)))
    histories.push(await messagesOf(kernel, id));
  return histories.filter(({ length }) => length > 2);
}

async function messagesOf(kernel: Kernel, id: Parameters<Kernel["session"]>[0]): Promise<readonly Message[]> {
  await using session = await kernel.session(id);
  const messages: Message[] = [];
  for (let from = 1; ; ) {
    const entries = await session.read({ from, limit: 500 });
    for (const entry of entries) if (entry.kind === "message") messages.push(entry.message);
    const last = entries.at(-1);
    if (!last) return messages;
    from = last.seq + 1;
  }
}
