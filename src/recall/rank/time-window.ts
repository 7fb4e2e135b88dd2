const DAY_MS = 86_400_000;

/** A period that a question mentions; `slackMs` is how far outside it a time may lie and still be meant. */
export interface TimeWindow {
  readonly fromMs: number;
  readonly toMs: number;
  readonly slackMs: number;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const UNIT_DAYS: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30.4, year: 365.25 };
const MAX_AMOUNT = 10_000;
const NUMBERS = `a an one two three four five six seven eight nine ten eleven twelve`.split(" ");

const MONTH =
  "(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?";
const DAY = "(?<day>\\d{1,2})(?:st|nd|rd|th)?";
const YEAR = "(?<year>(?:19|20)\\d\\d)";

const CALENDAR = [
  /\b(?<year>(?:19|20)\d\d)[-/](?<monthNumber>\d{1,2})[-/](?<day>\d{1,2})\b/gi,
  new RegExp(`\\b${DAY}(?: of)? ${MONTH}(?:,? ${YEAR})?\\b`, "gi"),
  new RegExp(`\\b${MONTH} ${DAY}(?:,? ${YEAR})?(?!\\d)`, "gi"),
  new RegExp(`\\b${MONTH},? ${YEAR}\\b`, "gi"),
  new RegExp(
    `\\b(?:in|during|of|early|late|mid|since|and|from|until|by|last|this)[ -]${MONTH}(?! \\d)\\b`,
    "gi",
  ),
  new RegExp(`\\b(?:in|during|of|since|year) ${YEAR}\\b`, "gi"),
];

/** Every calendar date has a digit or a month, and every relative one has one of these words. */
const MAY_BE_DATE = /\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec/;
const MAY_BE_RELATIVE = /\b(?:ago|last|past|previous|on|yesterday|today)\b/;

const AMOUNT = `(?<amount>\\d+|${NUMBERS.join("|")}|few|couple(?: of)?|several)`;
const AGO = new RegExp(`\\b(?:a )?${AMOUNT} (?<unit>day|week|month|year)s? ago\\b`, "gi");
const PAST = new RegExp(`\\b(?:last|past|previous) (?:${AMOUNT} )?(?<unit>day|week|month|year)s?\\b`, "gi");
const WEEKDAY = /\b(?:last|this past|on|past) (?<weekday>mon|tues|wednes|thurs|fri|satur|sun)day\b/gi;

/** The periods that a question mentions, relative to `nowMs`; without it, only calendar dates count. */
export function parseTimeWindows(question: string, nowMs: number | null): TimeWindow[] {
  const text = question.toLowerCase();
  const calendar = MAY_BE_DATE.test(text) ? parseCalendarWindows(text, nowMs) : [];
  const isRelative = nowMs !== null && MAY_BE_RELATIVE.test(text);
  return isRelative ? [...calendar, ...parseRelativeWindows(text, nowMs)] : calendar;
}

/**
 * Match of a time with the nearest window: 1 inside, decreasing with the distance. Earlier times decrease faster,
 * because events are reported after they happen.
 */
export function scoreTimeMatch(windows: readonly TimeWindow[], atMs: number): number {
  let best = 0;
  for (const { fromMs, toMs, slackMs } of windows) {
    const outside = atMs < fromMs ? 2 * (fromMs - atMs) : Math.max(0, atMs - toMs);
    best = Math.max(best, Math.exp(-outside / slackMs));
  }
  return best;
}

function parseCalendarWindows(text: string, nowMs: number | null): TimeWindow[] {
  const windows: TimeWindow[] = [];
  let rest = text;
  for (const pattern of CALENDAR) {
    for (const { groups } of rest.matchAll(pattern)) windows.push(...toWindows(groups ?? {}, nowMs));
    // A date read by one pattern must not be read again by a looser one.
    rest = rest.replace(pattern, (match) => "#".repeat(match.length));
  }
  return windows;
}

function toWindows(groups: Readonly<Record<string, string | undefined>>, nowMs: number | null): TimeWindow[] {
  const { day, monthNumber } = groups;
  const month = groups.month
    ? MONTHS.indexOf(groups.month.slice(0, 3))
    : monthNumber
      ? Number(monthNumber) - 1
      : -1;
  return listYears(groups.year, nowMs).flatMap((year) => {
    if (month < 0) return buildSpan(Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1));
    if (day === undefined) return buildSpan(Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1));
    const from = new Date(Date.UTC(year, month, Number(day)));
    // February 29 is no day of most years.
    return from.getUTCMonth() === month ? buildSpan(from.getTime(), from.getTime() + DAY_MS) : [];
  });
}

/** A date without a year belongs to this year or the last; without a current time, to any plausible year. */
function listYears(year: string | undefined, nowMs: number | null): number[] {
  if (year !== undefined) return [Number(year)];
  if (nowMs === null) return Array.from({ length: 30 }, (_, index) => 2010 + index);
  const current = new Date(nowMs).getUTCFullYear();
  return [current, current - 1];
}

function parseRelativeWindows(text: string, nowMs: number): TimeWindow[] {
  const windows: TimeWindow[] = [];
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  for (const { groups } of text.matchAll(AGO)) {
    const unitMs = (UNIT_DAYS[groups?.unit ?? ""] ?? 1) * DAY_MS;
    const at = nowMs - parseAmount(groups?.amount) * unitMs;
    windows.push({ fromMs: at - 0.3 * unitMs, toMs: at + 0.3 * unitMs, slackMs: 0.6 * unitMs });
  }
  for (const { groups } of text.matchAll(PAST)) {
    const unitMs = (UNIT_DAYS[groups?.unit ?? ""] ?? 1) * DAY_MS;
    windows.push(buildSpan(nowMs - parseAmount(groups?.amount) * unitMs, nowMs));
  }
  for (const { groups } of text.matchAll(WEEKDAY)) {
    const weekday = WEEKDAYS.indexOf((groups?.weekday ?? "").slice(0, 3));
    const back = ((new Date(nowMs).getUTCDay() - weekday + 6) % 7) + 1;
    windows.push(buildSpan(today - back * DAY_MS, today - (back - 1) * DAY_MS));
  }
  if (/\byesterday\b/.test(text)) windows.push(buildSpan(today - DAY_MS, today));
  if (/\btoday\b/.test(text)) windows.push(buildSpan(today, nowMs));
  if (/\blast weekend\b/.test(text)) windows.push(buildSpan(today - 8 * DAY_MS, nowMs));
  return windows;
}

function buildSpan(fromMs: number, toMs: number): TimeWindow {
  return { fromMs, toMs, slackMs: Math.max(3 * DAY_MS, (toMs - fromMs) / 4) };
}

function parseAmount(text: string | undefined): number {
  if (text === undefined) return 1;
  if (text.startsWith("couple")) return 2;
  if (text === "few" || text === "several") return 3;
  const place = NUMBERS.indexOf(text);
  return place < 0 ? Math.min(MAX_AMOUNT, Number(text)) : Math.max(1, place - 1);
}
