import { execFileSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testFolder } from "../../../support/folder.ts";

const src = fileURLToPath(new URL("../../../../src/", import.meta.url));

test("the provider loads without the AI SDK, and a call names the package to install", () => {
  const folder = testFolder();
  for (const part of ["model", "wire"]) cpSync(join(src, part), join(folder, part), { recursive: true });
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  writeFileSync(
    join(folder, "use.ts"),
    `import { aiSdkProvider } from "./wire/provider/ai-sdk/index.ts";
     import "./wire/provider/with-retries.ts";
     const environment = { ANTHROPIC_API_KEY: "key", OPENAI_API_KEY: "key", GEMINI_API_KEY: "key" };
     const old = { specificationVersion: "v3", provider: "old", modelId: "model" };
     for (const model of ["anthropic/a", "openai/a", "openai-chat/a", "google/a", "ollama/a", old]) {
       await aiSdkProvider(model, { environment }).generate({ prompt: "hello" }).catch((error) =>
         console.log(error.code, error.details.package, error.message.includes("npm install")));
     }`,
  );
  const output = execFileSync(process.execPath, ["use.ts"], { cwd: folder, encoding: "utf8" });
  expect(output.trim().split("\n")).toEqual(
    [
      "@ai-sdk/anthropic",
      "@ai-sdk/openai",
      "@ai-sdk/openai",
      "@ai-sdk/google",
      "@ai-sdk/openai-compatible",
      "ai",
    ].map((name) => `PROVIDER_UNCONFIGURED ${name} true`),
  );
});
