import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Item, Question } from "./question.ts";
import { readJson } from "./read-lines.ts";

type Sources = readonly number[] | Readonly<Record<string, readonly number[] | number>> | null | undefined;

interface RawProbe {
  readonly question: string;
  readonly answer?: string;
  readonly source_chat_ids?: Sources;
}

interface RawChat {
  readonly messages: readonly { id: number; role: "user" | "assistant"; content: string }[];
  readonly questions: Readonly<Record<string, readonly RawProbe[]>>;
}

/** BEAM's questions that name their sources, or all, each over the whole chat; `folder` is one size. */
export function readBeam(folder: string, set: string, withAll = false): Question[] {
  const files = readdirSync(folder).filter((name) => /\.json(\.gz)?$/.test(name));
  return files.sort().flatMap((name) => {
    const questions = toQuestions(readJson<RawChat>(join(folder, name)), set, name);
    return questions.filter(({ gold }) => withAll || gold.length > 0);
  });
}

function toQuestions(chat: RawChat, set: string, file: string): Question[] {
  const items = chat.messages.map(
    ({ role, content }): Item => ({ session: 0, role, speaker: null, atMs: null, text: content }),
  );
  const places = new Map(chat.messages.map(({ id }, place) => [id, place]));
  return Object.entries(chat.questions).flatMap(([category, questions]) =>
    questions.flatMap(({ question: text, answer = null, source_chat_ids: sources }): Question[] => {
      const gold = [...new Set(sourceIds(sources).flatMap((id) => places.get(id) ?? []))];
      const group = `${set}/${file}`;
      return [{ set, group, category, text, askedAtMs: null, answer, items, gold, goldSessions: [0] }];
    }),
  );
}

function sourceIds(sources: Sources): number[] {
  return sources === null || sources === undefined ? [] : Object.values(sources).flat();
}
