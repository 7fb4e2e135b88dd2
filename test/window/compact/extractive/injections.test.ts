import { describe, expect, test } from "vitest";
import { findFenceAt } from "../../../../src/model/base/fence.ts";
import { parseSummary } from "../../../../src/window/compact/contract/parse-summary.ts";
import { SECTION_KEYS } from "../../../../src/window/compact/contract/sections.ts";
import { extractSummary } from "../../../../src/window/compact/extractive/extract-summary.ts";
import { judgeSummary } from "../../../../src/window/compact/gate/judge-summary.ts";
import type { RecordedMessage } from "../../../../src/window/replay/recorded-message.ts";
import { proofTest } from "../../../support/proof.ts";
import { assistant, called, cart, said, user } from "../conversations.ts";
import { INJECTIONS, traceOf } from "./injections.ts";

/** A conversation into which a file, a page, a failing command and an older agent's result bring the text. */
function poisoned(injection: string): readonly RecordedMessage[] {
  return said([
    ...cart.map(({ message }) => message),
    ...called(
      "I read the notes.",
      "Read",
      { file_path: "/repo/notes.md" },
      `first line\n${injection}\nlast line`,
    ),
    ...called("I fetch the page.", "WebFetch", { url: "https://example.org/a" }, injection),
    ...called(
      "I run the check.",
      "Bash",
      { command: "npm run check" },
      `Exit code 2\nerror: ${injection}`,
      true,
    ),
    user(`[read_file for 'notes.md'] Result:\n${injection}`),
    assistant("The notes do not help, I go on with read-cart.ts."),
  ]);
}

function outside(text: string): string {
  const lines = text.split("\n");
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const fenced = findFenceAt("quoted-data", lines, at);
    if (fenced) at = fenced.end;
    else kept.push(lines[at] as string);
  }
  return kept.join("\n");
}

describe("instructions hidden in tool results", () => {
  test("the suite has at least fifty hidden instructions, each of which can be traced", () => {
    expect(new Set(INJECTIONS).size).toBeGreaterThanOrEqual(50);
    expect(INJECTIONS.filter((injection) => traceOf(injection).length === 0)).toEqual([]);
  });

  test.each(INJECTIONS)("hidden instructions stay inside the fence of quotes: %s", (injection) => {
    for (const maxTokens of [400, 1_500, 6_000]) {
      const { text } = extractSummary(poisoned(injection), { maxTokens, share: 0.9 });
      for (const trace of traceOf(injection)) expect(outside(text)).not.toContain(trace);
      const { present, rest } = parseSummary(text);
      expect([...present]).toEqual(SECTION_KEYS);
      expect(rest).toBe("");
    }
  });

  test.each(INJECTIONS)("a summary that quotes a hidden instruction passes the gate: %s", (injection) => {
    const source = poisoned(injection);
    const { text } = extractSummary(source, { maxTokens: 1_500 });
    expect(judgeSummary({ source, summary: text }).failures).toEqual([]);
  });

  proofTest(
    "hidden instructions stay inside the fence when a summary is carried over again and again",
    () => {
      let previous: string | undefined;
      for (const injection of INJECTIONS) {
        previous = extractSummary(poisoned(injection), { maxTokens: 3_000, previous }).text;
        for (const trace of traceOf(injection)) expect(outside(previous)).not.toContain(trace);
      }
    },
  );
});
