import type { ChildTask } from "../../child-job.ts";
import { atLeast, atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { findDataSet } from "../recall/data-folder.ts";
import { readLongMemEval } from "../recall/longmemeval.ts";
import type { Question as Asked } from "../recall/question.ts";
import { blocksOf, Ledger, openTalk, reply, type Said } from "./talk.ts";

type Mode = "late" | "first";

interface Question {
  readonly folder: string;
  readonly mode: Mode;
  readonly window: number;
  readonly questions: number;
}

interface Answer {
  readonly questions: number;
  /** Questions for which every marked turn stood word for word in the last request. */
  readonly whole: number;
  readonly cost: number;
  readonly costOfAll: number;
  readonly rewrites: number;
  readonly requests: number;
  /** Requests that the provider refused because their thinking was bound to another prefix. */
  readonly refused: number;
}

const CHARACTERS_PER_TOKEN = 4.4;
const SHORT_REPLY = "I see.";
const SMALL_TALK = [
  "Thank you, this was useful.",
  "Could you keep your replies brief from here on?",
  "Good. There is one last thing I would like to ask.",
];

/**
 * Asks a question at the end of its own conversation of about 115,000 tokens, through a gateway, and looks in the
 * provider's last request for the turns that answer it. In mode `first` the whole conversation comes at once, with the
 * question. In mode `late` it grows: one request after each of its parts, answered with the recorded reply, then three
 * turns of small talk, then the question.
 */
export const askThrough: ChildTask<Question, Answer> = async function askThrough(question, place) {
  const { mode, window, questions: count } = question;
  const chosen = readLongMemEval(question.folder)
    .questions.filter(({ gold }) => gold.length > 0)
    .slice(0, count);
  let went = new Ledger();
  let nextReply = SHORT_REPLY;
  let arrived: readonly Said[] = [];
  const talk = await openTalk(place.folder, window, ({ messages }) => {
    arrived = messages;
    const { all, same } = went.take(messages);
    const tokens = Math.round(all / CHARACTERS_PER_TOKEN);
    return reply([{ type: "text", text: nextReply }], tokens, Math.round(same / CHARACTERS_PER_TOKEN));
  });
  const sum = { questions: 0, whole: 0, cost: 0, costOfAll: 0, rewrites: 0, requests: 0 };
  for (const [index, asked] of chosen.entries()) {
    went = new Ledger();
    const all = new Ledger();
    const { messages, ends } = conversationOf(asked);
    const send = async (sent: readonly Said[], answer: string) => {
      nextReply = answer;
      all.take(sent);
      const { status, text } = await talk.ask(sent, { person: `person-${index}` });
      if (status !== 200) throw new Error(`question ${index}: status ${status}: ${text.slice(0, 300)}`);
    };
    if (mode === "late") {
      for (const end of ends) {
        const size = messages[end - 1]?.role === "assistant" ? end - 1 : end;
        const recorded = messages[size]?.role === "assistant" ? messages[size] : undefined;
        if (size > 0) await send(messages.slice(0, size), String(recorded?.content ?? SHORT_REPLY));
      }
      for (const text of SMALL_TALK) {
        messages.push({ role: "user", content: text });
        await send(messages, SHORT_REPLY);
        messages.push({ role: "assistant", content: SHORT_REPLY });
      }
    }
    await send([...messages, { role: "user", content: asked.text }], SHORT_REPLY);
    const shown = arrived
      .map((message) =>
        blocksOf(message)
          .map(({ text }) => text)
          .join("\n"),
      )
      .join("\n");
    sum.questions++;
    if (asked.gold.every((gold) => shown.includes(asked.items[gold]?.text ?? ""))) sum.whole++;
    sum.cost += went.cost;
    sum.costOfAll += all.cost;
    sum.rewrites += went.rewrites;
    sum.requests += went.requests;
  }
  await talk.close();
  return { ...sum, refused: talk.refused() };
};

/** The conversation of a question, which begins with the user and ends with a reply, and the end of each of its parts. */
function conversationOf({ items }: Asked): { readonly messages: Said[]; readonly ends: readonly number[] } {
  const messages: { role: Said["role"]; content: string }[] = [];
  const ends = new Map<number, number>();
  for (const { session, role, text } of items) {
    const last = messages.at(-1);
    if (text.trim() !== "" && last?.role === role) last.content += `\n\n${text}`;
    else if (text.trim() !== "" && (last || role === "user"))
      messages.push({ role: role === "user" ? "user" : "assistant", content: text });
    ends.set(session, messages.length);
  }
  if (messages.at(-1)?.role === "user") messages.push({ role: "assistant", content: SHORT_REPLY });
  return { messages, ends: [...ends.values()] };
}

const WINDOWS = [32_000, 64_000, 128_000, 200_000] as const;

/** Share of questions, cost beside sending everything, and rewrites for 100 requests, by window. */
const GOALS: Readonly<Record<Mode, readonly (readonly number[])[]>> = {
  late: [
    [0.93, 0.8, 25],
    [0.96, 0.88, 10],
    [0.98, 1, 4],
    [1, 1, 0],
  ],
  first: [[0.95], [0.98], [0.99], [1]],
};

/** One measurement for each mode and window. */
export const evidence: readonly Measurement[] = (["late", "first"] as const).flatMap((mode) =>
  WINDOWS.map((window, index): Measurement => {
    const id = `${mode}-${window / 1_000}k`;
    return {
      name: id,
      async *run(bench) {
        const folder = findDataSet(bench, "longmemeval-s");
        // A quick run takes a few questions in the smallest window.
        if (folder === undefined || (bench.isQuick && index > 0)) return;
        const question = { folder, mode, window, questions: bench.isQuick ? 3 : 60 };
        const answer = await bench.child(id, import.meta.url, askThrough, question);
        yield toRow({ id: `${id}.refused`, value: answer.refused, unit: "requests", goal: atMost(0, "") });
        const [share = 0, cost, rewrites] = GOALS[mode][index] ?? [];
        const isJudged = !bench.isQuick;
        yield toRow({
          id: `${id}.evidence`,
          value: answer.whole / answer.questions,
          unit: `of ${answer.questions} questions`,
          ...(isJudged && { goal: atLeast(share, "") }),
        });
        if (cost === undefined || rewrites === undefined) return;
        yield toRow({
          id: `${id}.cost`,
          value: answer.cost / answer.costOfAll,
          unit: "of sending all",
          ...(isJudged && { goal: atMost(cost, "") }),
        });
        yield toRow({
          id: `${id}.rewrites`,
          value: (100 * answer.rewrites) / answer.requests,
          unit: "per 100 requests",
          ...(isJudged && { goal: atMost(rewrites, "") }),
        });
      },
    };
  }),
);
