import { expect, test } from "vitest";
import { type KernelOptions, type MessageInput, openKernel } from "../src/kernel/index.ts";
import { testKernel } from "./support/kernel.ts";

test("a kernel refuses a path that is not in an object, and options that it does not know", async () => {
  await expect(openKernel("./x" as KernelOptions)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  await expect(openKernel({ paht: "./x" } as KernelOptions)).rejects.toThrow(
    "options.paht is not an option; did you mean path?",
  );
});

test("a message with content instead of text is refused with the right name", async () => {
  const session = await (await testKernel()).session("s");
  const message = { role: "user", content: "Hello." } as unknown as MessageInput;
  await expect(session.append(message)).rejects.toThrow("did you mean message.text?");
  expect((await session.head()).seq).toBe(0);
});

test("a misspelled dry run is refused instead of carried out", async () => {
  const kernel = await testKernel();
  const session = await kernel.session("s");
  await session.append({ role: "user", text: "Hello." });
  const old = { isDryRun: true } as object;
  await expect(session.compact(old)).rejects.toThrow(
    "options.isDryRun is not an option; did you mean dryRun?",
  );
  const window = session.window({ model: "claude-sonnet-4-5" });
  await expect(window.fit(old)).rejects.toThrow("options.isDryRun is not an option; did you mean dryRun?");
  expect((await session.head()).seq).toBe(1);
});
