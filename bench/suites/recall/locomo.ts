import { join } from "node:path";
import type { Item, Question } from "./question.ts";
import { readJson } from "./read-lines.ts";

interface RawTurn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly text: string;
  readonly blip_caption?: string;
}

interface RawConversation {
  readonly sample_id: string;
  readonly qa: readonly {
    question: string;
    answer?: string | number;
    evidence?: readonly string[];
    category: number;
  }[];
  readonly conversation: Readonly<Record<string, string | readonly RawTurn[]>>;
}

const CATEGORIES = ["", "multi-hop", "temporal", "open-domain", "single-hop", "adversarial"] as const;

/** LoCoMo's questions whose evidence can be found, each over its whole conversation. */
export function readLocomo(folder: string): Question[] {
  return readJson<readonly RawConversation[]>(join(folder, "locomo.json")).flatMap(toQuestions);
}

/** The same questions over turns that name their speaker only in the text, as pasted or exported transcripts do. */
export function withNamesInText(questions: readonly Question[]): Question[] {
  const scopes = new Map<Question["items"], Question["items"]>();
  return questions.map((question) => {
    const items =
      scopes.get(question.items) ??
      question.items.map((item) => ({ ...item, speaker: null, text: `${item.speaker}: ${item.text}` }));
    scopes.set(question.items, items);
    return { ...question, items };
  });
}

function toQuestions(raw: RawConversation): Question[] {
  const items: Item[] = [];
  const places = new Map<string, number>();
  const speakerA = raw.conversation.speaker_a;
  const numbers = Object.keys(raw.conversation).flatMap((key) => /^session_(\d+)$/.exec(key)?.[1] ?? []);
  for (const [session, number] of numbers
    .map(Number)
    .sort((a, b) => a - b)
    .entries()) {
    const atMs = readDate(String(raw.conversation[`session_${number}_date_time`] ?? ""));
    for (const turn of raw.conversation[`session_${number}`] as readonly RawTurn[]) {
      places.set(turn.dia_id, items.length);
      const shared = turn.blip_caption === undefined ? "" : ` and shared ${turn.blip_caption}`;
      const role = turn.speaker === speakerA ? "user" : "assistant";
      items.push({ session, role, speaker: turn.speaker, atMs, text: turn.text + shared });
    }
  }
  return raw.qa.flatMap((qa): Question[] => {
    const gold = evidencePlaces(qa.evidence ?? [], places);
    if (gold.length === 0) return [];
    const goldSessions = [...new Set(gold.map((place) => items[place]?.session ?? -1))];
    const category = CATEGORIES[qa.category] ?? String(qa.category);
    const group = raw.sample_id;
    const answer = qa.answer === undefined ? null : String(qa.answer);
    return [
      {
        set: "locomo",
        group,
        category,
        text: qa.question,
        askedAtMs: null,
        answer,
        items,
        gold,
        goldSessions,
      },
    ];
  });
}

function evidencePlaces(evidence: readonly string[], places: ReadonlyMap<string, number>): number[] {
  const ids = evidence.flatMap((text) => text.split(/[;\s,]+/)).map((id) => id.replace(/:0+(?=\d)/, ":"));
  return [...new Set(ids.flatMap((id) => places.get(id) ?? []))];
}

/** Parses "1:56 pm on 8 May, 2023" as UTC. */
function readDate(text: string): number | null {
  const parts = /^(\d+):(\d+) (am|pm) on (.+)$/.exec(text);
  if (!parts) return null;
  const hours = (Number(parts[1]) % 12) + (parts[3] === "pm" ? 12 : 0);
  const day = Date.parse(`${parts[4]} UTC`);
  return Number.isNaN(day) ? null : day + (hours * 60 + Number(parts[2])) * 60_000;
}
