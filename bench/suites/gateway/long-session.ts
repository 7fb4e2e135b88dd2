import type { Bench } from "../../bench.ts";
import type { ChildPlace } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { percentile } from "../../measure/percentile.ts";
import { Random } from "../../random.ts";
import { atMost, atMostOfBeside, type Row, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { openClient } from "./client.ts";
import { openContestant } from "./contestant.ts";
import { Conversation, withoutMarkers } from "./conversation.ts";
import { PromptCache } from "./prompt-cache.ts";
import { BYTES_PER_TOKEN, overflow, streamed, turnOf } from "./reply.ts";
import { openUpstream } from "./upstream.ts";
import { windowChart } from "./window-chart.ts";

interface Load {
  readonly turns: number;
  /** Maximum tokens of the upstream. */
  readonly limit: number;
  /** False if the gateway assumes a window of 200,000 tokens until the upstream refuses more. */
  readonly isTold: boolean;
}

interface Lived {
  /** Turns without a reply because the upstream refused the prompt. */
  readonly overflows: number;
  /** Refusals of the upstream; the client sees only those counted in `overflows`. */
  readonly refusals: number;
  /** Tokens of the answered prompts, as counted by the upstream. */
  readonly window: readonly number[];
  /** Cost of all prompts in tokens at the input price: through the gateway, whole, and truncated to fit. */
  readonly paid: number;
  readonly paidWhole: number;
  readonly paidCut: number;
  readonly cpuMs: number;
}

const MAX_OUTPUT = 4_000;

/** One session of an agent that calls a tool in every turn, on an upstream that refuses prompts over its limit. */
export async function liveLong({ turns, limit, isTold }: Load, place: ChildPlace): Promise<Lived> {
  const caches = { ours: cache(), whole: cache(), cut: cache() };
  const window: number[] = [];
  let refusals = 0;
  const upstream = await openUpstream(({ headers, body }) => {
    const prompt = promptOf(body());
    const tokens = caches.ours.countTokens(prompt);
    if (tokens + MAX_OUTPUT > limit) {
      refusals++;
      return overflow(tokens + MAX_OUTPUT, limit);
    }
    const { readTokens, writtenTokens } = caches.ours.take(prompt);
    window.push(tokens);
    const usage = {
      input_tokens: 0,
      cache_read_input_tokens: readTokens,
      cache_creation_input_tokens: writtenTokens,
    };
    return streamed(turnOf(String(headers["x-bench-turn"])), usage);
  });
  const gateway = await openContestant({
    type: "gateway",
    upstream: upstream.url,
    folder: place.folder,
    config: { models: { bench: { window: 200_000 } } },
    ...(isTold && { window: limit }),
  });
  const client = openClient(1);
  const random = new Random(7);
  const conversation = new Conversation(openCorpus(place.corpusFolder), {
    seed: 7,
    systemBytes: 8_000,
    tools: 12,
    task: "Go through the whole project, file by file, and mend what is broken.",
  });
  let overflows = 0;
  for (let turn = 0; turn < turns; turn++) {
    const body = conversation.body();
    caches.whole.take(promptOf(body));
    caches.cut.take(promptOf(cutBody(conversation, limit - MAX_OUTPUT)));
    const name = `now${turn}`;
    const headers = { "x-bench-turn": name, "x-claude-code-session-id": "bench" };
    const { status, text } = await client.ask(gateway.url, body, headers);
    if (status === 400) overflows++;
    else if (status !== 200) throw new Error(`turn ${turn}: status ${status}: ${text().slice(0, 300)}`);
    // Most results are short, some are long: two kilobytes on average.
    conversation.answered(turnOf(name), Math.ceil(400 + 6_400 * random.next() ** 3));
  }
  const { cpuMs } = await gateway.used();
  client.close();
  await gateway.close();
  upstream.close();
  return {
    overflows,
    refusals,
    window,
    paid: caches.ours.paidTokens,
    paidWhole: caches.whole.paidTokens,
    paidCut: caches.cut.paidTokens,
    cpuMs,
  };
}

function cache(): PromptCache {
  return new PromptCache(BYTES_PER_TOKEN);
}

function promptOf(body: Buffer): Buffer {
  return Buffer.from(withoutMarkers(body.toString("utf8")));
}

/** Plain truncation: the first message, and as many of the newest ones as fit. */
function cutBody(conversation: Conversation, tokens: number): Buffer {
  const { elements } = conversation;
  const [first = ""] = elements;
  const headBytes = conversation.body([first]).length;
  let room = tokens * BYTES_PER_TOKEN - headBytes;
  let from = elements.length;
  // A call and its result stay together.
  while (from > 2) {
    const pair = Buffer.byteLength(elements[from - 1] ?? "") + Buffer.byteLength(elements[from - 2] ?? "");
    if (pair > room) break;
    room -= pair;
    from -= 2;
  }
  return conversation.body([first, ...elements.slice(Math.max(1, from))]);
}

function* rowsOf(id: string, { turns }: Load, lived: Lived): Generator<Row> {
  const unit = `of ${turns} turns`;
  const millions = (tokens: number) => tokens / 1e6;
  yield toRow({ id: `${id}.overflows`, value: lived.overflows, unit, goal: atMost(0, "") });
  yield toRow({ id: `${id}.healed`, value: lived.refusals - lived.overflows, unit: "refusals healed" });
  const paid = { value: millions(lived.paid), unit: "M input tokens" };
  yield toRow({
    id: `${id}.cost`,
    ...paid,
    beside: "everything sent, unlimited window",
    besideValue: millions(lived.paidWhole),
    goal: atMostOfBeside(1),
  });
  yield toRow({
    id: `${id}.cost.cut`,
    ...paid,
    beside: "plain truncation to the same window",
    besideValue: millions(lived.paidCut),
    goal: atMostOfBeside(1),
  });
  yield toRow({ id: `${id}.window.p50`, value: percentile(lived.window, 0.5), unit: "tokens" });
  yield toRow({ id: `${id}.window.max`, value: percentile(lived.window, 1), unit: "tokens" });
  yield toRow({ id: `${id}.cpu`, value: lived.cpuMs / turns, unit: "ms a turn" });
}

/** A session of 2,000 turns on a window of 64,000 tokens: overflows, cost, and size of the window over time. */
export const longSession: Measurement = {
  name: "long session",
  async *run(bench: Bench) {
    const turns = bench.isQuick ? 200 : 2_000;
    const limit = 64_000;
    const told = { turns, limit, isTold: true };
    const lived = await bench.child(`${turns} turns`, import.meta.url, liveLong, told);
    yield* rowsOf("long", told, lived);
    for (const line of windowChart(lived.window, limit, 50)) bench.note(line);
    const untold = { turns: 200, limit, isTold: false };
    yield* rowsOf("long.untold", untold, await bench.child("untold", import.meta.url, liveLong, untold));
  },
};
