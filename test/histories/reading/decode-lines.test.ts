import { appendFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeLines, type LineDecoder } from "../../../src/histories/reading/decode-lines.ts";
import { Input, type InputOptions } from "../../../src/histories/reading/input.ts";
import type { CheckpointItem, Item } from "../../../src/histories/reading/item.ts";
import type { Json } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { collect } from "./chunked.ts";

/** A decoder that turns every record into a notice and joins records with `more` with the next one. */
function joiner(state: Json | undefined): LineDecoder {
  let held: string[] = [];
  let count = (state as number | undefined) ?? 0;
  const notice = (line: number): Item => {
    const text = held.join("+");
    held = [];
    count++;
    return { type: "record", id: `L${line}`, body: { kind: "notice", text } };
  };
  return {
    *decode({ record, line }) {
      held.push(String(record.n));
      if (!record.more) yield notice(line);
    },
    get isSettled() {
      return held.length === 0;
    },
    state: () => count,
    *end() {
      if (held.length > 0) yield notice(0);
    },
  };
}

function makeFile(content: string) {
  const path = join(realpathSync(testFolder()), "a.jsonl");
  writeFileSync(path, content);
  const decode = (options: Partial<InputOptions> = {}) =>
    collect(decodeLines(new Input({ root: path, paths: [path], ...options }), path, joiner));
  return { path, decode };
}

const texts = (items: readonly Item[]) =>
  items.flatMap((item) =>
    item.type === "record" && item.body.kind === "notice" ? [`${item.id} ${item.body.text}`] : [],
  );
const checkpoints = (items: readonly Item[]) =>
  items.filter((item): item is CheckpointItem => item.type === "checkpoint");
const problems = (items: readonly Item[]) => items.filter((item) => item.type === "problem");
const line = (n: number, rest: object = {}) => `${JSON.stringify({ n, ...rest })}\n`;

describe("a JSONL file that is decoded", () => {
  test("decoding a JSONL file yields the decoder's items and a position to continue from", async () => {
    const { decode } = makeFile(line(1) + line(2, { more: true }) + line(3));
    const items = await decode();
    expect(texts(items)).toEqual(["L1 1", "L3 2+3"]);
    expect(checkpoints(items)).toHaveLength(1);
    expect(checkpoints(items)[0]?.state).toMatchObject({ decoder: 2, position: { lines: 3 } });
  });

  test("decoding a JSONL file reports broken lines by number and continues", async () => {
    const wrong = Buffer.from([0xff]).toString("latin1");
    const { path, decode } = makeFile("");
    writeFileSync(
      path,
      Buffer.from(`${line(1)}broken\n${line(3, { text: wrong })}[4]\n${line(5)}`, "latin1"),
    );
    const items = await decode();
    expect(texts(items)).toEqual(["L1 1", "L3 3", "L5 5"]);
    expect(problems(items)).toMatchObject([
      { path, line: 2, severity: "lost" },
      { path, line: 3, severity: "damaged" },
      { path, line: 4, severity: "lost" },
    ]);
  });

  test("decoding a JSONL file reports a cut last record, unless the file is still being written", async () => {
    const { path, decode } = makeFile(`${line(1)}{"n":2`);
    expect(problems(await decode())).toMatchObject([{ path, line: 2, severity: "lost" }]);
    const live = await decode({ isLive: true });
    expect(problems(live)).toEqual([]);
    appendFileSync(path, `0}\n${line(3)}`);
    const { state: resume } = checkpoints(live).at(-1) as CheckpointItem;
    expect(texts(await decode({ resume }))).toEqual(["L2 20", "L3 3"]);
  });

  sizedTest("decoding a grown JSONL file continues where it stopped, wherever the cut was", async () => {
    const records = fc.array(fc.record({ more: fc.boolean() }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(records, fc.nat(), fc.boolean(), async (list, some, isLive) => {
        const whole = Buffer.from(
          list.map(({ more }, index) => line(index + 1, more ? { more } : {})).join(""),
        );
        const { path, decode } = makeFile("");
        writeFileSync(path, whole.subarray(0, some % (whole.length + 1)));
        const first = await decode({ isLive });
        writeFileSync(path, whole);
        const expected = texts(await decode());
        const last = checkpoints(first).at(-1);
        const before = texts(last ? first.slice(0, first.indexOf(last)) : []);
        const rest = texts(await decode(last ? { resume: last.state } : {}));
        expect([...before, ...rest]).toEqual(expected);
      }),
      { numRuns: proofRounds(100) },
    );
  });

  test("decoding a JSONL file starts again if the file was rewritten", async () => {
    const { path, decode } = makeFile(line(1) + line(2));
    const { state: resume } = checkpoints(await decode()).at(-1) as CheckpointItem;
    expect(texts(await decode({ resume }))).toEqual([]);
    writeFileSync(path, line(7) + line(8) + line(9));
    expect(texts(await decode({ resume }))).toEqual(["L1 7", "L2 8", "L3 9"]);
    for (const resume of [null, "words", { position: null }, { position: { offset: 5 } }] as Json[])
      expect(texts(await decode({ resume }))).toEqual(["L1 7", "L2 8", "L3 9"]);
  });

  test("decoding a long JSONL file makes checkpoints on the way, so that it can continue from the middle", async () => {
    const count = 5_000;
    const { decode } = makeFile(
      Array.from({ length: count }, (_, index) => line(index, { text: "x".repeat(4_000) })).join(""),
    );
    const items = await decode();
    const [first, ...others] = checkpoints(items) as [CheckpointItem, ...CheckpointItem[]];
    expect(others.length).toBeGreaterThan(0);
    const rest = texts(await decode({ resume: first.state }));
    expect(rest).toEqual(texts(items.slice(items.indexOf(first))));
    expect(rest.length).toBeLessThan(count);
  });

  test("decoding a JSONL file makes no checkpoint while records are held back", async () => {
    const { decode } = makeFile(line(1) + line(2, { more: true }));
    const items = await decode();
    expect(texts(items)).toEqual(["L1 1", "L0 2"]);
    expect(checkpoints(items)).toEqual([]);
  });
});
