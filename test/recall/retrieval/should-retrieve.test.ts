import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shouldRetrieve } from "../../../src/recall/retrieval/should-retrieve.ts";
import { proofTest } from "../../support/proof.ts";

describe("a message that triggers a search", () => {
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
    ["参考之前的实现再写一个", "earlier"],
    ["参考之前的…", "earlier"],
    ["请参照先前的设计", "earlier"],
    ["按照之前的格式输出", "earlier"],
    ["沿用以前的命名方式", "earlier"],
    ["继续上一次的工作", "earlier"],
    ["接着刚才的思路往下写", "earlier"],
    ["基于之前的讨论更新文档", "earlier"],
    ["改回之前的版本", "earlier"],
    ["看看之前那个报错", "earlier"],
    ["前面提到的接口叫什么", "earlier"],
    ["上文说到的缓存策略再讲一遍", "earlier"],
    ["我们当时为什么选了 SQLite", "earlier"],
    ["当初为什么不用 Redis？", "earlier"],
    ["你曾经推荐过一本书", "earlier"],
    ["我跟你说过我的地址", "earlier"],
    ["说好的方案呢", "earlier"],
    ["还有印象吗，那个端口号", "earlier"],
    ["回顾一下我们的结论", "earlier"],
    ["我们是怎么解决那个死锁的", "earlier"],
    ["按我们的约定来", "earlier"],
    ["用原来的方案吧", "earlier"],
    ["老规矩", "earlier"],
    ["跟以前一样部署", "earlier"],
    ["查一下聊天记录", "earlier"],
    ["前阵子你给的脚本在哪？", "earlier"],
    ["上个季度我们定的目标是什么？", "earlier"],
    ["我的生日是哪天", "earlier"],
    ["參考之前的設計", "earlier"],
    ["你還記得我們討論過的方案嗎", "earlier"],
    ["我們剛剛說到哪裡了", "earlier"],
    ["前回と同じ設定でお願いします", "earlier"],
    ["先ほどのエラーをもう一度見て", "earlier"],
    ["以前話した設計に従って", "earlier"],
    ["私の名前を覚えていますか", "earlier"],
    ["この前教えてくれたコマンドは？", "earlier"],
    ["先週あなたが勧めた本は何でしたか？", "earlier"],
    ["Mach es wie beim letzten Mal.", "earlier"],
    ["Was hatten wir zum Caching beschlossen?", "earlier"],
    ["Nimm den Port, den du gestern vorgeschlagen hast", "earlier"],
    ["Erinnerst du dich an den Namen des Servers?", "earlier"],
    ["Wie heißt mein Hund?", "earlier"],
    ["Hazlo como la última vez.", "earlier"],
    ["¿Qué decidimos sobre la caché?", "earlier"],
    ["¿Recuerdas el nombre del servidor?", "earlier"],
    ["Usa el puerto que me recomendaste", "earlier"],
    ["¿Cómo se llama mi perro?", "earlier"],
    ["Fais comme la dernière fois.", "earlier"],
    ["Qu'est-ce qu'on a décidé pour le cache ?", "earlier"],
    ["Tu te souviens du nom du serveur ?", "earlier"],
    ["Utilise le port que tu m'as conseillé", "earlier"],
    ["Comment s'appelle mon chien ?", "earlier"],
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
    ["定义在哪？", "code"],
    ["哪个目录放测试", "code"],
    ["這個項目裡怎么打日志", "code"],
    ["文档里是怎么规定超时的", "code"],
    ["どのファイルでログインを処理していますか", "code"],
    ["In welcher Datei wird das geprüft?", "code"],
    ["¿En qué archivo está el login?", "code"],
    ["Dans quel fichier est le login ?", "code"],
  ] as const)("a search is triggered by %j", (text, reason) => {
    expect(shouldRetrieve(text)).toMatchObject({ reason, question: text });
  });

  test("the command /context triggers a search for its text only", () => {
    expect(shouldRetrieve("/context how do we deploy?")).toEqual({
      question: "how do we deploy?",
      reason: "command",
      names: [],
    });
    expect(shouldRetrieve("/context")).toBeUndefined();
    expect(shouldRetrieve("/contextual thinking is good")).toBeUndefined();
  });

  test("a file name triggers a search only while the window does not show the file", () => {
    const text = "Now fix src/auth/login.ts and src/auth/logout.ts";
    const texts = ["I have read src/auth/login.ts: export function login() {}"];
    expect(shouldRetrieve(text, { texts })).toMatchObject({ reason: "file", names: ["src/auth/logout.ts"] });
    expect(shouldRetrieve(text, { texts: [...texts, "src/auth/logout.ts"] })).toBeUndefined();
    expect(shouldRetrieve("call parseHeader()", { texts: ["function parseHeader() {}"] })).toBeUndefined();
  });

  test("only the person's own words trigger a search, not pasted text", () => {
    const pasted = `Translate this:\n\`\`\`\nconst old_value = require("./src/legacy.js");\n\`\`\`\n> as we discussed last time`;
    expect(shouldRetrieve(pasted)).toBeUndefined();
    const long = `Why did we drop this?\n${"lorem ipsum ".repeat(2_000)}`;
    expect(shouldRetrieve(long)?.question.length).toBeLessThanOrEqual(2_001);
  });
});

describe("a message that triggers no search", () => {
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
    "使用之前先阅读说明",
    "提交之前必须通过测试",
    "在部署之前请备份数据库",
    "三点以前完成",
    "睡觉之前做什么好？",
    "把前面的空格删掉",
    "上面的按钮改成蓝色",
    "我想知道闭包是什么",
    "原来如此",
    "推荐一家餐厅",
    "写一个排序函数",
    "記得明天買牛奶",
    "過去分詞怎麼用",
    "明天提醒我开会",
    "寝る前に歯を磨く",
    "コミットする前に必ずテストを実行して",
    "海についての詩を書いてください",
    "東京の天気は？",
    "Führe die Tests aus, bevor du committest.",
    "Erinnere mich daran, morgen Milch zu kaufen.",
    "Wie installiere ich Node.js?",
    "Welchen Laptop soll ich kaufen?",
    "Ejecuta los tests antes de hacer commit.",
    "Recuérdame comprar leche mañana.",
    "¿Cuál es la capital de Francia?",
    "Lance les tests avant de commiter.",
    "Rappelle-moi d'acheter du lait demain.",
    "Quelle est la capitale de la France ?",
    "",
  ])("no search is triggered by %j", (text) => {
    expect(shouldRetrieve(text)).toBeUndefined();
  });

  proofTest("no text, however odd, makes the check throw or take long", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
        const wanted = shouldRetrieve(text, { texts: [text] });
        if (wanted) expect(wanted.question.length).toBeGreaterThan(0);
      }),
    );
    for (const piece of [
      "a/",
      "what ",
      "`",
      "_a",
      "之前",
      "?",
      "\n> ",
      "aA",
      "```",
      "参考我们",
      "我",
      "前に話し",
      "wir haben ",
      "on a ",
      "qué mi ",
      "wie heißt ich ",
    ])
      shouldRetrieve(piece.repeat(50_000));
  });
});
