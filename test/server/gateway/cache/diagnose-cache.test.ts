import { describe, expect, test } from "vitest";
import type { RequestPrint } from "../../../../src/server/cache/compare-prints.ts";
import {
  type CacheTrack,
  diagnoseCache,
  EMPTY_TRACK,
  followCache,
} from "../../../../src/server/cache/diagnose-cache.ts";
import { buildRequestPrint, lookAtRequest } from "../../../../src/server/gateway/cache/request-print.ts";
import { cutBody } from "../../../../src/server/gateway/request/cut-body.ts";
import { proofCases, sizedTest } from "../../../support/proof.ts";
import { HAS_RECORDINGS } from "../recorded.ts";
import { type CacheCase, createProvider, DEVELOPED_CASES, HELD_OUT_CASES } from "./cache-cases.ts";
import { listRecordedCases } from "./recorded-cases.ts";
import type { Body } from "./simulated-provider.ts";

const OWN = { edit: "edit", page: "page", memories: "injection", tools: "injection" } as const;

/** Diagnoses the requests of a case one after another, and returns the verdict about the last one. */
function diagnose(one: CacheCase, forgets = false) {
  const provider = createProvider(one);
  const field = one.api === "openai-responses" ? "input" : "messages";
  const cut = (body: Body) => cutBody(Buffer.from(JSON.stringify(body)), field);
  let track: CacheTrack = EMPTY_TRACK;
  let last: ReturnType<typeof diagnoseCache> | undefined;
  for (const { body, own, at, key = "key-1", isEvicted } of one.requests) {
    if (isEvicted) provider.evict();
    const usage = provider.answer(own?.sent ?? body, at, key);
    const client = buildRequestPrint(one.api, cut(body), key);
    const sentCut = cut(own?.sent ?? body);
    const request = {
      at,
      model: body.model,
      usage,
      client,
      sent: own ? buildRequestPrint(one.api, sentCut, key) : client,
      look: lookAtRequest(one.api, sentCut),
      own: own && [OWN[own.act]],
    };
    last = diagnoseCache(track, request);
    const kept = forgets
      ? { ...request, client: forget(request.client), sent: forget(request.sent) }
      : request;
    track = followCache(track, kept);
  }
  return last as NonNullable<typeof last>;
}

function forget({ detail: _, ...print }: RequestPrint): RequestPrint {
  return print;
}

function listWrong(cases: readonly CacheCase[], forgets = false): readonly string[] {
  return cases.flatMap((one) => {
    const { cause, detail, state } = diagnose(one, forgets);
    return cause === one.cause ? [] : [`${one.name}: ${state} ${cause} ${detail ?? ""}`];
  });
}

describe("the diagnosis of a request", () => {
  sizedTest("names the cause that was injected into each conversation", () => {
    expect(DEVELOPED_CASES.length).toBeGreaterThanOrEqual(120);
    expect(listWrong(proofCases(DEVELOPED_CASES, 30))).toEqual([]);
  });

  sizedTest("names at least 95 % of the causes in conversations that it was not developed with", () => {
    expect(HELD_OUT_CASES.length).toBeGreaterThanOrEqual(120);
    const cases = proofCases(HELD_OUT_CASES, 30);
    const wrong = listWrong(cases);
    expect(wrong.length / cases.length, wrong.join("\n")).toBeLessThanOrEqual(0.05);
  });

  sizedTest("needs only digests of the last request, as after a restart", () => {
    const cases = proofCases(DEVELOPED_CASES, 30).filter(({ cause }) => cause !== "compacted");
    expect(listWrong(cases, true)).toEqual([]);
  });

  test("says what changed in a system prompt", () => {
    const detailOf = (name: string) => {
      const found = DEVELOPED_CASES.find((one) => one.name === name);
      return found && diagnose(found).detail;
    };
    expect(detailOf("system-changed 0 anthropic 1")).toMatch(
      /^a date or time in line \d+ of the system prompt: “.*2026-11-19/,
    );
    expect(detailOf("tools-changed 0 anthropic 1")).toBe("the order of the tools changed");
    expect(detailOf("expired 0 anthropic 1")).toBe("a pause of 6 min; the cache lives 5 min");
  });
});

describe.skipIf(!HAS_RECORDINGS)(
  "the diagnosis of requests that real clients sent (needs ../shared/recordings)",
  () => {
    sizedTest("names at least 95 % of the causes that were injected into recorded conversations", () => {
      const all = listRecordedCases();
      expect(all.length).toBeGreaterThan(40);
      const cases = proofCases(all, 40);
      // A few changes cost less than a block of the cache, which no provider reports.
      const wrong = listWrong(cases);
      expect(wrong.length / cases.length, wrong.join("\n")).toBeLessThanOrEqual(0.05);
    });
  },
);
