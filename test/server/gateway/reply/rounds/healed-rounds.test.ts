import { describe, expect } from "vitest";
import type { WireName, WireObject } from "../../../../../src/wire/wire.ts";
import { lineOf, startGateway, threadsOf } from "../../../../support/gateway.ts";
import { proofCases, proofTest, sizedTest } from "../../../../support/proof.ts";
import { behave, startUpstream } from "../../../../support/upstream.ts";
import type { Behaviour, Reply } from "../../../../support/wire-server/behaviour.ts";
import { output } from "../../limited.ts";
import { askRaw, elementsOf, RECALLS, recalls, talk, toolSays, userSays, WAYS } from "../../recall/talk.ts";

const OVERFLOW: Behaviour = { type: "error", kind: "overflow" };
const FACT = "The staging server listens on port 7781.";

/** A conversation with `turns` calls and a question at its end. */
function worked(api: Exclude<WireName, "google">, turns: number): readonly WireObject[] {
  const calls = Array.from({ length: turns }, (_, turn) => [
    callOf(api, `r${turn}`, turn),
    toolSays(api, `r${turn}`, output(turn, 3_000)),
  ]);
  return [userSays("Read everything."), ...calls.flat(), said(api, "Read."), userSays("Find the port.")];
}

function callOf(api: Exclude<WireName, "google">, id: string, turn: number): WireObject {
  const input = { path: `src/${turn}.ts` };
  if (api === "anthropic")
    return { role: "assistant", content: [{ type: "tool_use", id, name: "read", input }] };
  const call = { name: "read", arguments: JSON.stringify(input) };
  if (api === "openai-responses") return { type: "function_call", call_id: id, ...call };
  return { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: call }] };
}

function said(api: Exclude<WireName, "google">, text: string): WireObject {
  if (api !== "openai-responses") return { role: "assistant", content: text };
  return { type: "message", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] };
}

/** Replies according to the request. */
function answering(answer: (body: string, index: number) => Reply | Behaviour) {
  return startUpstream((heard, response, index) => {
    const one = answer(heard.body.toString(), index);
    behave(heard, response, "type" in one ? one : { type: "reply", reply: one });
  });
}

describe.each(proofCases(WAYS))("a later round of %s, streamed: %s, that is too long", (api, isStreamed) => {
  sizedTest("a later round that is too long is repeated with all recalls and a smaller window", async () => {
    const upstream = await answering((_, index) => {
      if (index === 0) return { text: "Noted." };
      if (index === 1) return recalls("staging server port", "Let me look.");
      return index === 2 ? OVERFLOW : { text: "It is 7781." };
    });
    const gateway = await startGateway({ upstream: upstream.url, config: RECALLS });
    const talker = { gateway, api, isStreamed };
    await talk(talker, [userSays(FACT)]);
    const history = worked(api, 40);
    const seen = await talk(talker, history);
    expect(seen.texts.join(" ")).toMatch(/^Let me look\.\s+It is 7781\.$/);
    const [, first, refused, healed] = upstream.heard;
    expect(refused?.body.length).toBeGreaterThan(first?.body.length ?? 0);
    expect(healed?.body.length).toBeLessThan(0.95 * (refused?.body.length ?? 0));
    const inner = refused && elementsOf(refused).slice(history.length);
    expect(inner?.length).toBeGreaterThan(1);
    expect(healed && elementsOf(healed).slice(-(inner?.length ?? 0))).toEqual(inner);
    await expect.poll(() => gateway.logged.map(({ healed }) => healed)).toContain(1);

    const then = [...history, ...seen.elements, userSays("Thanks.")];
    await talk(talker, then);
    expect(await threadsOf(gateway, "main")).toHaveLength(2);
    expect(upstream.heard).toHaveLength(5);
  });

  proofTest("a later round that stays too long ends with the words so far", async () => {
    const upstream = await answering((body) =>
      body.includes("longhaul_recall") && !body.includes("call_1")
        ? recalls("port", "Let me look.")
        : OVERFLOW,
    );
    const gateway = await startGateway({ upstream: upstream.url, config: RECALLS });
    const seen = await talk({ gateway, api, isStreamed }, worked(api, 30));
    expect(seen.texts).toEqual(["Let me look."]);
    expect(["end_turn", "stop", "completed"]).toContain(seen.stop);
    expect(upstream.heard.length).toBeLessThanOrEqual(5);
  });

  proofTest("a later round that stays too long is asked without recalls if nothing was said", async () => {
    const upstream = await answering((body) => {
      if (!body.includes("longhaul_recall")) return { text: "Without memory I do not know." };
      return body.includes("call_1") ? OVERFLOW : recalls("port");
    });
    const gateway = await startGateway({ upstream: upstream.url, config: RECALLS });
    const seen = await talk({ gateway, api, isStreamed }, worked(api, 30));
    expect(seen.texts).toEqual(["Without memory I do not know."]);
    expect(upstream.heard.at(-1)?.json.tools).toHaveLength(1);
    const [main] = await threadsOf(gateway, "main");
    const session = await gateway.kernel.session(main?.id);
    // A client may have its reply before it is logged.
    await expect
      .poll(async () => JSON.stringify((await lineOf(session)).at(-1)?.message ?? ""))
      .toContain("Without memory");
  });

  sizedTest("with edits off, a later round that is too long is asked without recall tools", async () => {
    const upstream = await answering((body) => {
      if (!body.includes("longhaul_recall")) return { text: "Plain." };
      return body.includes("call_1") ? OVERFLOW : recalls("port");
    });
    const config = { ...RECALLS, policy: "none" };
    const gateway = await startGateway({ upstream: upstream.url, config });
    const history = worked(api, 5);
    const seen = await talk({ gateway, api, isStreamed }, history);
    expect(seen.texts).toEqual(["Plain."]);
    expect(upstream.heard).toHaveLength(3);
    expect(elementsOf(upstream.heard[2] as never)).toEqual(history);
  });

  proofTest("a later round that the provider rejects is asked without recall tools", async () => {
    const upstream = await answering((body) => {
      if (!body.includes("longhaul_recall")) return { text: "Plain." };
      return body.includes("call_1") ? { type: "error", kind: "bad-request" } : recalls("port");
    });
    const gateway = await startGateway({ upstream: upstream.url, config: RECALLS });
    expect((await talk({ gateway, api, isStreamed }, [userSays("Find it.")])).texts).toEqual(["Plain."]);
    const failing = await answering((body) =>
      body.includes("call_1") || !body.includes("longhaul_recall")
        ? { type: "error", kind: "bad-request" }
        : recalls("port"),
    );
    const other = await startGateway({ upstream: failing.url, config: RECALLS });
    const answer = await askRaw({ gateway: other, api, isStreamed }, [userSays("Find it.")]);
    expect(answer.status).toBe(isStreamed ? 200 : 400);
    expect(answer.text).toContain("error");
    expect(failing.heard).toHaveLength(3);
  });
});
