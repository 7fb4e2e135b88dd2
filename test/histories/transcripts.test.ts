import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect } from "vitest";
import { importSources } from "../../src/histories/import-sources.ts";
import { type Entry, flattenParts, type Kernel, openKernel, type Session } from "../../src/kernel/index.ts";
import { proofCases, sizedTest } from "../support/proof.ts";
import { type CountedFormat, countRaw } from "./count-raw/index.ts";

const transcripts = join(process.env.LONGHAUL_DATA ?? "../shared/data", "transcripts");
const manifest = join(transcripts, "manifest.json");
const isThere = existsSync(manifest);

interface ManifestFile {
  readonly gz: string;
  readonly fmt: CountedFormat;
}

const files: readonly ManifestFile[] = isThere ? JSON.parse(readFileSync(manifest, "utf8")) : [];
const formats = isThere
  ? [...new Set(files.map(({ fmt }) => fmt))]
  : ["(none: no real transcripts here)" as const];

/** Counts a store's content entry by entry; newer versions of a record replace older ones. */
async function countStore(kernel: Kernel) {
  let messages = 0;
  let toolCalls = 0;
  let images = 0;
  for (const { id } of await kernel.sessions({ limit: 1_000 })) {
    await using session = await kernel.session(id);
    for await (const entry of entriesOf(session)) {
      if (entry.kind !== "message") continue;
      messages++;
      for (const part of flattenParts(entry.message)) {
        if (part.type === "tool-call" || (part.type === "blob" && part.of === "tool-call")) toolCalls++;
        if (part.type === "blob" && part.of === undefined && part.mime.startsWith("image/")) images++;
        // An image with damaged bytes stays a raw block, in a blob if it is large.
        const block =
          part.type === "raw"
            ? JSON.stringify(part.value)
            : part.type === "blob" && part.of === "raw"
              ? part.preview
              : "";
        if (block?.includes('"type":"input_image"')) images++;
      }
    }
  }
  return { messages, toolCalls, images };
}

async function* entriesOf(session: Session): AsyncGenerator<Entry> {
  for (let from = 1; ; ) {
    const entries = await session.read({ from, limit: 500 });
    yield* entries;
    const last = entries.at(-1);
    if (!last) return;
    from = last.seq + 1;
  }
}

describe("real transcripts", () => {
  sizedTest.skipIf(!isThere).each(proofCases(formats.toReversed(), 2))(
    "real transcripts of %s are imported once, with the messages, tool calls and images of an independent count",
    async (format) => {
      for (const { gz, fmt } of files) {
        if (fmt !== format) continue;
        const path = join(transcripts, gz);
        const { besides, ...raw } = countRaw(fmt, gunzipSync(readFileSync(path)));
        const expected = {
          messages: raw.messages + (besides?.messages ?? 0),
          toolCalls: raw.toolCalls + (besides?.toolCalls ?? 0),
          images: raw.images + (besides?.images ?? 0),
        };
        await using kernel = await openKernel({ path: ":memory:" });
        const { sources, totals } = await importSources(kernel, [path]);
        expect({ gz, formats: sources.map((source) => source.format) }).toEqual({ gz, formats: [fmt] });
        expect({ gz, ...totals }).toMatchObject({ gz, failed: 0, lost: 0, damaged: 0, found: expected });
        expect({ gz, ...(await countStore(kernel)) }).toEqual({ gz, ...expected });
        const again = await importSources(kernel, [path]);
        expect({ gz, ...again.totals.added }).toMatchObject({
          gz,
          messages: 0,
          usage: 0,
          raw: 0,
          overlays: 0,
        });
      }
    },
  );
});
