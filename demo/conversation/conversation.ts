import type { DataPart, MessageInput } from "../../src/kernel/index.ts";
import { imagePart } from "./images.ts";
import { Random } from "./random.ts";
import { code, command, output, path, prose } from "./writing.ts";

/** Messages that an agent appends together: one message, or a tool call with its result. */
export type Step = readonly MessageInput[];

/** Size of the conversation. */
export interface Length {
  readonly messages: number;
  readonly images: number;
  readonly imageBytes: number;
}

const SEED = 2026;

/**
 * An agent's working day, one step at a time: exactly the requested number of messages, with the
 * images spread over them.
 */
export function* conversation({ messages, images, imageBytes }: Length): Generator<Step> {
  let made = 0;
  let shown = 0;
  const illustrate = (message: MessageInput): MessageInput => {
    made++;
    // Users and tools show images; the assistant only if the conversation would end too early otherwise.
    if (message.role === "assistant" && made < messages) return message;
    const due = Math.round((made * images) / messages) - shown;
    if (due === 0) return message;
    return withImages(
      message,
      Array.from({ length: due }, () => imagePart(++shown, imageBytes)),
    );
  };
  for (const step of turns(new Random(SEED))) {
    yield step.slice(0, messages - made).map(illustrate);
    if (made === messages) return;
  }
}

/** UTF-8 size of a message's text, without images. */
export function textBytesOf(message: MessageInput): number {
  return (message.parts ?? []).reduce((sum, part) => {
    if (part.type === "text" || part.type === "reasoning") return sum + Buffer.byteLength(part.text);
    if (part.type === "tool-call") return sum + Buffer.byteLength(JSON.stringify(part.input));
    if (part.type !== "tool-result") return sum;
    if (typeof part.output === "string") return sum + Buffer.byteLength(part.output);
    return sum + textBytesOf({ role: message.role, parts: part.output });
  }, 0);
}

function* turns(random: Random): Generator<Step> {
  for (let turn = 1; ; turn++) {
    yield [{ role: "user", parts: [{ type: "text", text: prose(random, 150 + random.below(900)) }] }];
    const calls = random.below(5);
    for (let call = 1; call <= calls; call++) yield toolUse(random, `call-${turn}-${call}`);
    yield [answer(random)];
  }
}

function toolUse(random: Random, callId: string): Step {
  const length = 600 + random.below(6_000);
  const isShell = random.below(2) === 0;
  const name = isShell ? "shell" : "read_file";
  const input = isShell ? { command: command(random) } : { path: path(random) };
  return [
    {
      role: "assistant",
      model: "demo-model",
      parts: [
        { type: "reasoning", text: prose(random, 200 + random.below(1_000)) },
        { type: "text", text: prose(random, 100 + random.below(300)) },
        { type: "tool-call", callId, name, input },
      ],
    },
    {
      role: "tool",
      parts: [
        {
          type: "tool-result",
          callId,
          name,
          output: isShell ? output(random, length) : code(random, length),
        },
      ],
    },
  ];
}

function answer(random: Random): MessageInput {
  const snippet = `\n\n\`\`\`ts\n${code(random, 200 + random.below(1_000))}\`\`\`\n\n`;
  const text = prose(random, 400 + random.below(800)) + snippet + prose(random, 200 + random.below(400));
  return { role: "assistant", model: "demo-model", parts: [{ type: "text", text }] };
}

function withImages(message: MessageInput, images: readonly DataPart[]): MessageInput {
  const [first] = message.parts ?? [];
  if (first?.type !== "tool-result") return { ...message, parts: [...(message.parts ?? []), ...images] };
  const said =
    typeof first.output === "string" ? [{ type: "text" as const, text: first.output }] : first.output;
  return { ...message, parts: [{ ...first, output: [...said, ...images] }] };
}
