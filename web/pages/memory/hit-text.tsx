import type { ComponentChildren } from "preact";
import type { Hit } from "./hit-card.tsx";

type Sentence = NonNullable<NonNullable<Hit["details"]>["sentence"]>;

/** Characters that show before and after the sentence with most of the question. */
const BEFORE = 240;
const AFTER = 480;

/** The words of a hit: the sentence that matches best stands out, and in it the words of the question. */
export function HitText({
  text,
  sentence,
}: {
  readonly text: string;
  readonly sentence: Sentence | undefined;
}) {
  const from = sentence ? Math.max(0, sentence.from - BEFORE) : 0;
  const to = Math.min(text.length, (sentence?.to ?? 0) + AFTER);
  return (
    <blockquote class="hit-text">
      {from > 0 && "… "}
      {sentence ? (
        <>
          {text.slice(from, sentence.from)}
          <strong>{markWords(text, sentence)}</strong>
          {text.slice(sentence.to, to)}
        </>
      ) : (
        text.slice(from, to)
      )}
      {to < text.length && " …"}
    </blockquote>
  );
}

function markWords(text: string, { from, to, words }: Sentence): ComponentChildren[] {
  const pieces: ComponentChildren[] = [];
  let at = from;
  for (const word of words) {
    pieces.push(text.slice(at, word.from), <mark key={word.from}>{text.slice(word.from, word.to)}</mark>);
    at = word.to;
  }
  return [...pieces, text.slice(at, to)];
}
