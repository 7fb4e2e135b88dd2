import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { exportSession } from "../../src/histories/export-session.ts";
import { importSources } from "../../src/histories/import-sources.ts";
import type { WriterName } from "../../src/histories/port/writer.ts";
import { WRITERS } from "../../src/histories/writers.ts";
import { type Entry, type Kernel, openKernel, type SessionId } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofCases, proofTestIf, sizedTest } from "../support/proof.ts";

const transcripts = join(process.env.LONGHAUL_DATA ?? "../shared/data", "transcripts");
const manifest = join(transcripts, "manifest.json");
const isThere = existsSync(manifest);

interface ManifestFile {
  readonly gz: string;
  readonly fmt: string;
  readonly sha256: string;
  readonly path: string;
}

const files: readonly ManifestFile[] = isThere ? JSON.parse(readFileSync(manifest, "utf8")) : [];
const some = (format: string, count: number) =>
  files.filter(({ fmt, path }) => fmt === format && !path.endsWith("ui_messages.json")).slice(0, count);

/** Exports a session into a folder. */
async function write(kernel: Kernel, session: SessionId, name: WriterName): Promise<string> {
  const writer = WRITERS.find((one) => one.name === name);
  if (!writer) throw new Error(`no writer ${name}`);
  const folder = testFolder();
  const texts = new Map<string, string[]>();
  for await (const { file, text } of exportSession(kernel, session, writer))
    texts.set(file, [...(texts.get(file) ?? []), text]);
  for (const [file, pieces] of texts) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), pieces.join(""));
  }
  return folder;
}

/** All visible content of a log, except import provenance. */
async function contentOf(kernel: Kernel, id: SessionId) {
  await using session = await kernel.session(id);
  const entries: unknown[] = [];
  const { seq: head } = await session.head();
  for (let from = 1; from <= head; ) {
    const page: readonly Entry[] = await session.read({ from, limit: 500 });
    entries.push(
      ...page.map(({ session: _, id: _id, ...entry }) =>
        JSON.parse(JSON.stringify(entry).replaceAll(id, "SESSION")),
      ),
    );
    from = (page.at(-1)?.seq ?? head) + 1;
  }
  return entries;
}

/** Imports a file, exports it, and imports that elsewhere; returns both logs. */
async function thereAndBack(path: string, name: WriterName) {
  await using first = await openKernel({ path: ":memory:" });
  await using second = await openKernel({ path: ":memory:" });
  const { sources } = await importSources(first, [path]);
  const from = sources[0]?.session as SessionId;
  const report = await importSources(second, [await write(first, from, name)]);
  expect({ path, lost: report.totals.lost, damaged: report.totals.damaged }).toEqual({
    path,
    lost: 0,
    damaged: 0,
  });
  const to = report.sources[0]?.session as SessionId;
  return { before: await contentOf(first, from), after: await contentOf(second, to) };
}

describe("a real session written in its own format and imported again", () => {
  test.skipIf(!isThere)(
    "a real session of Claude Code is the same, entry by entry, after an export and an import",
    async () => {
      for (const { gz } of some("claude-code", 4)) {
        const { before, after } = await thereAndBack(join(transcripts, gz), "claude-code");
        expect(after).toEqual(before);
      }
    },
  );

  proofTestIf(isThere)("a real task of Cline is the same, entry by entry, in both files", async () => {
    for (const { gz } of some("cline", 2)) {
      const { before, after } = await thereAndBack(dirname(join(transcripts, gz)), "cline");
      expect(after).toEqual(before);
    }
  });

  proofTestIf(isThere)(
    "a real session of pi is the same, entry by entry, once it has the ids of version 3",
    async () => {
      await using kernel = await openKernel({ path: ":memory:" });
      const { sources } = await importSources(kernel, [join(transcripts, some("pi", 1)[0]?.gz as string)]);
      const newer = await write(kernel, sources[0]?.session as SessionId, "pi");
      const { before, after } = await thereAndBack(newer, "pi");
      expect(after).toEqual(before);
    },
  );
});

describe("any session written for an API and imported again", () => {
  const formats = [
    "claude-code",
    "codex",
    "opencode",
    "swe-agent",
    "cline",
    "pi",
    "copilot-cli",
    "gemini-cli",
  ];
  sizedTest
    .skipIf(!isThere)
    .each(proofCases(["anthropic", "openai-chat", "openai-responses", "ai-sdk", "ai-sdk-ui"] as const))(
    "a session is written the same after an export and an import: %s",
    async (name) => {
      for (const { gz } of formats.flatMap((format) => some(format, 1))) {
        await using first = await openKernel({ path: ":memory:" });
        await using second = await openKernel({ path: ":memory:" });
        const { sources } = await importSources(first, [join(transcripts, gz)]);
        const once = await write(first, sources[0]?.session as SessionId, name);
        const report = await importSources(second, [once]);
        const twice = await write(second, report.sources[0]?.session as SessionId, name);
        expect({ gz, text: onlyText(twice) }).toEqual({ gz, text: onlyText(once) });
      }
    },
  );
});

function onlyText(folder: string): string {
  const [file] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.\w+$/.test(name),
  );
  return readFileSync(join(folder, file as string), "utf8");
}
