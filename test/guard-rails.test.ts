import { expect, test } from "vitest";
import { type KernelOptions, type MessageInput, openKernel } from "../src/index.ts";
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
