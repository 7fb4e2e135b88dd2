import { CHINESE } from "./cues/chinese.ts";
import { ENGLISH } from "./cues/english.ts";
import { FRENCH } from "./cues/french.ts";
import { GERMAN } from "./cues/german.ts";
import { JAPANESE } from "./cues/japanese.ts";
import type { LanguageCues } from "./cues/language-cues.ts";
import { simplifyChinese } from "./cues/simplify-chinese.ts";
import { SPANISH } from "./cues/spanish.ts";

/** Languages to check for texts with Chinese or Japanese characters, and for all texts. */
const EAST_ASIAN = [CHINESE, JAPANESE];
const EUROPEAN = [ENGLISH, GERMAN, SPANISH, FRENCH];
const HAN_OR_KANA = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;
const KANA = /[\p{sc=Hiragana}\p{sc=Katakana}]/u;

/** True if a text refers to something said or done before. */
export function hasBackReference(text: string): boolean {
  return matchAnyLanguage(text, (cues, words) => {
    if (cues.together.some((cue) => cue.test(words))) return true;
    return splitSentences(words).some(
      (sentence) =>
        (cues.past.some((cue) => cue.test(sentence)) &&
          (/[?？]\s*$/.test(sentence) || cues.bothSides.test(sentence))) ||
        (cues.ownFact?.test(sentence) === true && cues.advice?.test(sentence) !== true),
    );
  });
}

/** True if a text refers to files or code without naming them. */
export function hasCodeReference(text: string): boolean {
  return matchAnyLanguage(text, (cues, words) => cues.code.some((cue) => cue.test(words)));
}

/** True if a test succeeds in one of the languages that a text may be in. Kana distinguish Japanese from Chinese. */
function matchAnyLanguage(text: string, test: (cues: LanguageCues, words: string) => boolean): boolean {
  if (EUROPEAN.some((cues) => test(cues, text))) return true;
  if (!HAN_OR_KANA.test(text)) return false;
  const simple = simplifyChinese(text);
  return EAST_ASIAN.some((cues) => {
    if (cues === JAPANESE) return KANA.test(text) && test(cues, text);
    return test(cues, simple);
  });
}

function splitSentences(text: string): readonly string[] {
  return text.split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/);
}
