import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createStaticEmbedder,
  loadStaticEmbedder,
} from "../../../src/recall/embed/static/static-embedder.ts";
import { smallWeights } from "./small-weights.ts";

const packaged = loadStaticEmbedder();

function cosine(left: string, right: string): number {
  const [a, b] = packaged.embed([left, right]) as [Float32Array, Float32Array];
  return a.reduce((sum, value, axis) => sum + value * (b[axis] as number), 0);
}

describe("the packaged embedder", () => {
  test.each([
    ["How do I reset my password?", "I forgot my login credentials", "The soup needs more salt"],
    ["Where did we go on vacation?", "Our trip to the beach was lovely", "The compiler reports a type error"],
    ["data is cached in memory", "数据缓存在内存中", "这家餐厅的烤鸭很好吃"],
    [
      "read a file line by line",
      "function readLines(path: string): AsyncIterable<string>",
      "class ButtonColor",
    ],
    ["如何删除一个容器", "docker rm removes containers", "the weather was sunny all week"],
  ])("the packaged embedder finds %j closer to %j than to %j", (question, near, far) => {
    expect(cosine(question, near)).toBeGreaterThan(cosine(question, far) + 0.1);
  });

  test("the packaged embedder gives vectors of length 1, and zeros for a text without words", () => {
    const [vector, empty] = packaged.embed(["a plain sentence", " … "]) as [Float32Array, Float32Array];
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect(vector).toHaveLength(packaged.dimensions);
    expect(empty.every((value) => value === 0)).toBe(true);
  });

  test("the packaged embedder places related words close together, and gives common words less weight", () => {
    const token = (word: string) => packaged.tokensOf(word)[0] as number;
    const near = (left: string, right: string) =>
      packaged
        .vectorOf(token(left))
        .reduce((sum, value, axis) => sum + value * (packaged.vectorOf(token(right))[axis] as number), 0);
    expect(near("doctor", "physician")).toBeGreaterThan(near("doctor", "guitar") + 0.2);
    expect(packaged.weightOf(token("the"))).toBeLessThan(packaged.weightOf(token("kubernetes")));
    expect(packaged.wordOf(token("Guitar"))).toBe("guitar");
  });

  test("the packaged embedder gives the same bytes for the same text as on every other machine", () => {
    const texts = [
      "The quick brown fox",
      "const answer = await fetchUser(42)",
      "数据库连接池 and the Zürich café",
    ];
    const hash = createHash("sha256");
    for (const vector of packaged.embed(texts)) hash.update(new Uint8Array(vector.buffer));
    expect(`${packaged.id} ${hash.digest("hex").slice(0, 16)}`).toBe("longhaul-static-2 3d398efd2d09d070");
  });
});

describe("the vector of a text", () => {
  const small = createStaticEmbedder(smallWeights());

  test("the vector of a text does not depend on the order of its words or on other texts in the batch", () => {
    const words = fc.array(fc.constantFrom("cat", "dog", "use", "state", "数据", "zyxw"), { maxLength: 12 });
    fc.assert(
      fc.property(words, words, (left, right) => {
        const [one] = small.embed([left.join(" ")]);
        const [, again, turned] = small.embed([right.join(" "), left.join(" "), left.toReversed().join(" ")]);
        expect(again).toEqual(one);
        expect(turned).toEqual(one);
      }),
    );
  });

  test("the vector of a text counts each repetition of a word less", () => {
    const [once, often, other] = small.embed(["cat dog", "cat cat cat cat dog", "cat"]) as [
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    expect(often).not.toEqual(once);
    expect(often).not.toEqual(other);
  });
});
