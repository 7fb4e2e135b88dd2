import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openKernel } from "../../../src/kernel/index.ts";
import { runProgram } from "../../cli/support/program.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";
import { serveGateway } from "../../support/served-gateway.ts";
import { connectHttp, connectStdio, ERAS } from "./connected.ts";

const QUERY = "which gate leads to the orchard";

/** A store with a conversation of a project, and the project's folder. */
async function fillStore() {
  const store = join(testFolder(), "store");
  const cwd = join(testFolder(), "orchard");
  mkdirSync(cwd, { recursive: true });
  await using kernel = await openKernel({ path: store });
  await using own = await kernel.session("claude-code/own", { meta: { facts: { cwd } } });
  await own.append({ role: "user", text: "The eastern gate leads to the orchard." });
  await using other = await kernel.session("claude-code/other", { meta: { facts: { cwd: "/elsewhere" } } });
  await other.append({ role: "user", text: "In the novel, the hidden gate leads to the orchard." });
  return { store, cwd };
}

proofTest("clients of both protocol versions share one store over stdio and HTTP at once", async () => {
  const { store, cwd } = await fillStore();
  const { url } = await serveGateway("http://127.0.0.1:9", [], store);
  for (const era of ERAS) {
    const stdio = await connectStdio(["--store", store], { era, cwd });
    const http = await connectHttp(`${url}/mcp`, { era });
    const { text } = await stdio.call("recall", { query: QUERY });
    expect(text).toContain("eastern gate");
    expect(text).not.toContain("hidden gate");
    await stdio.call("remember", { text: `The orchard was planted in ${era}.` });
    expect((await http.call("recall", { query: "when was the orchard planted" })).text).toContain(
      `in ${era}`,
    );
    await http.call("remember", { text: `The orchard bears fruit since ${era}.` });
    expect((await stdio.call("recall", { query: "since when does the orchard bear fruit" })).text).toContain(
      `since ${era}`,
    );
  }
});

proofTest(
  "a client of 2025 on stdio is asked for its folders, which take precedence over the server's own folder",
  async () => {
    const { store, cwd } = await fillStore();
    const { call } = await connectStdio(["--store", store], { era: "2025", cwd: testFolder(), roots: [cwd] });
    const { text } = await call("recall", { query: QUERY });
    expect(text).toContain("eastern gate");
    expect(text).toContain("Left out: 1 conversation of other projects");
  },
);

test("the mcp command prints the skill file, and refuses tools that do not exist", async () => {
  const { stdout, code } = await runProgram(["mcp", "--skill"]);
  expect(code).toBe(0);
  expect(stdout).toContain("name: longhaul-memory");
  const wrong = await runProgram(["mcp", "--tools", "some"]);
  expect(wrong.stderr).toContain("expected default or all");
});
