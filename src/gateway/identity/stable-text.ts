/** Text that differs between requests of the same agent: times, paths, ids, numbers; in order of replacement. */
const UNSTABLE_TEXT: readonly (readonly [RegExp, string])[] = [
  [/x-anthropic-billing-header:[^\n]*/gi, " "],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, "#"],
  [/\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:mon|tue|wed|thu|fri|sat|sun)\b,?/gi, "#"],
  [
    /\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?) \d{1,2}\b/gi,
    "#",
  ],
  [/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?/gi, "#"],
  [/(?:[a-z]:)?(?:[\\/][\w.@~-]+){2,}[\\/]?/gi, "/"],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi, "#"],
  [/\d+(?:[.,:/-]\d+)*/g, "#"],
  [/#(?:[\s,]*#)+/g, "#"],
  [/\s+/g, " "],
];

/** A text in lower case, with everything that changes between requests replaced. */
export function toStableText(text: string): string {
  return UNSTABLE_TEXT.reduce((steady, [mark, instead]) => steady.replace(mark, instead), text)
    .trim()
    .toLowerCase();
}
