import type { WindowOptions } from "../../../src/kernel/faces/window.ts";
import type { MessageInput, Session } from "../../../src/kernel/index.ts";

/** A model with a small window, so that few messages fill it. */
export const SMALL: WindowOptions = {
  model: "claude-sonnet-4-5",
  models: { "claude-*": { window: 16_000 } },
  system: 1_000,
};

/** One step of a tool-using agent: text, a call, and its result of about `lines` × 12 tokens. */
export function step(number: number, lines = 30): readonly MessageInput[] {
  const callId = `call-${number}`;
  const path = `src/part_${number % 7}.ts`;
  const output = Array.from({ length: lines }, (_, at) => `const value_${number}_${at} = compute(${at});`);
  return [
    {
      role: "assistant",
      parts: [
        { type: "text", text: `I look at ${path} for step_${number}.` },
        { type: "tool-call", callId, name: "read", input: { path } },
      ],
    },
    { role: "tool", parts: [{ type: "tool-result", callId, output: output.join("\n") }] },
  ];
}

/** Appends a request followed by `steps` steps. */
export async function work(session: Session, steps: number, from = 0): Promise<void> {
  await session.append({ role: "user", text: `Please do the work that begins with step ${from}.` });
  for (let number = from; number < from + steps; number++) await session.appendAll(step(number));
}
