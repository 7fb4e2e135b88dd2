import fc from "fast-check";
import type { Message, Role } from "../../../src/model/message.ts";
import type { Part, ToolResultPart } from "../../../src/model/part.ts";
import type { TokenEstimator } from "../../../src/window/apply-edits.ts";
import type { Policy, PolicyLimits, PolicyRun } from "../../../src/window/policy.ts";
import type { Slot } from "../../../src/window/slot.ts";

/** One token per character of text and none for calls, so that expected values can be computed by hand. */
export function charactersAsTokens(message: Message): number {
  return message.parts.reduce((sum, part) => sum + charactersOf(part), 0);
}

function charactersOf(part: Part): number {
  if (part.type === "text") return part.text.length;
  return part.type === "tool-result" ? part.output.reduce((sum, inner) => sum + charactersOf(inner), 0) : 0;
}

/** Slots with seqs starting at 1. */
export function slotsOf(
  messages: readonly Message[],
  tokensOf: TokenEstimator = charactersAsTokens,
): readonly Slot[] {
  return messages.map((message, index) => ({
    seq: index + 1,
    at: index + 1,
    message,
    tokens: tokensOf(message),
  }));
}

/** A text of `characters` characters. */
export function says(role: Role, characters: number): Message {
  return { role, parts: [{ type: "text", text: "x".repeat(characters) }] };
}

/** A call and its result of `characters` characters. */
export function reads(callId: string, path: string, characters: number): readonly [Message, Message] {
  const output = [{ type: "text", text: "y".repeat(characters) }] as const;
  return [
    { role: "assistant", parts: [{ type: "tool-call", callId, name: "read_file", input: { path } }] },
    { role: "tool", parts: [{ type: "tool-result", callId, output }] },
  ];
}

/** Observes slots and fits the window. */
export function fitAll(run: PolicyRun, slots: readonly Slot[], isHot = true): readonly Slot[] {
  for (const slot of slots) run.observe(slot);
  return run.fit({ isHot });
}

/** The windows of a session with a request after each message. */
export function windowsOf(
  policy: Policy,
  slots: readonly Slot[],
  limits: PolicyLimits,
  tokensOf: TokenEstimator,
): readonly (readonly Slot[])[] {
  const run = policy.start(limits, tokensOf);
  return slots.map((slot, index) => [...fitAll(run, [slot], index % 3 !== 0)]);
}

type Content = ToolResultPart["output"];

const image: Content[number] = { type: "blob", digest: "a".repeat(64), sizeBytes: 9_000, mime: "image/png" };
const text = fc
  .record({
    word: fc.constantFrom("alpha ", "src/a.ts\n", "读取文件", "x"),
    times: fc.integer({ min: 1, max: 600 }),
  })
  .map(({ word, times }): Content[number] => ({ type: "text", text: word.repeat(times) }));
const content: fc.Arbitrary<Content> = fc.array(
  fc.oneof({ arbitrary: text, weight: 4 }, { arbitrary: fc.constant(image), weight: 1 }),
  { minLength: 1, maxLength: 3 },
);

interface Turn {
  readonly said: Content;
  readonly results: readonly (Content | undefined)[];
  readonly isSplit: boolean;
  readonly path: string;
}

const turns: fc.Arbitrary<Turn> = fc.record({
  said: content,
  results: fc.array(fc.option(content, { nil: undefined, freq: 6 }), { maxLength: 4 }),
  isSplit: fc.boolean(),
  path: fc.constantFrom("a.ts", "b.ts"),
});

function messagesOf({ said, results, isSplit, path }: Turn, turn: number): readonly Message[] {
  const calls = results.map(
    (_, index): Part => ({
      type: "tool-call",
      callId: `${turn}-${index}`,
      name: "read_file",
      input: { path },
    }),
  );
  const answers = results.flatMap((output, index): readonly Part[] =>
    output ? [{ type: "tool-result", callId: `${turn}-${index}`, output }] : [],
  );
  const reply: Message = { role: "assistant", parts: [...said, ...calls] };
  if (answers.length === 0) return [reply];
  if (isSplit) return [reply, ...answers.map((part): Message => ({ role: "tool", parts: [part] }))];
  return [reply, { role: "tool", parts: answers }];
}

/** Histories in which roles need not alternate, calls are parallel and some are answered late or never. */
export const histories: fc.Arbitrary<readonly Message[]> = fc
  .array(
    fc.oneof(
      content.map((parts) => (): readonly Message[] => [{ role: "user", parts }]),
      turns.map((turn) => (index: number) => messagesOf(turn, index)),
      fc.constant((): readonly Message[] => [says("system", 20)]),
      content.map((parts) => (index: number): readonly Message[] => {
        const [call, result] = reads(`late-${index}`, "c.ts", 50);
        return [call, { role: "user", parts }, result];
      }),
    ),
    { minLength: 1, maxLength: 30 },
  )
  .map((steps) => steps.flatMap((step, index) => step(index)));
