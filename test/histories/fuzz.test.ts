import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { findSources } from "../../src/histories/find-sources.ts";
import { FORMATS } from "../../src/histories/formats.ts";
import { Input } from "../../src/histories/reading/input.ts";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";
import { fuzz, SECRET_WORDS } from "./fuzz/fuzz.ts";
import { importCase } from "./fuzz/import-case.ts";
import { Lane } from "./fuzz/lane.ts";
import { expectCleanPrototypes, readCase } from "./fuzz/read-case.ts";
import { HAS_TRANSCRIPTS, realSamples } from "./fuzz/real-samples.ts";
import { bytesOf, type Sample } from "./fuzz/sample.ts";
import { SAMPLES } from "./fuzz/samples/index.ts";

/** Another seed tries other cases: `LONGHAUL_FUZZ_SEED=7 npx vitest run test/histories/fuzz.test.ts`. */
const SEED = Number(process.env.LONGHAUL_FUZZ_SEED ?? 1) * 1_000_003;
/** In a proof some 40 cases for each format; another seed tries other damage, which more cases of one seed do not. */
const SHARES = {
  samples: proofRounds(1_600, 200),
  real: proofRounds(320, 40),
  imports: proofRounds(140, 14),
  disk: proofRounds(30),
};

const DESCRIPTORS = "/proc/self/fd";

const names = new Set(FORMATS.map(({ name }) => name));
const known = SAMPLES.filter(({ format }) => names.has(format));
const read = (folder: string, formats: typeof FORMATS, seed = 0) =>
  readCase(folder, formats, { secretWords: SECRET_WORDS, withResume: seed % 4 === 0 });

const named = (sample: Sample): [string, Sample] => [`${sample.format}: ${sample.name}`, sample];
const formatsOf = (sample: Sample) => FORMATS.filter(({ name }) => name === sample.format);

/** A folder with an unchanged sample. */
function laneOf(sample: Sample): Lane {
  const lane = new Lane(realpathSync(testFolder()));
  const database = join(testFolder(), "sample.db");
  const files = Object.entries(sample.files);
  lane.hold(new Map(files.map(([path, file]) => [path, bytesOf(file, database, JSON.stringify)])));
  return lane;
}

/** Every file below the folder with its time and content. */
function treeOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .map((path) => {
      const facts = statSync(join(folder, path));
      const content = facts.isFile() ? readFileSync(join(folder, path)).toString("base64") : "";
      return `${path} ${facts.mtimeMs} ${content}`;
    });
}

describe("conversations of other agents", () => {
  test("every format has a sample conversation", () => {
    expect([...names].filter((name) => !SAMPLES.some(({ format }) => format === name))).toEqual([]);
  });

  test.each(known.map(named))(
    "a sample conversation is recognized among all formats and read without loss: %s",
    async (_, sample) => {
      const lane = laneOf(sample);
      const own = await read(lane.folder, formatsOf(sample));
      expect(own.sources).toBeGreaterThan(0);
      expect(own.records).toBeGreaterThan(1);
      expect(own.lost).toBe(0);
      expect(await read(lane.folder, FORMATS)).toEqual(own);
    },
  );
});

describe.skipIf(!existsSync(DESCRIPTORS))("reading that stops early", () => {
  test.each(known.map(named))("reading that stops early leaves no file open: %s", async (_, sample) => {
    const { folder } = laneOf(sample);
    for await (const found of findSources([folder], formatsOf(sample))) {
      if (!("source" in found)) continue;
      const { source, format, root } = found;
      for (const stop of [1, 2, 12]) {
        const before = readdirSync(DESCRIPTORS).length;
        let count = 0;
        for await (const _ of format.read(source, new Input({ root, paths: source.paths })))
          if (++count === stop) break;
        expect(readdirSync(DESCRIPTORS).length, `left after item ${stop}`).toBeLessThanOrEqual(before);
      }
    }
  });
});

describe("broken conversations", () => {
  sizedTest(
    "broken conversations are read without an exception, within bounds, and without a change to shared prototypes",
    async () => {
      const folder = realpathSync(testFolder());
      await fuzz({
        samples: known,
        formats: FORMATS,
        seed: SEED,
        count: SHARES.samples,
        folder,
        run: read,
      });
      expectCleanPrototypes();
    },
  );

  sizedTest.skipIf(!HAS_TRANSCRIPTS)(
    "real conversations that were broken are read without an exception",
    async () => {
      const folder = realpathSync(testFolder());
      const samples = realSamples(SEED).filter(({ format }) => names.has(format));
      await fuzz({
        samples,
        formats: FORMATS,
        seed: SEED,
        count: SHARES.real,
        folder,
        run: read,
      });
    },
  );

  sizedTest("broken conversations can be imported, and a second import adds nothing", async () => {
    const folder = realpathSync(testFolder());
    const run = async (path: string, formats: typeof FORMATS) => {
      await using kernel = await openKernel({ path: ":memory:" });
      await importCase(kernel, path, formats);
    };
    await fuzz({
      samples: known,
      formats: FORMATS,
      seed: SEED + 1,
      count: SHARES.imports,
      folder,
      run,
    });
  });

  sizedTest("an import of broken conversations changes nothing outside the store", async () => {
    const sandbox = realpathSync(testFolder());
    const [sources, stores, temporary] = ["sources", "stores", "temporary"].map((name) => {
      mkdirSync(join(sandbox, name));
      return join(sandbox, name);
    }) as [string, string, string];
    vi.stubEnv("TMPDIR", temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    let count = 0;
    const run = async (path: string, formats: typeof FORMATS) => {
      const before = treeOf(path);
      await using kernel = await openKernel({ path: join(stores, String(count++)) });
      await importCase(kernel, path, formats);
      expect(treeOf(path)).toEqual(before);
    };
    const options = { samples: known, formats: FORMATS, seed: SEED + 2, count: SHARES.disk };
    await fuzz({ ...options, folder: sources, run });
    expect(readdirSync(sandbox).sort()).toEqual(["sources", "stores", "temporary"]);
    expect(readdirSync(temporary)).toEqual([]);
    expect(readdirSync(stores)).toHaveLength(SHARES.disk);
  });
});
