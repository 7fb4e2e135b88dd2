import { describe, expect, test } from "vitest";
import {
  createStaticEmbedder,
  loadStaticEmbedder,
} from "../../../src/memory/embed/static/static-embedder.ts";
import {
  packTermTable,
  readTermTable,
  unpackTermTable,
} from "../../../src/memory/embed/static/term-table.ts";
import { createTermVectors, mapTerms } from "../../../src/memory/rank/term-vectors.ts";
import { smallWeights } from "./small-weights.ts";

const small = createStaticEmbedder(smallWeights());

describe("the stored table of terms", () => {
  test("gives the same token for every term of the packaged vocabulary, and none for others", () => {
    const embedder = loadStaticEmbedder();
    const tokens = mapTerms(embedder);
    const table = unpackTermTable(Buffer.from(packTermTable(embedder.id, tokens)), embedder.id);
    let different = 0;
    for (const [term, token] of tokens) if (table?.get(term) !== token) different++;
    expect(different).toBe(0);
    expect(tokens.size).toBeGreaterThan(50_000);
    for (const term of ["", "\n", "zzqzzq", "run\nwalk", "x".repeat(500)])
      expect(table?.get(term)).toBe(tokens.get(term));
  });

  test("gives the same vectors as a vocabulary that is stemmed at once", () => {
    const table = unpackTermTable(Buffer.from(packTermTable(small.id, mapTerms(small))), small.id);
    const [stored, computed] = [createTermVectors(small, table), createTermVectors(small)];
    for (const term of ["cat", "dog", "state", "数", "数据", "walk", "unknown"])
      expect(stored.vectorOf(term)).toEqual(computed.vectorOf(term));
    expect(computed.vectorOf("walk")).toBeDefined();
  });

  test("of another embedder is not used", () => {
    const bytes = Buffer.from(packTermTable("other-1", mapTerms(small)));
    expect(unpackTermTable(bytes, small.id)).toBeUndefined();
    expect(unpackTermTable(bytes, "other-1")).toBeDefined();
  });

  test("is not used with any byte changed or cut off", () => {
    const whole = packTermTable(small.id, mapTerms(small));
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] as number) ^ 0x5a;
      expect(unpackTermTable(changed, small.id)).toBeUndefined();
      expect(unpackTermTable(Buffer.from(whole.slice(0, at)), small.id)).toBeUndefined();
    }
  });

  test("is not read while sources run, which may differ from the last build", () => {
    expect(readTermTable(loadStaticEmbedder().id)).toBeUndefined();
  });
});
