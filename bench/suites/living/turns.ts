import type { ChildTask } from "../../child-job.ts";
import { atLeast, atMost, atMostOfBeside, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { overflow } from "../gateway/reply.ts";
import { type Block, blocksOf, openTalk, reply, type Said } from "./talk.ts";

interface Question {
  /** Tokens that the provider allows, four bytes each. */
  readonly window: number;
  readonly files: number;
  /** False if the gateway believes in 200,000 tokens until the provider refuses. */
  readonly isTold: boolean;
  /** True if the model writes a sentence next to each call. */
  readonly isNarrated: boolean;
}

interface Answer {
  readonly isFinished: boolean;
  /** Requests that reached the provider, refused ones included. */
  readonly requests: number;
  readonly mostReads: number;
}

const BYTES_PER_TOKEN = 4;
const FILE_BYTES = 35_000;
const UNTOLD = 200_000;
/** Requests after which a turn counts as endless, for each file. */
const PATIENCE = 6;
const SYSTEM = Array.from({ length: 200 }, (_, index) => `Rule ${index}: mind number ${index * 37}.`).join(
  " ",
);
const READ = { name: "Read", description: "Reads a file.", input_schema: { type: "object" } };
const WRITE = { name: "Write", description: "Writes a file.", input_schema: { type: "object" } };

/**
 * One turn in which a model has to read many files. It reads the first one whose name is nowhere in the request, since
 * it cannot know of a read of which nothing is left; it ends when it has seen all names.
 */
export const readMany: ChildTask<Question, Answer> = async function readMany(question, { folder }) {
  const { window, files, isTold, isNarrated } = question;
  const reads = new Array<number>(files).fill(0);
  let requests = 0;
  const talk = await openTalk(
    folder,
    isTold ? window : UNTOLD,
    ({ messages, bytes }) => {
      requests++;
      const tokens = Math.ceil(bytes / BYTES_PER_TOKEN);
      if (tokens > window) return overflow(tokens, window);
      const shown = JSON.stringify(messages);
      const next = reads.findIndex((_, index) => !shown.includes(nameOf(index)));
      if (next === -1) return reply([{ type: "text", text: "All files are read." }], tokens);
      reads[next] = (reads[next] as number) + 1;
      const input = { file_path: `/repo/src/${nameOf(next)}` };
      const call = { type: "tool_use", id: `call_${requests}`, name: "Read", input };
      return reply([...(isNarrated ? [{ type: "text", text: "Now the next file." }] : []), call], tokens);
    },
    SYSTEM,
  );
  const messages: Said[] = [
    { role: "user", content: "Read every file of src and name the one that is wrong." },
  ];
  let isFinished = false;
  while (!isFinished && requests < PATIENCE * files) {
    const { status, content } = await talk.ask(messages, { fields: { tools: [READ] } });
    if (status !== 200) break;
    const calls = content.filter(({ type }) => type === "tool_use");
    isFinished = calls.length === 0;
    messages.push({ role: "assistant", content }, { role: "user", content: calls.map(readResult) });
  }
  await talk.close();
  return { isFinished, requests, mostReads: Math.max(...reads) };
};

function nameOf(index: number): string {
  return `part-${String(index).padStart(3, "0")}.ts`;
}

function readResult({ id, input }: Block): Block {
  const path = String((input as { readonly file_path?: unknown }).file_path);
  const part = path.replace(/\D/g, "");
  let content = "";
  for (let line = 0; content.length < FILE_BYTES; line++)
    content += `export const v${part}_${line} = compute(${(line * 7_919) % 104_729}, "text ${line}");\n`;
  return { type: "tool_result", tool_use_id: id, content };
}

const WINDOWS = [16_000, 32_000, 64_000, 128_000, 200_000] as const;

/** A turn that reads half as much again as fits, at least ten files, in windows of several sizes. */
export const turns: Measurement = {
  name: "turn",
  async *run(bench) {
    for (const window of bench.isQuick ? WINDOWS.slice(1, 2) : WINDOWS) {
      const files = Math.max(10, Math.ceil((1.5 * window * BYTES_PER_TOKEN) / FILE_BYTES));
      const answers: Answer[] = [];
      const id = `turn.${window / 1_000}k`;
      for (const isTold of [true, false])
        for (const isNarrated of [true, false]) {
          const question = { window, files, isTold, isNarrated };
          const answer = await bench.child(id, import.meta.url, readMany, question);
          answers.push(answer);
          if (!answer.isFinished)
            bench.note(
              `${id}: no end (${isTold ? "told" : "not told"} the window, ${isNarrated ? "with" : "without"} words beside the calls).`,
            );
        }
      const worst = (of: (answer: Answer) => number) => Math.max(...answers.map(of));
      yield toRow({
        id: `${id}.requests`,
        value: worst(({ isFinished, requests }) => (isFinished ? requests : PATIENCE * files)),
        unit: "requests",
        beside: "files",
        besideValue: files,
        goal: atMostOfBeside(1.5),
      });
      yield toRow({
        id: `${id}.reads`,
        value: worst(({ mostReads }) => mostReads),
        unit: "reads of a file",
        goal: atMost(2, ""),
      });
    }
  },
};

interface Refused {
  readonly requests: number;
  readonly writes: number;
  readonly isErrorSeen: boolean;
}

/** One turn with a provider that refuses every request with two or more results, however short it is. */
export const refuseForEver: ChildTask<{ readonly patience: number }, Refused> = async function refuseForEver(
  { patience },
  { folder },
) {
  let [requests, writes] = [0, 0];
  const talk = await openTalk(folder, UNTOLD, ({ messages }) => {
    requests++;
    const results = messages.flatMap(blocksOf).filter(({ type }) => type === "tool_result").length;
    if (results >= 2) return overflow(UNTOLD + 1_234, UNTOLD);
    const [name, path] = results === 0 ? ["Read", "notes.txt"] : ["Write", "out.txt"];
    if (name === "Write") writes++;
    const call = {
      type: "tool_use",
      id: `call_${requests}`,
      name,
      input: { file_path: path, content: "done" },
    };
    return reply([{ type: "text", text: "The next step." }, call], 500);
  });
  const messages: Said[] = [{ role: "user", content: "Read the notes and write down the result." }];
  let last = { status: 200, text: "" };
  while (last.status === 200 && requests < patience) {
    const told = await talk.ask(messages, { fields: { tools: [READ, WRITE] } });
    last = told;
    const results = told.content
      .filter(({ type }) => type === "tool_use")
      .map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "done, 12 bytes" }));
    messages.push({ role: "assistant", content: told.content }, { role: "user", content: results });
  }
  await talk.close();
  return { requests, writes, isErrorSeen: last.text.includes("prompt is too long") };
};

/** A refusal that comes back: requests until the provider's own error reaches the client. */
export const endless: Measurement = {
  name: "endless",
  async *run(bench) {
    const { requests, writes, isErrorSeen } = await bench.child("refused", import.meta.url, refuseForEver, {
      patience: 100,
    });
    yield toRow({ id: "endless.requests", value: requests, unit: "seen upstream", goal: atMost(20, "") });
    yield toRow({ id: "endless.writes", value: writes, unit: "of the same file" });
    yield toRow({
      id: "endless.error",
      value: isErrorSeen ? 1 : 0,
      unit: "error at client",
      goal: atLeast(1, ""),
    });
  },
};
