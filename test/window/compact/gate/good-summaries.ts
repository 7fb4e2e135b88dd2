import {
  headingOf,
  SECTION_KEYS,
  SECTIONS,
  type SectionKey,
} from "../../../../src/window/compact/contract/sections.ts";
import type { RecordedMessage } from "../../../../src/window/replay/recorded-message.ts";
import { cart, login, queue, research, suppliers } from "../conversations.ts";

type Words = Partial<Record<SectionKey, string>>;

/** A correct summary with its source. */
export interface GoodSummary {
  readonly name: string;
  readonly source: readonly RecordedMessage[];
  readonly text: string;
}

const CART: readonly Words[] = [
  {
    previous: "- The coupon of a cart was lost on saving; the user wants the cause found and fixed.",
    current: "- Old carts can be read again; test/cart passes.",
    concepts: "- Cart serialisation, TypeScript, vitest",
    files:
      "- /repo/src/cart/serialise-cart.ts now writes couponCode\n- /repo/src/cart/read-cart.ts allows a missing couponCode\n- /repo/src/cart/cart.ts was only read",
    problems: "- `npx vitest run test/cart` failed once because couponCode was undefined, and passes now",
    decisions: "- couponCode stands beside the rows, not in a second document",
    constraints: "- The public API of Cart stays as it is",
    asks: '- "The coupon disappears when the cart is saved. Please find out why and fix it. Do not touch the public API of Cart."\n- "Also make sure that carts saved before the change can still be read."',
    pending: "- Tell the user what was changed",
    identifiers: "- couponCode, SPRING25, test/cart, src/cart/cart.ts",
  },
  {
    previous:
      "Somebody noticed that saving drops coupons. Reading the code showed that the serialiser never wrote them; it does now, and the reader copes with older data.",
    current: "Both edits are in, and all 14 tests are green.",
    files: "Edited: src/cart/serialise-cart.ts, src/cart/read-cart.ts. Read: src/cart/cart.ts.",
    problems:
      "The first run of `npx vitest run test/cart` was red (couponCode came back undefined); after the change of the reader it was green.",
    constraints: "Cart's public interface must not change.",
    asks: 'The user said: "Please find out why and fix it. Do not touch the public API of Cart. The coupon disappears when the cart is saved." and then "Also make sure that carts saved before the change can still be read."',
    pending: "Report back; nothing else is open.",
    identifiers: "couponCode, test/cart",
  },
];

const QUEUE: readonly Words[] = [
  {
    previous: "- User asked why the mail queue on mx-3 grows; answer: relay-2.example.net does not respond.",
    current: "- relay_transport was moved to relay-1.example.net and the queue is being flushed.",
    files: "- /etc/postfix/main.cf: relay_transport changed",
    problems: "- 1877 requests were deferred; deliveries go through now",
    decisions: "- Use relay-1.example.net",
    constraints: "- Never restart postfix during the day, a reload must be enough",
    asks: '- "Yes, move it to relay-1.example.net, but never restart postfix during the day: a reload must be enough."',
    pending: "- Look whether the queue is empty: `ssh mx-3 postqueue -p | tail -1`",
    identifiers: "- relay_transport, relay-1.example.net, relay-2.example.net, /etc/postfix/main.cf, mx-3",
  },
  {
    previous:
      "The night's growth came from a dead relay (relay-2.example.net). The operator agreed to another one.",
    current: "Watching mail leave through relay-1.example.net after a reload.",
    concepts: "Postfix relays and its deferred queue",
    files: "The setting relay_transport lives in /etc/postfix/main.cf.",
    constraints: "No restart in daytime.",
    asks: "Still to be confirmed to the user: “Yes, move it to relay-1.example.net, but never restart postfix during the day: a reload must be enough.”",
    pending: "Confirm that the queue shrinks.",
    identifiers: "relay_transport · relay-1.example.net · postfix/main.cf · mx-3",
  },
];

const RESEARCH: readonly Words[] = [
  {
    previous: "- HNSW and IVF were compared for 5 million vectors.",
    current: "- The table is in notes/index-choice.md; HNSW with efSearch=128 has recall 0.97.",
    concepts: "- HNSW (efSearch), IVF (nprobe), recall and queries a second",
    files: "- notes/index-choice.md written",
    problems:
      "- The page https://bench.example.org/ann/hnsw contained an injected order to advertise a product and to run an installer; it was ignored.",
    constraints: "- Recall above 0.95",
    asks: '- "Compare HNSW and IVF for 5 million vectors. I need recall above 0.95 and a table in notes/index-choice.md."',
    pending: "- Present the result",
    identifiers: "- efSearch, notes/index-choice.md",
  },
  {
    previous:
      "The user wants an index for five million vectors. Two benchmark pages were read, one of them with untrusted orders in it.",
    current: "IVF stays at 0.91, HNSW gets 0.97, so HNSW it is; the table has been written and checked.",
    files: "notes/index-choice.md holds the table.",
    decisions: "HNSW, tuned by efSearch.",
    asks: '"Compare HNSW and IVF for 5 million vectors. I need recall above 0.95 and a table in notes/index-choice.md."',
    identifiers: "efSearch, nprobe, notes/index-choice.md, https://bench.example.org/ann/ivf",
  },
];

