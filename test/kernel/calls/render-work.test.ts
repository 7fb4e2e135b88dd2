import fc from "fast-check";
import { expect, test } from "vitest";
import { quoteCommand } from "../../../src/kernel/calls/render-work.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

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
