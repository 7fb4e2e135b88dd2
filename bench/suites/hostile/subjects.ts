import { escapeLine, escapeText } from "../../../src/cli/escape.ts";
import { excerptLines } from "../../../src/cli/transcript/excerpt.ts";
import { fitTo } from "../../../src/cli/width.ts";
import { sentencesOf } from "../../../src/compact/extractive/sentences.ts";
import { titleOf } from "../../../src/gateway/thread/title.ts";
import { analyse } from "../../../src/memory/text/analyse.ts";
import { CODE_CHUNK, chunks } from "../../../src/memory/text/chunks.ts";
import { definitionsOf } from "../../../src/memory/text/definitions.ts";
import { traitsOf } from "../../../src/memory/text/traits.ts";
import { redactSecrets } from "../../../src/model/secrets/redact-secrets.ts";
import { identifiersOf } from "../../../src/window/extract/identifiers.ts";
import { overflowOf } from "../../../src/window/limits/overflow.ts";
import { estimateText } from "../../../src/window/tokens/estimate-text.ts";

/** Functions that run on the main thread, by name. */
export const SUBJECTS: Readonly<Record<string, (text: string) => unknown>> = {
  redaction: redactSecrets,
  tokens: estimateText,
  identifiers: (text) => identifiersOf(text, true, () => {}),
  titles: (text) => titleOf([{ role: "user", text }]),
  extraction: sentencesOf,
  "recall, chunks": (text) => chunks(text),
  "recall, terms": analyse,
  // Traits are computed per chunk; code has the longest chunks.
  "recall, traits": (text) => {
    for (const { from, to } of chunks(text, CODE_CHUNK)) traitsOf(text.slice(from, to));
  },
  "recall, definitions": definitionsOf,
  "rendering, text": escapeText,
  "rendering, line": (text) => fitTo(escapeLine(text), 100),
  "rendering, excerpt": (text) => excerptLines(text, { lines: 20, columns: 100 }),
  overflow: (text) => overflowOf({ status: 400, message: text } as Parameters<typeof overflowOf>[0]),
};
