import type { Message, Role } from "../../../src/model/message.ts";
import type { BlobPart, Part, TextPart, ToolResultPart } from "../../../src/model/part.ts";
import type { Random } from "../../support/random.ts";

const WORDS = [
  "alpha ",
  "src/app.ts\n",
  "读取文件。",
  "error: no\n",
  "let value_1 = 1;\n",
  "x",
  "\ud83d",
  "👍 ",
];
const PATHS = ["a.ts", "./a.ts", "b.ts", "/repo/c.ts"];
const COMMANDS = ["npm test", "cat a.ts", "sed -n '1,5p' b.ts", "git status"];

type Output = ToolResultPart["output"];

/**
 * A history that no provider would accept but real ones come close to: roles do not alternate, calls are parallel,
 * results come late, out of order, twice or never, ids repeat, parts are empty, some are huge.
 */
export function randomHistory(random: Random): readonly Message[] {
  const messages: Message[] = [];
  const late: Message[] = [];
  const reusesIds = random.chance(0.15);
  let calls = 0;
  const nextId = () => `call-${reusesIds ? calls++ % 3 : calls++}`;
  for (let step = 1 + random.below(14); step > 0; step--) {
    const dice = random.next();
    if (dice < 0.5) messages.push(...callsAndResults(random, nextId, late));
    else if (dice < 0.7) messages.push({ role: "user", parts: said(random) });
    else if (dice < 0.85) messages.push({ role: "assistant", parts: [...thought(random), ...said(random)] });
    else if (dice < 0.9) messages.push({ role: "system", parts: [text(random)] });
    else if (dice < 0.93) messages.push({ role: random.pick<Role>(["user", "assistant"]), parts: [] });
    else if (dice < 0.96) messages.push({ role: "tool", parts: [result(random, `lost-${step}`)] });
    else if (late.length > 0) messages.push(late.shift() as Message);
  }
  if (random.chance(0.6)) messages.push(...late);
  return messages;
}

/** Calls of one reply and their results; delayed results go to `late`. */
function callsAndResults(random: Random, nextId: () => string, late: Message[]): readonly Message[] {
  const ids = Array.from({ length: 1 + random.below(3) }, nextId);
  const parts = ids.map((callId) => call(random, callId));
  const reply: readonly Message[] = random.chance(0.15)
    ? parts.map((part) => ({ role: "assistant", parts: [part] }))
    : [{ role: "assistant", parts: [...thought(random), ...parts] }];
  const answers = ids.flatMap((callId): readonly Part[] => {
    if (random.chance(0.08)) return [];
    const made = result(random, callId);
    return random.chance(0.05) ? [made, result(random, callId)] : [made];
  });
  if (random.chance(0.2)) answers.reverse();
  const role: Role = random.chance(0.7) ? "tool" : "user";
  const told: Message[] = random.chance(0.5)
    ? answers.map((part) => ({ role, parts: [part] }))
    : [{ role, parts: random.chance(0.1) ? [...answers, text(random)] : answers }];
  if (random.chance(0.1)) late.push(...told.splice(random.below(told.length)));
  return random.chance(0.03) ? [...told, ...reply] : [...reply, ...told];
}

function call(random: Random, callId: string): Part {
  const isShell = random.chance(0.3);
  const name = isShell ? "bash" : random.pick(["Read", "read_file", "Write", "Edit"]);
  if (random.chance(0.04)) {
    return { ...blob(random), of: "tool-call", preview: "{…}", callId, toolName: name };
  }
  const input = isShell
    ? { command: random.pick(COMMANDS) }
    : { path: random.pick(PATHS), ...(random.chance(0.3) && { offset: 1 + random.below(9), limit: 5 }) };
  return { type: "tool-call", callId, name, input };
}

function result(random: Random, callId: string): ToolResultPart {
  const output: Output = Array.from({ length: random.chance(0.9) ? 1 : random.below(3) }, () => {
    const dice = random.next();
    if (dice < 0.06) return image(random);
    if (dice < 0.1) return { ...blob(random), of: "text" as const, preview: "head\n…\ntail" };
    return dice < 0.12
      ? { type: "raw" as const, format: "other", value: { kept: "as it is" } }
      : text(random);
  });
  return { type: "tool-result", callId, output, ...(random.chance(0.1) && { isError: true }) };
}

function said(random: Random): readonly Part[] {
  const parts: Part[] = [text(random)];
  if (random.chance(0.1)) parts.push(image(random));
  if (random.chance(0.03)) parts.push({ ...blob(random), of: "text", preview: "head…tail" });
  return parts;
}

function thought(random: Random): readonly Part[] {
  if (random.chance(0.7)) return [];
  return [
    { type: "reasoning", text: random.pick(WORDS).repeat(5), opaque: { signature: `${random.next()}` } },
  ];
}

function text(random: Random): TextPart {
  const word = random.pick(WORDS);
  const isHuge = random.chance(0.05);
  return { type: "text", text: word.repeat(isHuge ? 300 + random.below(1_500) : random.below(40)) };
}

function image(random: Random): BlobPart {
  return { ...blob(random), mime: "image/png" };
}

function blob(random: Random): BlobPart {
  return {
    type: "blob",
    digest: "0".repeat(64),
    sizeBytes: 100 + random.below(3_000),
    mime: "application/json",
  };
}
