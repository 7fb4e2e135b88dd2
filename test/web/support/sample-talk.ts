import { deflateSync } from "node:zlib";
import type { Kernel, MessageInput, Session } from "../../../src/kernel/index.ts";

export const MODEL = "claude-sonnet-4-5";

const CODE = `The berth table is built in \`harbor.ts\`:

\`\`\`ts
export function findBerth(ships: readonly Ship[], draught: number): Ship | undefined {
  // The deepest berth that is free wins.
  return ships.filter((ship) => ship.draught >= draught).at(-1);
}
\`\`\`

| Ship | Draught | Berth |
|---|---:|---|
| Aurora | 7.2 | **B4** |
| Meridian | 9.1 | C1 |

1. Read the table
2. Compare *draught* and depth
3. Report the first conflict`;

const LOG_LINE =
  "2026-03-01T08:00:00Z harbor-master INFO ship=Aurora draught=7.2 berth=B4 pilot=requested tide=high\n";

/** A PNG with a gradient, so that a thumbnail shows something. */
export function makePicture(width = 320, height = 200): Buffer {
  const rows = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      rows.set(
        [Math.round((90 * x) / width) + 40, Math.round((120 * y) / height) + 60, 150],
        y * (1 + 3 * width) + 1 + 3 * x,
      );
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const frame = Buffer.alloc(body.length + 8);
    frame.writeUInt32BE(data.length, 0);
    body.copy(frame, 4);
    frame.writeUInt32BE(computeCrc(body), body.length + 4);
    return frame;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function computeCrc(bytes: Buffer): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** One turn of the sample: a question, a call with its result, and a reply. */
function makeTurn(turn: number): readonly MessageInput[] {
  const callId = `call-${turn}`;
  return [
    {
      role: "user",
      text: `Round ${turn}: which ships are due at pier ${turn % 7}, and does \`findBerth\` still agree?`,
    },
    {
      role: "assistant",
      model: MODEL,
      parts: [
        { type: "text", text: `I look at the log of pier ${turn % 7}.` },
        {
          type: "tool-call",
          callId,
          name: "bash",
          input: { command: `grep pier-${turn % 7} harbor-${turn}.log | tail -40` },
        },
      ],
    },
    {
      role: "tool",
      parts: [
        {
          type: "tool-result",
          callId,
          name: "bash",
          output: [{ type: "text", text: LOG_LINE.repeat(30 + (turn % 5) * 12) }],
        },
      ],
    },
    {
      role: "assistant",
      model: MODEL,
      text: `Pier ${turn % 7} expects **Aurora** at high tide; \`findBerth\` returns B${turn % 9}.`,
    },
  ];
}

/** A conversation about a harbor: code, calls, diffs, a picture, usage, edits with receipts, a sub-conversation. */
export async function writeSampleTalk(
  kernel: Kernel,
  id = "claude-code/berths",
  turns = 40,
): Promise<Session> {
  const session = await kernel.session(id, {
    title: "Berths of the harbor",
    meta: { cwd: "/srv/harbor" },
  });
  const window = session.window({ model: MODEL, models: { "*": { window: 40_000 } } });
  for (let turn = 1; turn <= turns; turn++) {
    await session.appendAll(makeTurn(turn));
    const { tokens } = await window.fit();
    const cached = turn % 9 === 0 ? 0 : Math.round(tokens * 0.9);
    await window.report(
      {
        inputTokens: Math.max(1, tokens - cached),
        cacheReadTokens: cached,
        outputTokens: 320 + (turn % 5) * 40,
      },
      { request: `r${turn}` },
    );
  }
  await session.appendAll([
    { role: "user", text: "Show me the code, please." },
    { role: "assistant", model: MODEL, text: CODE },
    { role: "user", text: "Change it so that the **shallowest** berth wins." },
    {
      role: "assistant",
      model: MODEL,
      parts: [
        { type: "reasoning", text: "The filter stays; only the order changes." },
        { type: "text", text: "I change the order and run the tests." },
        {
          type: "tool-call",
          callId: "edit-1",
          name: "edit_file",
          input: {
            file_path: "src/harbor.ts",
            old_string:
              "  // The deepest berth that is free wins.\n  return ships.filter((ship) => ship.draught >= draught).at(-1);",
            new_string:
              "  // The shallowest berth that is deep enough wins.\n  return ships.find((ship) => ship.draught >= draught);",
          },
        },
        { type: "tool-call", callId: "test-1", name: "bash", input: { command: "npm test -- harbor" } },
      ],
    },
    {
      role: "tool",
      parts: [
        { type: "tool-result", callId: "edit-1", output: [{ type: "text", text: "The file was changed." }] },
        { type: "tool-result", callId: "test-1", output: [{ type: "text", text: "12 tests passed" }] },
      ],
    },
    {
      role: "user",
      parts: [
        { type: "text", text: "This is the chart of the basin:" },
        { type: "data", data: makePicture(), mime: "image/png", name: "basin.png" },
      ],
    },
    {
      role: "assistant",
      model: MODEL,
      text: "The basin is deepest at the eastern mole. Berth **B4** stays free for Aurora.",
    },
  ]);
  const child = await session.child({ title: "Look up the tide tables" });
  await child.append({ role: "user", text: "Find the tide tables of March." });
  await child.close();
  return session;
}
