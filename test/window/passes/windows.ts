import fc from "fast-check";
import type { Message, Role } from "../../../src/model/message.ts";
import type { BlobPart, Part } from "../../../src/model/part.ts";
import type { PassContext } from "../../../src/window/pass.ts";
import type { Slot } from "../../../src/window/slot.ts";

/** An additive size of parts, so that the tokens freed by edits add up too. */
export const tokensOf = (message: Message): number =>
  message.parts.reduce((total, part) => total + lengthOf(part), 0);

/** The context of passes in tests. */
export const context: PassContext = { session: "s", tokensOf };

function lengthOf(part: Part): number {
  if (part.type === "tool-result") return part.output.reduce((total, inner) => total + lengthOf(inner), 10);
  if (part.type === "blob") return part.of === undefined ? 1_500 : part.sizeBytes;
  return JSON.stringify(part).length;
}

/** A window of messages in order, with seqs starting at 1. */
export function windowOf(...messages: readonly Message[]): readonly Slot[] {
  return messages.map((message, index) => ({
    seq: index + 1,
    at: index,
    message,
    tokens: tokensOf(message),
  }));
}

export const say = (role: Role, text: string): Message => ({ role, parts: [{ type: "text", text }] });

export const call = (callId: string, name: string, input: object): Message => ({
  role: "assistant",
  parts: [{ type: "tool-call", callId, name, input: input as never }],
});

export const result = (callId: string, ...output: readonly (string | BlobPart)[]): Message => ({
  role: "tool",
  parts: [
    {
      type: "tool-result",
      callId,
      output: output.map((content) =>
        typeof content === "string" ? { type: "text", text: content } : content,
      ),
    },
  ],
});

export const image = (sizeBytes: number): BlobPart => ({
  type: "blob",
  digest: "0".repeat(64),
  sizeBytes,
  mime: "image/png",
});

/** The texts of a message, including those inside results. */
export function textsOf(slot: Slot | undefined): string {
  return (slot?.message.parts ?? [])
    .flatMap((part): readonly Part[] => (part.type === "tool-result" ? part.output : [part]))
    .map((part) => (part.type === "text" ? part.text : `<${part.type}>`))
    .join("\n");
}

const path = fc.constantFrom("a.ts", "./a.ts", "b.ts");
const long = fc
  .tuple(fc.constantFrom("let value_1 = 1;\n", "error: no\n", "words "), fc.integer({ min: 0, max: 60 }))
  .map(([line, count]) => line.repeat(count));
const tool = fc.oneof(
  fc.record({ name: fc.constant("Read"), input: fc.record({ file_path: path }) }),
  fc.record({
    name: fc.constant("Read"),
    input: fc.record({
      file_path: path,
      offset: fc.integer({ min: 1, max: 9 }),
      limit: fc.integer({ min: 1, max: 9 }),
    }),
  }),
  fc.record({ name: fc.constant("read_file"), input: fc.record({ files: fc.array(fc.record({ path })) }) }),
  fc.record({ name: fc.constant("Write"), input: fc.record({ file_path: path, content: long }) }),
  fc.record({
    name: fc.constant("bash"),
    input: fc.record({ command: fc.constantFrom("npm test", "cat a.ts", "sed -n '1,5p' b.ts") }),
  }),
);
const shown = fc
  .tuple(path, long)
  .map(
    ([name, text]) =>
      `Look: <file_content path="${name}">${text}</file_content> and <final_file_content path="b.ts">${text}</final_file_content>`,
  );
const output = fc.array(
  fc.oneof(
    long.map((text) => ({ type: "text" as const, text })),
    shown.map((text) => ({ type: "text" as const, text })),
    fc.integer({ min: 1, max: 100 }).map((size) => image(size)),
  ),
  { maxLength: 3 },
);

/**
 * One step of a random history: a message, or calls whose results come in the same or in further messages, or never.
 */
const step = fc.oneof(
  fc.record({
    type: fc.constant("say" as const),
    role: fc.constantFrom<Role>("user", "assistant", "system", "user"),
    text: fc.oneof(long, shown),
    image: fc.boolean(),
    isNote: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
  }),
  fc.record({
    type: fc.constant("call" as const),
    tools: fc.array(fc.record({ tool, output, answers: fc.constantFrom(0, 1, 1, 1, 1, 2) }), {
      minLength: 1,
      maxLength: 3,
    }),
    thinks: fc.boolean(),
    between: fc.boolean(),
    isTogether: fc.boolean(),
    isError: fc.boolean(),
  }),
);

/** Random windows: roles do not alternate, calls are parallel, results late, duplicated or missing, ids may repeat. */
export const windows = fc
  .record({
    steps: fc.array(step, { maxLength: 14 }),
    lost: fc.array(fc.nat(40), { maxLength: 2 }),
    reusesIds: fc.boolean(),
    moved: fc.boolean(),
    pin: fc.nat(30),
  })
  .map(({ steps, lost, reusesIds, moved, pin }) => {
    let calls = 0;
    const messages = steps.flatMap((step): readonly (Message & { isNote?: boolean })[] => {
      if (step.type === "say") {
        const parts: Part[] = [{ type: "text", text: step.text }, ...(step.image ? [image(50)] : [])];
        return [{ role: step.role, parts, ...(step.isNote && { isNote: true }) }];
      }
      const made = step.tools.map((made) => ({
        ...made,
        callId: `call-${reusesIds ? calls++ % 2 : calls++}`,
      }));
      const thought: Part[] = step.thinks
        ? [{ type: "reasoning", text: "hm", opaque: { signature: "x" } }]
        : [];
      const results = made.flatMap(({ callId, output, answers }) =>
        Array.from(
          { length: answers },
          (): Part => ({
            type: "tool-result",
            callId,
            output,
            ...(step.isError && { isError: true }),
          }),
        ),
      );
      return [
        {
          role: "assistant",
          parts: [
            ...thought,
            ...made.map(
              ({ callId, tool }): Part => ({ type: "tool-call", callId, name: tool.name, input: tool.input }),
            ),
          ],
        },
        ...(step.between ? [say("user", "meanwhile")] : []),
        ...(step.isTogether
          ? [{ role: "user" as const, parts: results }]
          : results.map((part) => ({ role: "tool" as const, parts: [part] }))),
      ];
    });
    const kept = messages.filter((_, index) => !lost.includes(index));
    const slots = kept.map(({ isNote, ...message }, index): Slot => {
      // A replaced message stays in its old position with a later seq.
      const seq = moved && index === 3 ? 1_000 : index * 2 + 1;
      return { seq, at: index, message, tokens: tokensOf(message), ...(isNote && { isNote }) };
    });
    return { slots, reusesIds, pins: new Set([pin]) };
  });
