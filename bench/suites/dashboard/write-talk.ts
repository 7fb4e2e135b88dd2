import type { Kernel } from "../../../src/kernel/index.ts";

const BATCH = 2_000;
const MODEL = "claude-sonnet-4-5";

/** Writes a conversation of any number of messages. */
export async function writeTalk(kernel: Kernel, id: string, entries: number): Promise<void> {
  await using session = await kernel.session(id, { title: `A conversation of ${entries} messages` });
  for (let from = 0; from < entries; from += BATCH) {
    const count = Math.min(BATCH, entries - from);
    await session.appendAll(Array.from({ length: count }, (_, index) => makeMessage(from + index + 1)));
  }
}

function makeMessage(number: number) {
  if (number % 2 === 1)
    return {
      role: "user" as const,
      text: `Question ${number}: is berth B${number % 40} free at the *evening* tide?`,
    };
  const code = number % 20 === 0 ? `\n\n\`\`\`ts\nconst berth = findBerth(${number});\n\`\`\`` : "";
  return {
    role: "assistant" as const,
    model: MODEL,
    text: `Yes, until ${number % 24}:00.\n\n- \`ship-${number % 97}\` leaves first\n- the pilot is **on board**\n\n${"The log of the harbor says more. ".repeat(number % 9)}${code}`,
  };
}

/** Writes a conversation with messages, a report of usage after every second one, and edits with receipts among them. */
export async function writeEditedTalk(
  kernel: Kernel,
  id: string,
  { entries, edits }: { readonly entries: number; readonly edits: number },
): Promise<void> {
  await using session = await kernel.session(id, { title: `${entries} entries, ${edits} edits` });
  const intake = await session.intake(`bench ${id}`);
  const every = Math.floor(entries / edits);
  for (let from = 1; from <= entries; from += BATCH) {
    const bodies = Array.from({ length: Math.min(BATCH, entries - from + 1) }, (_, index) =>
      makeBody(id, from + index, every),
    );
    await intake.append(bodies.map((body) => ({ body })));
  }
}

function makeBody(id: string, seq: number, every: number) {
  const tokens = 20_000 + ((seq * 37) % 120_000);
  if (seq % every === 0)
    return {
      kind: "overlay" as const,
      author: "longhaul",
      reason: "the window was full",
      edit: {
        type: "plan" as const,
        isWhole: true as const,
        edits: [{ type: "hide" as const, ranges: [{ session: id, from: 1, to: seq - 4 }] }],
      },
      receipt: {
        model: MODEL,
        policy: "longhaul",
        cache: "hot" as const,
        isForced: true,
        tokens: { without: tokens + 40_000, with: tokens },
        cachedShare: { without: 0.9, with: 0.2 },
        thisCall: { without: 0.2, with: 0.3 },
        nextCalls: { without: 0.06, with: 0.02 },
        breakEvenCalls: 3,
        expectedCalls: 40,
        left: { entries: 12, identifiers: 3, named: ["findBerth", "harbor.ts", "B4"] },
      },
    };
  if (seq % 2 === 0)
    return {
      kind: "usage" as const,
      model: MODEL,
      request: `r${seq}`,
      usage: {
        inputTokens: Math.round(tokens / 10),
        cacheReadTokens: Math.round(0.9 * tokens),
        outputTokens: 300,
      },
    };
  return {
    kind: "message" as const,
    message: { role: seq % 4 === 1 ? ("user" as const) : ("assistant" as const), text: `Message ${seq}` },
  };
}
