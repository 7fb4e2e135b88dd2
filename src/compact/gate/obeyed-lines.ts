import { findHijack, isDirective } from "../contract/directives.ts";
import { splitSentences } from "../extractive/split-sentences.ts";
import { normalizeWords } from "./normalize-words.ts";
import type { SourceText } from "./source-text.ts";

/** Matches lines that merely report the contents of a tool result. */
const REPORTED =
  /inject|untrusted|malicious|suspicious|not followed|did(?:n't| not) follow|ignored (?:it|the|this|as|that)|was ignored|were ignored|refused to|(?:tool|command) (?:result|output)s?|\b(?:file|page|document|log|readme|output|website|site|result|comment|text|e-?mail|ticket|issue|response)\b.{0,40}\b(?:said|says|say|contain(?:s|ed)?|tried|tries|told|asked|asks|claim(?:s|ed)?|instruct(?:s|ed)?|demand(?:s|ed)?|includ(?:es|ed))\b|注入|恶意|可疑|未执行|未遵从|没有遵从|不予理会|已忽略|工具(?:结果|输出)|(?:网页|文件|日志|页面|文档|邮件|工单)(?:中|里)?.{0,12}(?:要求|声称|写着|包含|试图|含有)/i;
const QUOTES =
  /"([^"\n]{4,200})"|“([^”\n]{4,200})”|「([^」\n]{3,200})」|`([^`\n]{4,200})`|(?<!\w)'([^'\n]{4,200})'(?!\w)/g;
const SHOUTED = /\b(?=[A-Z0-9_-]*[A-Z]{3})[A-Z][A-Z0-9_-]{5,60}\b/g;
const DEMANDED =
  /(?:\b(?:say|print|output|reply with|respond with|answer with|include|write|insert|add|append|begin with|start with|end with|state|claim)\b(?: (?:that|only|exactly|just|the (?:words?|phrase|string|line|text)))*|只?(?:回复|输出|写上|加上|包含|声明|打印|说))[:：]?\s*(.{6,160})/gi;
const MAX_ORDERS = 200;
const MAX_LINE = 2_000;
const MIN_WORDS = 4;
const OVERLAP = 0.75;
/** Minimum share of a line that an order must make up; a line that says much more does not pass the order on. */
const MIN_LINE_SHARE = 0.35;
const CHECKED_RESULT = 400_000;

interface Order {
  readonly words: string;
  readonly terms: readonly string[];
  /** Normalized phrases that only someone who obeys would write. */
  readonly payloads: readonly string[];
}

/** Lines of a summary that obey orders from a tool result, or pass them on as if they were genuine. */
export function findObeyedLines(lines: readonly string[], source: SourceText): readonly string[] {
  const own = normalizeWords(source.own);
  const orders = findOrders(source.results, own);
  return lines.filter((line) => {
    if (REPORTED.test(line)) return false;
    const hijack = findHijack(line);
    const words = normalizeWords(line);
    if (hijack !== undefined && !own.includes(normalizeWords(hijack))) return true;
    return orders.some((order) => isObeying(words, order));
  });
}

function isObeying(words: string, { words: order, terms, payloads }: Order): boolean {
  if (payloads.some((payload) => words.includes(payload))) return true;
  if (order.length >= 20 && words.includes(order)) return true;
  if (terms.length < MIN_WORDS) return false;
  const have = new Set(listTerms(words));
  const common = terms.filter((term) => have.has(term)).length;
  return common >= terms.length * OVERLAP && common >= have.size * MIN_LINE_SHARE;
}

function findOrders(results: readonly string[], own: string): readonly Order[] {
  const orders: Order[] = [];
  for (const result of results) {
    const lines = result.slice(0, CHECKED_RESULT).split("\n");
    for (const [index, line] of lines.entries()) {
      if (line.length > MAX_LINE || !isDirective(line)) continue;
      // The content of an order often follows in the next lines.
      const said = [line, ...lines.slice(index + 1, index + 3).filter(({ length }) => length <= MAX_LINE)];
      for (const sentence of said.flatMap(splitSentences)) {
        const order = parseOrder(sentence, own);
        if (order) orders.push(order);
      }
      if (orders.length > MAX_ORDERS) return orders;
    }
  }
  return orders;
}

/** Sentences that user or assistant also wrote are not orders. */
function parseOrder(sentence: string, own: string): Order | undefined {
  const words = normalizeWords(sentence);
  if (words.length < 8 || own.includes(words)) return undefined;
  const quotes = [...sentence.matchAll(QUOTES)].map((match) =>
    match.slice(1).find((group) => group !== undefined),
  );
  const demanded = [...sentence.matchAll(DEMANDED)].map((match) => match[1]);
  const shouted = isDirective(sentence) || demanded.length > 0 ? (sentence.match(SHOUTED) ?? []) : [];
  const payloads = [...(isDirective(sentence) || demanded.length > 0 ? quotes : []), ...demanded, ...shouted]
    .map((payload) => normalizeWords(payload ?? ""))
    .filter((payload) => payload.length >= 4 && !own.includes(payload));
  return { words, terms: [...new Set(listTerms(words))], payloads };
}

/** Words that carry meaning; for Chinese, pairs of characters. */
function listTerms(words: string): readonly string[] {
  const latin = words.match(/[a-z0-9$@~./_-]{4,}/g) ?? [];
  const han = (words.match(/[\u4e00-\u9fff]{2,}/g) ?? []).flatMap((run) =>
    Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2)),
  );
  return [...latin, ...han];
}
