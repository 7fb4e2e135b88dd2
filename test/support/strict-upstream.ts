import { overflowBody } from "../../clients/upstream/refusal.ts";
import type { Account } from "./provider-rules/bound-thinking.ts";
import type { Judgement, Refusal } from "./provider-rules/judgement.ts";
import { StrictProvider } from "./provider-rules/strict-provider.ts";
import { behave, type Heard, startUpstream, type Upstream, wireApi } from "./upstream.ts";
import type { Reply } from "./wire-server/behaviour.ts";

/** A request that a strict provider has judged. */
export interface Judged extends Judgement {
  readonly heard: Heard;
}

/** A provider that holds every request against the rules of its API. */
export interface StrictUpstream extends Upstream {
  /** Every model request with its judgement, in order; those that count tokens too. */
  readonly judged: readonly Judged[];
  /** The refusals among them. */
  readonly refusals: () => readonly Refusal[];
}

const MAX_CACHED = 8;

/** Options of a strict upstream. */
export interface StrictOptions {
  readonly account?: Account;
  /** Tokens that a request may have at that time, four bytes each; unlimited by default. */
  readonly window?: () => number;
  /** The reply to an accepted request; `index` counts these. */
  readonly reply: (heard: Heard, index: number) => Reply;
}

/** Starts a strict provider for one test. */
export async function startStrictUpstream(options: StrictOptions): Promise<StrictUpstream> {
  const { account, window = () => Number.POSITIVE_INFINITY, reply } = options;
  const provider = new StrictProvider(account);
  const judged: Judged[] = [];
  /** Bodies of the newest requests, whose prefixes are cached. */
  const cached: Buffer[] = [];
  let replies = 0;
  const upstream = await startUpstream((heard, response) => {
    const request = { path: heard.url, body: heard.json, header: heard.header };
    const judgement = provider.judge(request);
    judged.push({ ...judgement, heard });
    const tokens = Math.ceil(heard.body.length / 4);
    const isCount = /count_?tokens/i.test(heard.url);
    if (judgement.refusal) {
      const { status, body } = judgement.refusal;
      behave(heard, response, { type: "error", kind: "bad-request", status, body: JSON.stringify(body) });
    } else if (isCount) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ input_tokens: tokens, totalTokens: tokens }));
    } else if (tokens > window()) {
      const body = overflowBody(wireApi(heard.url).name, tokens, window());
      behave(heard, response, { type: "error", kind: "overflow", status: 400, body });
    } else {
      const same = Math.max(0, ...cached.map((body) => countSameBytes(body, heard.body)));
      const cacheRead = Math.floor(same / 4);
      const usage = { input: 0, cacheRead, cacheWrite: tokens - cacheRead, output: 60 };
      cached.push(heard.body);
      if (cached.length > MAX_CACHED) cached.shift();
      const said = provider.seal(request, judgement, { usage, ...reply(heard, replies++) });
      behave(heard, response, { type: "reply", reply: said });
    }
  });
  return {
    ...upstream,
    judged,
    refusals: () => judged.flatMap(({ refusal }) => refusal ?? []),
  };
}

/** Length of the common prefix of two bodies. */
export function countSameBytes(one: Buffer, other: Buffer): number {
  let [from, to] = [0, Math.min(one.length, other.length)];
  while (from < to) {
    const middle = Math.ceil((from + to) / 2);
    if (one.compare(other, 0, middle, 0, middle) === 0) from = middle;
    else to = middle - 1;
  }
  return from;
}
