import { expect, test } from "vitest";
import { ask, logOf, startGateway, threadsOf } from "../../support/gateway.ts";
import { startUpstream } from "../../support/upstream.ts";

const PATH = "/v1beta/interactions";

function event(event_type: string, fields: object): string {
  return `event: ${event_type}\ndata: ${JSON.stringify({ event_type, ...fields })}\n\n`;
}

test("an interaction is forwarded unchanged, and its continuation stays in the same conversation", async () => {
  const upstream = await startUpstream((heard, response, index) => {
    const usage = { total_input_tokens: 12, total_output_tokens: 3, total_cached_tokens: 2 };
    const interaction = { id: `int_${index}`, model: "gemini-3-pro", status: "completed", usage };
    const call = { type: "function_call", id: "f1", name: "read_file", arguments: { path: "a.ts" } };
    const outputs = [{ type: "thought", signature: "c2ln" }, { type: "text", text: `Reply ${index}.` }, call];
    if (!heard.json.stream) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ...interaction, outputs }));
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    response.write(
      event("interaction.start", { interaction: { id: interaction.id, status: "in_progress" } }),
    );
    response.write(event("content.start", { index: 0, content: { type: "text" } }));
    for (const text of ["Streamed ", "reply."])
      response.write(event("content.delta", { index: 0, delta: { type: "text", text } }));
    response.write(event("content.stop", { index: 0 }));
    response.end(`${event("interaction.complete", { interaction })}event: done\ndata: [DONE]\n\n`);
  });
  const gateway = await startGateway({ upstream: upstream.url });
  await gateway.kernel.memories().remember("The user prefers short answers.", { by: "user" });
  const bodies = [
    { model: "gemini-3-pro", input: "Read a.ts.", system_instruction: "Be brief." },
    {
      model: "gemini-3-pro",
      previous_interaction_id: "int_0",
      input: [{ type: "function_result", call_id: "f1", name: "read_file", result: "let a;" }],
    },
    {
      model: "gemini-3-pro",
      previous_interaction_id: "int_1",
      input: [{ type: "text", text: "Thanks." }],
      stream: true,
    },
  ];
  for (const body of bodies) expect((await ask(gateway, { path: PATH, body })).status).toBe(200);
  expect(upstream.heard.map(({ url, json }) => ({ url, json }))).toEqual(
    bodies.map((json) => ({ url: PATH, json })),
  );
  const threads = await threadsOf(gateway);
  expect(threads).toHaveLength(1);
  const log = await logOf(await gateway.kernel.session(threads[0]?.id));
  expect(log.map(({ message }) => message.role)).toEqual([
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
    "assistant",
  ]);
  expect(log[1]?.message.parts).toMatchObject([
    { type: "reasoning" },
    { type: "text", text: "Reply 0." },
    { type: "tool-call", callId: "f1", name: "read_file" },
  ]);
  expect(JSON.stringify(log[1]?.message)).toContain("c2ln");
  expect(log.at(-1)?.message.parts).toEqual([{ type: "text", text: "Streamed reply." }]);
});

test("an interaction that is streamed in steps is stored whole: thoughts, signature, text and arguments", async () => {
  const upstream = await startUpstream((_, response) => {
    response.setHeader("content-type", "text/event-stream");
    response.write(event("interaction.created", { interaction: { id: "int_1", status: "in_progress" } }));
    const steps = [
      [
        { type: "thought", signature: "" },
        [
          { type: "thought_summary", content: { type: "text", text: "I " } },
          { type: "thought_summary", content: { type: "text", text: "see." } },
          { type: "thought_signature", signature: "c2ln" },
        ],
      ],
      [
        { type: "model_output", content: [{ type: "text", text: "Read" }] },
        [
          { type: "text", text: "ing " },
          { type: "text", text: "it." },
          { type: "text_annotation", annotations: [] },
        ],
      ],
      [
        { type: "function_call", id: "f1", name: "read_file", arguments: {} },
        [
          { type: "arguments_delta", arguments: '{"path":' },
          { type: "arguments_delta", arguments: '"a.ts"}' },
        ],
      ],
      [{ type: "model_output" }, [{ type: "text", text: "Soon." }]],
    ] as const;
    for (const [index, [step, deltas]] of steps.entries()) {
      response.write(event("step.start", { index, step }));
      for (const delta of deltas) response.write(event("step.delta", { index, delta }));
      response.write(event("step.stop", { index }));
    }
    const interaction = {
      id: "int_1",
      model: "gemini-3-pro",
      status: "requires_action",
      usage: { total_input_tokens: 12 },
    };
    response.end(event("interaction.completed", { interaction }));
  });
  const gateway = await startGateway({ upstream: upstream.url });
  const body = { model: "gemini-3-pro", input: "Read a.ts.", stream: true };
  expect((await ask(gateway, { path: PATH, body })).status).toBe(200);
  const [main] = await threadsOf(gateway);
  const [, reply] = await logOf(await gateway.kernel.session(main?.id));
  expect(reply?.message.parts).toEqual([
    { type: "reasoning", text: "I see.", opaque: { google: "c2ln" } },
    { type: "text", text: "Reading it." },
    { type: "tool-call", callId: "f1", name: "read_file", input: { path: "a.ts" } },
    { type: "text", text: "Soon." },
  ]);
});
