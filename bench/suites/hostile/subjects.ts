import { escapeLine, escapeText } from "../../../src/cli/escape.ts";
import { excerptLines } from "../../../src/cli/transcript/excerpt.ts";
import { fitTo } from "../../../src/cli/width.ts";
import { sentencesOf } from "../../../src/compact/extractive/sentences.ts";
import { Redactor } from "../../../src/gateway/redact/redactor.ts";
import { titleOf } from "../../../src/gateway/thread/title.ts";
import { chunksOfTurn } from "../../../src/memory/index/make-chunks.ts";
import { analyse } from "../../../src/memory/text/analyse.ts";
import { CODE_CHUNK, chunks } from "../../../src/memory/text/chunks.ts";
import { definitionsOf } from "../../../src/memory/text/definitions.ts";
import { traitsOf } from "../../../src/memory/text/traits.ts";
import { redactSecrets } from "../../../src/model/secrets/redact-secrets.ts";
import { identifiersOf } from "../../../src/window/extract/identifiers.ts";
import { overflowOf } from "../../../src/window/limits/overflow.ts";
import { estimateText } from "../../../src/window/tokens/estimate-text.ts";

const redactor = new Redactor({ isOn: () => true, onFound: () => {} });
let round = 0;

/** Operations on a text, by name. An asynchronous one may yield to other work or run in a worker thread. */
export const SUBJECTS: Readonly<Record<string, (text: string) => unknown>> = {
  // Like a request: large texts in a worker. The round number defeats the cache of texts that were searched before.
  redaction: async (text) => {
    const message = { role: "user", text: `${text} ${round++}` } as const;
    await redactor.prepare([message]);
    redactor.redact(message);
  },
  "redaction, in place": redactSecrets,
  tokens: estimateText,
  identifiers: (text) => identifiersOf(text, true, () => {}),
  titles: (text) => titleOf([{ role: "user", text }]),
  extraction: sentencesOf,
  // The work of indexing a message: chunks with their terms, traits and digests.
  "recall, indexing": (text) =>
    chunksOfTurn({ seq: 1, turn: 1, at: 0, texts: [{ part: 0, text, author: "user" }] }),
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
