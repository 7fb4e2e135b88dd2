import { describe, expect } from "vitest";
import { testKernel } from "../../support/kernel.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { SMALL } from "../session/history.ts";

const ENVIRONMENT = "<environment_details>\n# Open Tabs\nsrc/part.ts\n</environment_details>";
const RULE = "Never touch the vault, and indent with tabs.";
const LATER = "And keep the licence at the head of each file.";

/** A step of an agent that writes its calls as tags, with the result in a user message. */
function step(number: number, words?: string) {
  const path = `src/part_${number % 9}.ts`;
  const lines = Array.from({ length: 60 }, (_, at) => `const value_${number}_${at} = compute(${at});`);
  const parts = [
    `[read_file for '${path}'] Result:\n${lines.join("\n")}`,
    ...(words === undefined ? [] : [`<feedback>\n${words}\n</feedback>`]),
    ENVIRONMENT,
  ];
  return [
    {
      role: "assistant" as const,
      text: `Step ${number}.\n\n<read_file>\n<path>${path}</path>\n</read_file>`,
    },
    { role: "user" as const, parts: parts.map((text) => ({ type: "text" as const, text })) },
  ];
}

describe("an agent whose results are in the user's name", () => {
  sizedTest(
    "the user's own words stay in the window long after the tool results around them have left",
    async () => {
      const session = await (await testKernel()).session();
      await session.append({ role: "user", text: "<task>\nGo through all parts.\n</task>" });
      const window = session.window(SMALL);
      for (let number = 0; number < proofRounds(120, 60); number++) {
        await session.appendAll(step(number, number === 8 ? RULE : undefined));
        if (number === 20) {
          await session.append({ role: "assistant", text: "Shall I go on?" });
          await session.append({ role: "user", text: LATER });
        }
        const { messages } = await window.fit();
        const text = JSON.stringify(messages);
        if (number >= 8) expect([number, text.includes(RULE)]).toEqual([number, true]);
        if (number >= 20) expect([number, text.includes(LATER)]).toEqual([number, true]);
        expect(text).toContain("Go through all parts.");
        expect(text).toContain(`value_${number}_59`);
      }
      const { messages } = await window.fit();
      const results = messages.filter(({ parts }) => JSON.stringify(parts).includes("] Result:"));
      expect(results.length).toBeLessThan(20);
    },
  );
});
