import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shouldRetrieve } from "../../../src/memory/retrieval/should-retrieve.ts";

describe("memory is searched", () => {
  test.each([
    ["Do it as in the API docs we read", "earlier"],
    ["What did we decide about the retry policy?", "earlier"],
    ["Use the same port as last time", "earlier"],
    ["Format it like before.", "earlier"],
    ["Do you remember the name of the caterer?", "earlier"],
    ["remember when the cache broke? same here", "earlier"],
    ["What was it you recommended last week?", "earlier"],
    ["you said the lease expires in May", "earlier"],
    ["When did I start my new job?", "earlier"],
    ["What is my sister's name?", "earlier"],
    ["我们之前讨论过的方案是什么？", "earlier"],
    ["像上次一样部署", "earlier"],
    ["你还记得数据库密码放在哪里吗", "earlier"],
    ["上周我们说的那个问题解决了吗？", "earlier"],
    ["三天前你推荐的书叫什么？", "earlier"],
    ["Please fix src/auth/login.ts", "file"],
    ["look at login.test.ts again", "file"],
    ["see @docs/plan.md", "file"],
    ["C:\\repo\\main.py crashes", "file"],
    ["看一下 config/settings.yaml 里的端口", "file"],
    ["why does parseHeader() fail", "code"],
    ["rename max_retry_count everywhere", "code"],
    ["Where is `fetchUser` used", "code"],
    ["Which file handles the login?", "code"],
    ["哪个文件处理登录？", "code"],
  ] as const)("for %j", (text, reason) => {
    expect(shouldRetrieve(text)).toMatchObject({ reason, question: text });
  });

  test("for what /context asks for, and nothing else", () => {
    expect(shouldRetrieve("/context how do we deploy?")).toEqual({
      question: "how do we deploy?",
      reason: "command",
      names: [],
    });
    expect(shouldRetrieve("/context")).toBeUndefined();
    expect(shouldRetrieve("/contextual thinking is good")).toBeUndefined();
  });

  test("for a file only while the window does not show it", () => {
    const text = "Now fix src/auth/login.ts and src/auth/logout.ts";
    const texts = ["I have read src/auth/login.ts: export function login() {}"];
    expect(shouldRetrieve(text, { texts })).toMatchObject({ reason: "file", names: ["src/auth/logout.ts"] });
    expect(shouldRetrieve(text, { texts: [...texts, "src/auth/logout.ts"] })).toBeUndefined();
    expect(shouldRetrieve("call parseHeader()", { texts: ["function parseHeader() {}"] })).toBeUndefined();
  });

  test("by the person's own words, not by what they paste", () => {
    const pasted = `Translate this:\n\`\`\`\nconst old_value = require("./src/legacy.js");\n\`\`\`\n> as we discussed last time`;
    expect(shouldRetrieve(pasted)).toBeUndefined();
    const long = `Why did we drop this?\n${"lorem ipsum ".repeat(2_000)}`;
    expect(shouldRetrieve(long)?.question.length).toBeLessThanOrEqual(2_001);
  });
});

describe("memory is left alone", () => {
  test.each([
    "Hello!",
    "Write a haiku about the sea.",
    "Remember to use tabs from now on.",
    "Remind me to call mum tomorrow",
    "Run the tests before you commit.",
    "How do I install Node.js on a Mac?",
    "What is the capital of France?",
    "Can you recommend a good book?",
    "I bought a new phone last month.",
    "Either and/or both, on 12/24, 50/50.",
    "See https://example.com/docs/api.html for the rules",
    "My KitchenAid and my iPhone are broken",
    "部署之前先运行测试",
    "请写一首关于大海的诗",
    "",
  ])("for %j", (text) => {
    expect(shouldRetrieve(text)).toBeUndefined();
  });

  test("and no text, however odd, is an error or takes long", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
        const wanted = shouldRetrieve(text, { texts: [text] });
        if (wanted) expect(wanted.question.length).toBeGreaterThan(0);
      }),
    );
    for (const piece of ["a/", "what ", "`", "_a", "之前", "?", "\n> ", "aA", "```"])
      shouldRetrieve(piece.repeat(50_000));
  });
});
