import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const spans = fileURLToPath(new URL("../../../../src/server/gateway/observe/spans.ts", import.meta.url));

test("a program without OpenTelemetry is told what to install, and only if it wants to send spans", async () => {
  const script = `
    import { registerHooks } from "node:module";
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier.startsWith("@opentelemetry/")) throw new Error("Cannot find package");
        return next(specifier, context);
      },
    });
    const { openSpans } = await import(${JSON.stringify(spans)});
    const off = await openSpans({ content: false, version: "1", environment: {} });
    const failed = await openSpans({ endpoint: "http://127.0.0.1:9", content: false, version: "1" }).catch((error) => error);
    console.log(JSON.stringify({ isOn: off.isOn, code: failed.code, message: failed.message }));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
  const told = JSON.parse(stdout);
  expect(told).toMatchObject({ isOn: false, code: "PACKAGE_MISSING" });
  expect(told.message).toContain("npm install @opentelemetry/api");
});