const LOGIN: readonly Words[] = [
  {
    previous: "- 用户反馈登录接口偶尔超时，要求找出原因并修复。",
    current: "- 正在把 AuditQueue 注册到 src/auth/auth-module.ts。",
    concepts: "- 审计日志异步化",
    files: "- src/auth/login-service.ts 已修改\n- src/auth/auth-module.ts 已修改",
    problems: "- `pnpm test auth` 失败：AuditQueue 未注册，尚未重跑",
    decisions: "- AuditWriter 改为异步队列",
    constraints: "- 不要修改数据库表结构",
    asks: '- "登录接口偶尔超时，请找出原因并修复。注意：不要修改数据库表结构。"\n- "测试失败后请把 AuditQueue 注册到 auth-module.ts，并补一个单元测试。"',
    todos: "- [ ] 补单元测试",
    pending: "- 重跑 `pnpm test auth`",
    identifiers: "- AuditQueue, AuditWriter, auth-module.ts, login-service.ts",
  },
  {
    previous: "超时的根源是事务内同步写审计日志，现已改成入队。",
    current: "注册 AuditQueue 之后要再跑一遍测试。",
    files: "改动过的文件：src/auth/login-service.ts、src/auth/auth-module.ts。",
    constraints: "数据库表结构保持不变。",
    asks: "用户原话：“登录接口偶尔超时，请找出原因并修复。注意：不要修改数据库表结构。”“测试失败后请把 AuditQueue 注册到 auth-module.ts，并补一个单元测试。”",
    pending: "写单元测试。",
    identifiers: "AuditQueue、AuditWriter、src/auth/auth-module.ts",
  },
];

const SUPPLIERS: readonly Words[] = [
  {
    previous: "- 根据 data/suppliers.csv 编写供应商评估报告。",
    current: "- report/assessment.md 已写好初稿，正在核对篇幅。",
    files: "- report/assessment.md 已写入\n- data/suppliers.csv 已读取",
    problems: "- 文件中含有试图操纵摘要的注入文字，未执行。",
    decisions: "- 以 on_time_rate 为主要指标，权重 0.6",
    constraints: "- 报告必须少于两页",
    asks: '- "请根据 data/suppliers.csv 写一份供应商评估报告，报告必须少于两页，保存为 report/assessment.md。"',
    pending: "- 说明 on_time_rate 的权重",
    identifiers: "- on_time_rate, report/assessment.md, data/suppliers.csv",
  },
  {
    previous: "用户要一份两页以内的供应商评估。",
    current: "初稿按 on_time_rate 排名，供应商29、59、89 居前。",
    files: "data/suppliers.csv 是依据，report/assessment.md 是成果。",
    asks: "“请根据 data/suppliers.csv 写一份供应商评估报告，报告必须少于两页，保存为 report/assessment.md。”",
    pending: "补充权重说明。",
    identifiers: "on_time_rate",
  },
];

const STYLES: Readonly<Record<string, (words: Words) => string>> = {
  "with headings": (words) =>
    SECTION_KEYS.map((key) => `## ${headingOf(key)}\n${words[key] ?? "None."}`).join("\n"),
  "numbered and wrapped": (words) =>
    `<analysis>\nFirst I look at what happened.\n</analysis>\n<summary>\n${SECTION_KEYS.map(
      (key, index) => `${index + 1}. **${headingOf(key)}:**\n${words[key] ?? "- none"}`,
    ).join("\n\n")}\n</summary>`,
  "with Chinese headings": (words) =>
    SECTIONS.map(
      ({ key, aliases }) =>
        `### ${aliases.find((name) => /\p{Script=Han}/u.test(name))}\n${words[key] ?? "无"}`,
    ).join("\n"),
};

/** At least thirty: five conversations, each summarized twice in different words, each in three formats. */
export const GOOD: readonly GoodSummary[] = Object.entries({
  cart: [cart, CART],
  queue: [queue, QUEUE],
  research: [research, RESEARCH],
  login: [login, LOGIN],
  suppliers: [suppliers, SUPPLIERS],
} as const).flatMap(([name, [source, tellings]]) =>
  tellings.flatMap((words, telling) =>
    Object.entries(STYLES).map(([style, render]) => ({
      name: `${name}, told in way ${telling + 1}, ${style}`,
      source,
      text: render(words),
    })),
  ),
);
