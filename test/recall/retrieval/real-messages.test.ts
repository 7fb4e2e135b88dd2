import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { shouldRetrieve } from "../../../src/recall/retrieval/should-retrieve.ts";
import { proofTest } from "../../support/proof.ts";

const folder = join(process.env.LONGHAUL_DATA ?? "../shared/data", "longmemeval-s");
const lines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const shareOf = (texts: readonly string[]) =>
  texts.filter((text) => shouldRetrieve(text)).length / texts.length;

describe.skipIf(!existsSync(join(folder, "questions.jsonl")))("real messages", () => {
  test("most questions about earlier conversations trigger a search", () => {
    const questions = lines(readFileSync(join(folder, "questions.jsonl"), "utf8"));
    expect(shareOf(questions.map(({ question }: { question: string }) => question))).toBeGreaterThan(0.7);
  });

  proofTest("few ordinary messages trigger a search", () => {
    const sessions = lines(gunzipSync(readFileSync(join(folder, "sessions.jsonl.gz"))).toString("utf8"));
    const said = sessions.flatMap(({ turns }: { turns: { role: string; content: string }[] }) =>
      turns.filter(({ role }) => role === "user").map(({ content }) => content),
    );
    expect(shareOf(said)).toBeLessThan(0.08);
  });
});
