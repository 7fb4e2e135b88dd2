import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { turns } from "../../support/eventually.ts";
import { startGateway } from "../../support/gateway.ts";
import { proofCases, proofTest, sizedTest } from "../../support/proof.ts";
import { beginStream, behave, type Heard, startUpstream } from "../../support/upstream.ts";
import { output } from "./limited.ts";

const response = { id: "resp_1", object: "response", status: "in_progress", output: [] };
const error = {
  code: "context_length_exceeded",
  message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
};
const event = (type: string, data: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** Streams that begin normally and then report that the request was too long, each piece in its own write. */
const REFUSALS = {
  "openai-responses": [
    event("response.created", { response }),
    event("response.in_progress", { response }),
    event("response.failed", { response: { ...response, status: "failed", error } }),
  ],
  "openai-chat": [
    ": OPENROUTER PROCESSING\n\n",
    ": OPENROUTER PROCESSING\n\n",
    `data: ${JSON.stringify({ id: "gen-1", choices: [], error })}\n\n`,
  ],
  anthropic: [
    event("ping", {}),
    event("error", {
      error: {
        type: "invalid_request_error",
        message: "prompt is too long: 210000 tokens > 200000 maximum",
      },
    }),
  ],
} as const;

async function refuse(response: ServerResponse, pieces: readonly string[]): Promise<void> {
  beginStream(response);
  for (const piece of pieces) {
    await new Promise((resolve) => response.write(piece, resolve));
    // Turns of the event loop, so that the next piece arrives in its own packet.
    await turns();
  }
  response.end();
}

sizedTest.each(proofCases(Object.entries(REFUSALS)))(
  "an overflow over %s that is reported after the head of a stream is healed",
  async (api, pieces) => {
    const most = 100_000;
    const upstream = await startUpstream((heard: Heard, answer) => {
      if (heard.body.length > most) void refuse(answer, pieces);
      else behave(heard, answer, { type: "reply", reply: { text: "Fine." } });
    });
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, api as keyof typeof REFUSALS);
    for (let turn = 0; turn < 12; turn++) {
      agent.elements.push({ role: "user", content: output(turn, 12_000) });
      agent.elements.push({ role: "assistant", content: `Read ${turn}.` });
    }
    expect((await agent.say("Go on.")).text).toBe("Fine.");
    expect(upstream.heard.length).toBeGreaterThan(1);
  },
);

proofTest("an overflow error of old llama.cpp in a separate field is healed", async () => {
  const refusal = `error: ${JSON.stringify({ code: 400, message: "the request exceeds the available context size", type: "exceed_context_size_error", n_ctx: 32_768 })}\n\n`;
  const upstream = await startUpstream((heard: Heard, answer) => {
    if (heard.body.length > 100_000) beginStream(answer).end(refusal);
    else behave(heard, answer, { type: "reply", reply: { text: "Fine." } });
  });
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway, "openai-chat");
  for (let turn = 0; turn < 12; turn++) {
    agent.elements.push({ role: "user", content: output(turn, 12_000) });
    agent.elements.push({ role: "assistant", content: `Read ${turn}.` });
  }
  expect((await agent.say("Go on.")).text).toBe("Fine.");
});

test("a client with a short request hears at once that its reply has begun", async () => {
  const gate = Promise.withResolvers<void>();
  const upstream = await startUpstream((heard, answer) => {
    beginStream(answer).write(REFUSALS["openai-responses"][0]);
    void gate.promise.then(() => answer.end(event("response.completed", { response: heard.json })));
  });
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway, "openai-responses");
  agent.elements.push({ role: "user", content: "Hello." });
  const answer = await agent.send({ onBytes: () => gate.resolve() });
  expect(answer.isWhole).toBe(true);
});
