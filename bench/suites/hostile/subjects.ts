import { escapeLine, escapeText } from "../../../src/cli/terminal/escape.ts";
import { fitText } from "../../../src/cli/terminal/width.ts";
import { renderExcerpt } from "../../../src/cli/transcript/transcript-formatter.ts";
import { redactSecrets } from "../../../src/model/secrets/redact-secrets.ts";
import { listDefinitions } from "../../../src/recall/files/index-files.ts";
import { buildTurnChunks } from "../../../src/recall/index/turn-chunks.ts";
import { analyzeText } from "../../../src/recall/text/analyze-text.ts";
import { CODE_CHUNK, splitText } from "../../../src/recall/text/split-text.ts";
import { detectTraits } from "../../../src/recall/text/traits.ts";
import { buildTitle } from "../../../src/server/gateway/lookup/new-thread.ts";
import { Redactor } from "../../../src/server/gateway/thread/redactor.ts";
import {
  splitOuterSentences,
  splitSentences,
} from "../../../src/window/compact/extractive/split-sentences.ts";
import { scanIdentifiers } from "../../../src/window/extract/scan-identifiers.ts";
import { detectOverflow } from "../../../src/window/limits/overflow.ts";
import { estimateText } from "../../../src/window/tokens/estimate-text.ts";

const redactor = new Redactor(() => {});
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
  identifiers: (text) => scanIdentifiers(text, true, () => {}),
  titles: (text) => buildTitle([{ role: "user", text }]),
  extraction: splitOuterSentences,
  "extraction, all sentences": splitSentences,
  // The work of indexing a message: chunks with their terms, traits and digests.
  "recall, indexing": (text) =>
    buildTurnChunks({ seq: 1, turn: 1, at: 0, texts: [{ part: 0, text, author: "user" }] }),
  "recall, chunks": (text) => splitText(text),
  "recall, terms": analyzeText,
  // Traits are computed per chunk; code has the longest chunks.
  "recall, traits": (text) => {
    for (const { from, to } of splitText(text, CODE_CHUNK)) detectTraits(text.slice(from, to));
  },
  "recall, definitions": listDefinitions,
  "rendering, text": escapeText,
  "rendering, line": (text) => fitText(escapeLine(text), 100),
  "rendering, excerpt": (text) => renderExcerpt(text, { lines: 20, columns: 100 }),
  overflow: (text) => detectOverflow({ status: 400, message: text } as Parameters<typeof detectOverflow>[0]),
};
