import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { aiSdkFormat } from "../../../src/histories/ai-sdk/ai-sdk-format.ts";
import {
  anthropicFormat,
  openaiChatFormat,
  openaiResponsesFormat,
} from "../../../src/histories/api-formats.ts";
import type { ImportSource } from "../../../src/histories/port/format.ts";
import { Input } from "../../../src/histories/reading/input.ts";
import { sweAgentFormat } from "../../../src/histories/swe-agent/swe-agent-format.ts";
import { testFolder } from "../../support/folder.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

/** Values that resemble messages, requests and their parts, with arbitrary content in the relevant fields. */
const field = fc.constantFrom(
  ..."type role content parts id tool_calls tool_call_id function name arguments input output call_id summary".split(
    " ",
  ),
  ..."system messages choices message usage text toolCallId toolName state source data image_url url __proto__".split(
    " ",
  ),
  ..."history trajectory action thought response observation query is_demo thinking_blocks info model_stats".split(
    " ",
  ),
);
const word = fc.constantFrom(
  ..."user assistant tool system text tool_use tool_result thinking image function_call reasoning message".split(
    " ",
  ),
  ..."tool-call tool-result file step-start tool-run output-available image_generation_call [tool-error]".split(
    " ",
  ),
  "",
  "{",
  "[media 1 of a is in the next user message]",
  "[media 1 of a]",
);
const { value: anything } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    word,
    fc.constantFrom(null, true, 0, -1.5),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(field, tie("value")), { maxLength: 6 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

describe("any content of a file", () => {
  sizedTest.each([anthropicFormat, openaiChatFormat, openaiResponsesFormat, aiSdkFormat, sweAgentFormat])(
    "$name reads any content of a file without an error",
    async (format) => {
      const folder = testFolder();
      const files = fc.array(anything, { minLength: 1, maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(files, fc.boolean(), async (values, isLines) => {
          const path = join(folder, isLines ? "x.jsonl" : "x.json");
          const body = values.length === 1 ? values[0] : values;
          writeFileSync(
            path,
            isLines ? values.map((value) => JSON.stringify(value)).join("\n") : JSON.stringify(body),
          );
          const source: ImportSource = {
            format: format.name,
            id: "x",
            path,
            paths: [path],
            sizeBytes: 1,
            modifiedAt: 1,
          };
          for await (const item of format.read(source, new Input({ root: folder, paths: [path] }))) {
            if (item.type === "record") expect(typeof item.id).toBe("string");
          }
        }),
        { numRuns: proofRounds(100) },
      );
      expect(({} as Record<string, unknown>).type).toBeUndefined();
    },
  );
});
