import { CHINESE, ENGLISH, FRENCH, GERMAN, JAPANESE, type LanguageCues, SPANISH } from "./language-cues.ts";

/** Languages to check for texts with Chinese or Japanese characters, and for all texts. */
const EAST_ASIAN = [CHINESE, JAPANESE];
const EUROPEAN = [ENGLISH, GERMAN, SPANISH, FRENCH];
const HAN_OR_KANA = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;
const KANA = /[\p{sc=Hiragana}\p{sc=Katakana}]/u;

/** Traditional characters of the cues, each followed by its simplified form. */
const PAIRS =
  "們们這这個个說说討讨論论還还記记過过參参據据後后時时間间會会話话讀读寫写問问談谈講讲約约訴诉應应給给發发見见剛刚對对裡里裏里檔档碼码庫库類类組组腳脚義义實实現现處处調调樣样舊旧沒没誰谁幾几嗎吗麼么點点當当決决計计劃划設设續续繼继結结從从與与憶忆顧顾經经歷历錄录週周禮礼兩两歲岁讓让輪轮數数筆笔誌志報报頁页項项議议薦荐總总規规慣惯階阶傳传儲储測测試试號号為为麽么";

const SIMPLE = new Map<string, string>();
for (let at = 0; at < PAIRS.length; at += 2) SIMPLE.set(PAIRS[at] as string, PAIRS[at + 1] as string);
const TRADITIONAL = new RegExp(`[${[...SIMPLE.keys()].join("")}]`, "g");

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

/** The text with the traditional characters of the cues simplified; all others stay unchanged. */
function simplifyChinese(text: string): string {
  return text.replace(TRADITIONAL, (character) => SIMPLE.get(character) as string);
}
