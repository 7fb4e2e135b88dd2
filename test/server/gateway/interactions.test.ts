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
