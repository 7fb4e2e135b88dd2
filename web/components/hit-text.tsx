import type { Reply } from "../api/routes.ts";
import { Markdown } from "./markdown.tsx";

type Sentence = NonNullable<NonNullable<Reply<"GET /recall">["hits"][number]["details"]>["sentence"]>;

const MAX_BEFORE = 220;
const MAX_SHOWN = 500;

/** The text of a hit around the sentence that matches best, as Markdown, with the words of the question marked. */
export function HitText({
  text,
  sentence,
}: {
  readonly text: string;
  readonly sentence: Sentence | undefined;
}) {
  const first = Math.max(0, (sentence?.from ?? 0) - MAX_BEFORE);
  // Whole lines, so that a table or a list is not cut in its middle.
  const start = first === 0 ? 0 : Math.max(first, text.lastIndexOf("\n", sentence?.from) + 1);
  const end = Math.min(text.length, Math.max(sentence?.to ?? 0, start + MAX_SHOWN));
  const excerpt = `${start > 0 ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
  const words = sentence?.words.map(({ from, to }) => text.slice(from, to)) ?? [];
  return (
    <div class="hit-text">
      <Markdown text={excerpt} marked={words} />
    </div>
  );
}
