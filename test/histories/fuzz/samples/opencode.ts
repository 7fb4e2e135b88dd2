import type { Json } from "../../../../src/kernel/index.ts";
import { json, type Sample, type SampleFile } from "../sample.ts";
import { PICTURE } from "./picture.ts";

const SESSION = "ses_4ab1c2d3effeQwErTyUiOpAsDf";
const time = { created: 1_770_000_000_000, updated: 1_770_000_009_000 };
const tokens = { input: 12, output: 30, reasoning: 4, cache: { read: 800, write: 100 } };

type Fields = { [key: string]: Json };

const info: Fields = {
  id: SESSION,
  slug: "calm-river",
  projectID: "prj_1",
  directory: "/boat",
  title: "Mend the sail",
  version: "1.2.10",
  time,
};

const messages: readonly { readonly id: string; readonly data: Fields; readonly parts: readonly Fields[] }[] =
  [
    {
      id: "msg_001",
      data: { role: "user", time: { created: 1 }, agent: "build", model: { providerID: "a", modelID: "b" } },
      parts: [
        { type: "text", text: "Mend the sail." },
        { type: "file", mime: "image/png", filename: "sail.png", url: `data:image/png;base64,${PICTURE}` },
      ],
    },
    {
      id: "msg_002",
      data: {
        role: "assistant",
        parentID: "msg_001",
        time: { created: 1_770_000_001_000, completed: 1_770_000_002_000 },
        modelID: "claude-sonnet-4-5",
        providerID: "anthropic",
        path: { cwd: "/boat", root: "/boat" },
        cost: 0.02,
        tokens,
      },
      parts: [
        { type: "step-start", snapshot: "abc" },
        { type: "reasoning", text: "Find the hole.", time: { start: 1, end: 2 } },
        {
          type: "tool",
          callID: "call_1",
          tool: "read",
          state: {
            status: "completed",
            input: { filePath: "/boat/sail" },
            output: "a hole",
            title: "sail",
            metadata: { preview: "a hole" },
            time: { start: 1, end: 2, compacted: 3 },
            attachments: [{ type: "file", mime: "image/png", url: `data:image/png;base64,${PICTURE}` }],
          },
        },
        {
          type: "tool",
          callID: "call_2",
          tool: "bash",
          state: { status: "error", input: {}, error: "no needle" },
        },
        { type: "step-finish", reason: "tool-calls", cost: 0.02, tokens },
        { type: "patch", hash: "def", files: ["/boat/sail"] },
      ],
    },
    {
      id: "msg_003",
      data: { role: "user", time: { created: 1_770_000_003_000 } },
      parts: [{ type: "compaction", auto: true, tail_start_id: "msg_002" }],
    },
    {
      id: "msg_004",
      data: { role: "assistant", parentID: "msg_003", summary: true, time: { created: 1_770_000_004_000 } },
      parts: [{ type: "text", text: "A hole in the sail." }],
    },
  ];

const partsOf = ({ id, parts }: (typeof messages)[number]) =>
  parts.map((part, index) => ({ ...part, id: `prt_${id}_${index}`, sessionID: SESSION, messageID: id }));

const storage: Record<string, SampleFile> = { [`storage/session/prj_1/${SESSION}.json`]: json(info) };
for (const message of messages) {
  const { id, data } = message;
  storage[`storage/message/${SESSION}/${id}.json`] = json({ ...data, id, sessionID: SESSION });
  for (const part of partsOf(message)) storage[`storage/part/${id}/${part.id}.json`] = json(part);
}

const SCHEMA = `
  CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT, title TEXT,
    version TEXT, cost REAL, time_created INTEGER, time_updated INTEGER);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER,
    data TEXT);`;

const row = (table: string, values: Fields): Json => ({ table, row: values });
const times = { time_created: 1_770_000_000_000, time_updated: 1_770_000_009_000 };

/** The same conversation as an export, as a tree of files and in a database. */
export const opencodeSamples: readonly Sample[] = [
  {
    format: "opencode",
    name: "an export",
    files: {
      [`${SESSION}.json`]: json({
        info,
        messages: messages.map((message) => ({
          info: { ...message.data, id: message.id, sessionID: SESSION },
          parts: partsOf(message),
        })),
      }),
    },
  },
  { format: "opencode", name: "a tree of files", files: storage },
  {
    format: "opencode",
    name: "a database",
    files: {
      "opencode.db": {
        kind: "database",
        schema: SCHEMA,
        values: [
          row("session", {
            id: SESSION,
            project_id: "prj_1",
            slug: "calm-river",
            directory: "/boat",
            title: "Mend the sail",
            version: "1.2.10",
            cost: 0.02,
            ...times,
          }),
          ...messages.map(({ id, data }) => row("message", { id, session_id: SESSION, data, ...times })),
          ...messages.flatMap((message) =>
            partsOf(message).map(({ id, sessionID: _, messageID, ...data }) =>
              row("part", { id, message_id: messageID, session_id: SESSION, data: data as Json, ...times }),
            ),
          ),
        ],
      },
    },
  },
];
