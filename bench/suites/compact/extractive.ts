import type { RecordedMessage } from "../../../src/kernel/faces/window.ts";
import type { Message } from "../../../src/kernel/index.ts";
import { renderTranscript } from "../../../src/window/compact/contract/summary-prompt.ts";
import { extractSummary } from "../../../src/window/compact/extractive/extract-summary.ts";
import { isLineReference, ReferenceReader } from "../../../src/window/replay/reference-reader.ts";
import { estimateMessage, estimateText } from "../../../src/window/tokens/estimate.ts";
import type { ChildTask } from "../../child-job.ts";
import { median, percentile } from "../../measure/percentile.ts";
import { findDataFolder } from "../../real-strings.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { realConversations } from "../window/conversations.ts";

interface Question {
  readonly data: string;
  readonly every: number;
  readonly sizes: readonly number[];
}

/** Percentages of references that were kept. */
interface Kept {
  readonly identifiers: number;
  readonly lines: number;
}

interface Answer {
  /** CPU per 100,000 tokens, call by call. */
  readonly cpuMs: readonly number[];
  readonly summaries: number;
  readonly sizes: readonly {
    readonly tokens: number;
    readonly extractive: Kept;
    readonly tail: Kept;
    readonly headAndTail: Kept;
  }[];
}

/**
 * Positions at which conversations are cut: messages before the cut are summarized, and the replies
 * after it are the reference.
 */
const CUTS = [0.4, 0.6, 0.8];
const REPLIES = 10;
const MEASURED_TOKENS = 100_000;
const MIN_TOKENS = 20_000;

class Score {
  #identifiers = { used: 0, kept: 0 };
  #lines = { used: 0, kept: 0 };

  add(used: ReadonlySet<string>, offered: ReadonlySet<string>): void {
    for (const reference of used) {
      const count = isLineReference(reference) ? this.#lines : this.#identifiers;
      count.used++;
      if (offered.has(reference)) count.kept++;
    }
  }

  get kept(): Kept {
    const share = ({ used, kept }: { used: number; kept: number }) => (100 * kept) / Math.max(1, used);
    return { identifiers: share(this.#identifiers), lines: share(this.#lines) };
  }
}

/** Summarizes real conversations up to a cut and checks which references of the next replies the summaries contain. */
export const summariseAll: ChildTask<Question, Answer> = async function summariseAll({ data, every, sizes }) {
  const cpuMs: number[] = [];
  const scores = sizes.map((tokens) => ({
    tokens,
    extractive: new Score(),
    tail: new Score(),
    both: new Score(),
  }));
  let summaries = 0;
  for await (const conversation of realConversations(data, { least: 40, every })) {
    const reader = new ReferenceReader();
    for (const share of CUTS) {
      const cut = Math.floor(conversation.length * share);
      const before = conversation.slice(0, cut);
      const used = usedBehind(conversation, cut, reader);
      const transcript = renderTranscript(before, { partCharacters: Number.POSITIVE_INFINITY });
      const charactersPerToken = transcript.length / estimateText(transcript);
      for (const { tokens, extractive, tail, both } of scores) {
        const { text, tokens: taken } = extractSummary(before, { maxTokens: tokens });
        const length = Math.floor(taken * charactersPerToken);
        const half = Math.floor(length / 2);
        extractive.add(used, reader.readOffered(asMessage(text)));
        tail.add(used, reader.readOffered(asMessage(transcript.slice(-length))));
        both.add(
          used,
          reader.readOffered(asMessage(`${transcript.slice(0, half)}\n${transcript.slice(-half)}`)),
        );
        summaries++;
      }
    }
    cpuMs.push(...timesOf(conversation));
  }
  return {
    cpuMs,
    summaries,
    sizes: scores.map(({ tokens, extractive, tail, both }) => ({
      tokens,
      extractive: extractive.kept,
      tail: tail.kept,
      headAndTail: both.kept,
    })),
  };
};

function usedBehind(
  conversation: readonly RecordedMessage[],
  cut: number,
  reader: ReferenceReader,
): ReadonlySet<string> {
  const offered = new Set(
    conversation.slice(0, cut).flatMap(({ message }) => [...reader.readOffered(message)]),
  );
  const replies = conversation.slice(cut).filter(({ message }) => message.role === "assistant");
  const used = replies.slice(0, REPLIES).flatMap(({ message }) => [...reader.readUsed(message)]);
  return new Set(used.filter((reference) => offered.has(reference)));
}

/** CPU per 100,000 tokens at the beginning of a conversation; the first call warms up. */
function timesOf(conversation: readonly RecordedMessage[]): readonly number[] {
  let tokens = 0;
  const beginning = conversation.filter(({ message }) => {
    tokens += tokens < MEASURED_TOKENS ? estimateMessage(message) : 0;
    return tokens < MEASURED_TOKENS;
  });
  const taken = beginning.reduce((sum, { message }) => sum + estimateMessage(message), 0);
  if (taken < MIN_TOKENS) return [];
  const times = [0, 1, 2].map(() => {
    const started = process.cpuUsage();
    extractSummary(beginning, { maxTokens: 4_000 });
    const { user, system } = process.cpuUsage(started);
    return ((user + system) / 1_000) * (MEASURED_TOKENS / taken);
  });
  return times.slice(1);
}

function asMessage(text: string): Message {
  return { role: "user", parts: [{ type: "text", text }] };
}

/** Extractive summaries of real sessions: their cost, and their content compared with truncation to the same size. */
export const extractive: Measurement = {
  name: "extractive",
  async *run(bench) {
    const data = findDataFolder();
    if (!data) {
      bench.note("Left out extractive: no LONGHAUL_DATA and no shared/data beside the repository.");
      return;
    }
    const question = { data, every: bench.isQuick ? 8 : 1, sizes: [1_000, 2_000, 4_000, 8_000] };
    const { cpuMs, sizes } = await bench.child("summaries", import.meta.url, summariseAll, question);
    const unit = "ms of CPU for 100k tokens";
    yield toRow({ id: "extractive.cpu.median", value: median(cpuMs), unit, goal: atMost(150, "ms") });
    yield toRow({ id: "extractive.cpu.p95", value: percentile(cpuMs, 0.95), unit, goal: atMost(150, "ms") });
    for (const { tokens, extractive, tail, headAndTail } of sizes) {
      for (const [beside, other] of Object.entries({ tail, "head and tail": headAndTail })) {
        const id = `extractive.${tokens / 1_000}k.${beside.replaceAll(" ", "-")}`;
        yield toRow({
          id: `${id}.ids`,
          value: extractive.identifiers,
          unit: "% kept",
          beside,
          besideValue: other.identifiers,
        });
        yield toRow({
          id: `${id}.lines`,
          value: extractive.lines,
          unit: "% kept",
          beside,
          besideValue: other.lines,
        });
      }
    }
  },
};
