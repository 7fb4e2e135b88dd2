import { expect, test } from "vitest";
import { testKernel } from "../../support/kernel.ts";

test.each([
  ["The vault opens with 7171 turns.", "The vault opens\nwith 7171 turns.", true],
  ["The vault opens with 7171 tu…", "The vault opens with 7171 turns, and more.", true],
  ["Vault, 7171 turns", "<note>x</note>The vault opens with 7171 turns.", true],
  ["密码是七千一百…", "密码是七千一百七十一。", true],
  ["The cellar", "The vault opens with 7171 turns.", false],
])(
  "redacting a message removes a title that quotes it, with the title %j and the message %j: %j",
  async (title, text, isRemoved) => {
    const kernel = await testKernel();
    const session = await kernel.session("chat", { title });
    await session.append({ role: "user", text });
    await session.append({ role: "user", text: "Nothing else." });
    await session.redact(2);
    expect((await session.record()).title).toBe(title);
    await session.redact(1);
    expect((await session.record()).title).toBe(isRemoved ? "(title removed)" : title);
  },
);
