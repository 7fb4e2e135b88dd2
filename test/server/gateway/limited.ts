import { expect } from "vitest";
import { findViolations } from "../../../src/server/gateway/outgoing/check-rules.ts";
import type { WireName, WireObject } from "../../../src/wire/wire.ts";
import { getWire } from "../../../src/wire/wires.ts";
import { bindsThinking, isThinking } from "../../support/provider-rules/bound-thinking.ts";
import { type Fields, fieldsIn } from "../../support/provider-rules/judgement.ts";
import { isReasoningRule, StrictProvider } from "../../support/provider-rules/strict-provider.ts";
import { countSameBytes } from "../../support/strict-upstream.ts";
import { behave, type Heard, startUpstream, type Upstream } from "../../support/upstream.ts";
import { anthropic } from "../../support/wire-server/anthropic.ts";
import type { Reply } from "../../support/wire-server/behaviour.ts";

/** The APIs with tools of the gateway. */
type OlderWireName = Exclude<WireName, "google">;

/** A provider that enforces a window. */
export interface LimitedUpstream extends Upstream {
  /** Tokens of each accepted request, and how many of them were cached from the previous one. */
  readonly counts: readonly number[];
  readonly cached: readonly number[];
  /** Number of requests that were too long. */
  readonly refused: () => number;
}

/** Options of a limited provider. */
export interface LimitedOptions {
  readonly api: OlderWireName;
  /** Maximum tokens of a request. */
  readonly window: number;
  /** Tokens of a body; `index` is that of the reply. */
  readonly count: (body: Buffer, index: number) => number;
  /** The reply to an accepted request, by index. */
  readonly reply: (index: number) => Reply;
  /** True if requests are concurrent, so that the last reply does not belong to the next request. */
  readonly isAtOnce?: boolean;
}

/**
 * Starts a provider that refuses requests that are too long, in the format of its API, or that break one of its rules,
 * those of reasoning included.
 */
export async function startLimitedUpstream(options: LimitedOptions): Promise<LimitedUpstream> {
  const { api, window, count, reply, isAtOnce = false } = options;
  const counts: number[] = [];
  let refused = 0;
  const cached: number[] = [];
  let before: Buffer = Buffer.alloc(0);
  let last: Reply = {};
  const provider = new StrictProvider();
  const upstream = await startUpstream((heard, response) => {
    checkRules(api, heard, last);
    const request = { path: heard.url, body: heard.json, header: heard.header };
    const judgement = provider.judge(request);
    expect(isReasoningRule(judgement.refusal) ? judgement.refusal : undefined).toBeUndefined();
    const tokens = count(heard.body, counts.length);
    if (tokens > window) {
      refused++;
      const body = JSON.stringify(OVERFLOWS[api](tokens, window));
      return behave(heard, response, { type: "error", kind: "overflow", status: 400, body });
    }
    const said = provider.seal(request, judgement, reply(counts.push(tokens) - 1));
    if (!isAtOnce) last = said;
    const known = Math.floor((tokens * countSameBytes(before, heard.body)) / heard.body.length);
    before = heard.body;
    cached.push(known);
    const usage = { input: 0, cacheRead: known, cacheWrite: tokens - known, output: 50 };
    behave(heard, response, { type: "reply", reply: { usage, ...said } });
  });
  return { ...upstream, counts, cached, refused: () => refused };
}

const OVERFLOWS: Readonly<Record<OlderWireName, (tokens: number, window: number) => object>> = {
  anthropic: (tokens, window) => ({
    type: "error",
    error: {
      type: "invalid_request_error",
      message: `prompt is too long: ${tokens} tokens > ${window} maximum`,
    },
  }),
  "openai-chat": (tokens, window) => ({
    error: {
      message: `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    },
  }),
  "openai-responses": () => ({
    error: {
      message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
      type: "invalid_request_error",
      param: "input",
      code: "context_length_exceeded",
    },
  }),
};

/** Checks the rules of every provider, and that the model's last message is unchanged. */
function checkRules(api: OlderWireName, heard: Heard, last: Reply): void {
  const elements = heard.json[getWire(api).messagesField] as readonly WireObject[];
  expect(findViolations(api, elements)).toEqual([]);
  expect(heard.body.toString().match(/"cache_control":/g)?.length ?? 0).toBeLessThanOrEqual(4);
  const latest = elements.findLast(({ role }) => role === "assistant");
  if (!latest || Object.keys(last).length === 0) return;
  if (api === "anthropic") {
    const { content } = anthropic.body(last, { path: "", body: {} }) as WireObject;
    const isMark = (key: string) => key === "cache_control";
    // Bound thinking leaves if something before it has changed; the provider's own rules check what stays.
    const isChecked = (block: Fields) => !bindsThinking(String(heard.json.model)) || !isThinking(block);
    const said = fieldsIn(content).filter(isChecked);
    // Earlier text may precede it if the messages in between have left.
    const sent = fieldsIn(latest.content).filter(isChecked).slice(-said.length);
    expect(JSON.stringify(sent, (key, value) => (isMark(key) ? undefined : value))).toBe(
      JSON.stringify(said),
    );
  } else expect(JSON.stringify(latest)).toContain(JSON.stringify(last.text).slice(1, -1));
}

/** Text that resembles program output, never the same twice. */
export function output(turn: number, characters: number): string {
  let state = turn * 7_919 + 17;
  const lines: string[] = [];
  for (let length = 0; length < characters; ) {
    state = (state * 48_271) % 2_147_483_647;
    const line = `src/part${state % 97}/file${state % 1_009}.ts:${state % 400}: value_${state.toString(36)} = compute(${turn});`;
    lines.push(line);
    length += line.length + 1;
  }
  return lines.join("\n");
}
