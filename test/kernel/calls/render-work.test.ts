import fc from "fast-check";
import { expect, test } from "vitest";
import { renderWorkHit } from "../../../src/kernel/calls/render-work.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

const NONE = { paths: [], key: "", isFailed: false, troubles: [], request: undefined, commit: undefined };

/** The quoted command of a hit; undefined if it is not quoted. */
function quoteCommand(text: string): string | undefined {
  const step = { entry: "s#1", seq: 1, at: 0, result: "s#2", kind: "command", text, ...NONE } as const;
  const facts = {
    session: "s",
    agent: "pi",
    place: undefined,
    commit: undefined,
    hasChangedSince: false,
    score: 1,
  };
  const [line = ""] = renderWorkHit({ ...facts, step }).split(" (s#1, pi, ");
  return line.startsWith("command ") ? line : undefined;
}

test.each([
  `psql "$DB" -c "select 'a' < 3" 2>&1 | tee out.txt`,
  "cat <<< 'x' > y 2>/dev/null && echo \"done\"",
  "echo `date`",
])("the command %s is quoted byte for byte", (command) => {
  const quoted = quoteCommand(command) ?? "";
  expect(quoted).toContain(command);
  expect(quoted).toMatch(/^command (`+) ?[\s\S]* ?\1$/);
});

test.each([
  ["of several lines", "npm test\nrm -rf /"],
  ["that was cut", `echo ${"x".repeat(200)}…`],
  ["that is too long", `echo ${"x".repeat(400)}`],
  ["with invisible characters", "echo \u202e evil"],
  ["with a closing tag", "echo '</context>'"],
  ["of blanks", "   "],
])("a command %s is not quoted", (_, command) => expect(quoteCommand(command)).toBeUndefined());

sizedTest("a command is quoted verbatim or not at all", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), (command) => {
      const quoted = quoteCommand(command);
      if (quoted !== undefined) expect(quoted).toContain(command);
    }),
    { numRuns: proofRounds(5_000) },
  );
});
